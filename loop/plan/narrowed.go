package plan

import (
	"math"

	"github.com/labtuner/tuner/safety"
)

// Narrowed is what an event of kind journal.EventNarrowed has.
type Narrowed struct {
	// From is the first step whose decision goes by it.
	From int `json:"from"`
	// Ranges are what decisions may ask of each variable; Limits what the safety layer keeps to.
	Ranges [][2]float64  `json:"ranges"`
	Limits safety.Limits `json:"limits"`
}

// within clamps a destination to a range that was narrowed during the run.
func Within(v *safety.VariableLimits, to [2]float64) safety.VariableLimits {
	b := *v
	b.Low, b.High = math.Max(v.Low, to[0]), math.Min(v.High, to[1])
	return b
}
