package search

// box is where climbers move: bounds, typical distances, and coordinates that are
// still.
type box struct {
	low, high, scale []float64
	fixed            []bool
}
