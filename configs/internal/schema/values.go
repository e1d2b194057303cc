package schema

// Range is a closed interval, written as [lo, hi] with lo < hi.
type Range struct {
	Lo, Hi float64
}

// Contains reports whether v lies in the interval, its ends included.
func (r Range) Contains(v float64) bool { return v >= r.Lo && v <= r.Hi }

// Covers reports whether the whole of inner lies in the interval.
func (r Range) Covers(inner Range) bool { return r.Lo <= inner.Lo && inner.Hi <= r.Hi }

// Width is the length of the interval.
func (r Range) Width() float64 { return r.Hi - r.Lo }

// Numbers is a list of numbers, which a file may also write as a single number.
type Numbers []float64

// FormatRange writes an interval as a person would.
func FormatRange(r Range) string {
	return "[" + FormatNumber(r.Lo) + ", " + FormatNumber(r.Hi) + "]"
}
