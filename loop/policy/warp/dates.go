package warp

// Dates says when to ask for a logarithm: when there are 2 d + 4 valid observations, and whenever there are a quarter more.
// It follows from the observations alone, so that a resumed run asks as one that was not interrupted.
type Dates struct {
	count int // of valid observations
	next  int // the count at which the question is asked again
}

// NewDates is for so many variables, before the first observation.
func NewDates(variables int) Dates { return Dates{next: 2*variables + 4} }

// Due counts more valid observations, and reports whether the question is to be asked now.
func (d *Dates) Due(more int) bool {
	d.count += more
	if d.count < d.next {
		return false
	}
	for d.next <= d.count {
		d.next += d.next / 4
	}
	return true
}
