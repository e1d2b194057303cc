package drift

// Spec says how the objective changes with time.
type Spec struct {
	// Timescale of the time kernel exp(-|t-t'|/Timescale), in steps; several are a prior
	// set. None: the objective stays as it is, if Hold and Detect are not set either.
	Timescale []float64
	// Hold keeps proposals within this distance of the incumbent, as a fraction of each
	// range, once the initial search is over; 0: the whole domain.
	Hold float64
	// Detect watches for jumps: it forgets what was learnt before one and searches anew.
	Detect bool
}

// Tracks reports whether the objective changes with time.
func (d *Spec) Tracks() bool { return len(d.Timescale) > 0 }

// DefaultTimescale, in steps: 500 to 2000 differed little on bumps that move by 40% of
// the range in 1000 steps.
const DefaultTimescale = 1000

// MaxTimescales bounds a prior set of timescales, which multiplies the others.
const MaxTimescales = 16
