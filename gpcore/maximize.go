package gpcore

// Objective is a function to maximise, evaluated in batches. Implementations hold
// scratch and need not be safe for concurrent use.
type Objective interface {
	// Dim is the number of coordinates.
	Dim() int
	// Values sets dst[j] to the function at row j of x, len(dst) x Dim row-major.
	Values(dst, x []float64)
	// Fork is the same function for another goroutine.
	Fork() Objective
}
