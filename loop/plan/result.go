package plan

import (
	"encoding/json"
	"math"

	"github.com/labtuner/tuner/loop/journal"
)

// ResultOf is a verification as the journal keeps it.
func ResultOf(number int, v *Verification) journal.ComparisonResult {
	nan := math.NaN()
	r := journal.ComparisonResult{Comparison: number, Verdict: v.Verdict, Pairs: v.Pairs, Gain: nan, Low: nan, High: nan, P: nan}
	if g := v.Gain; g != nil {
		r.Gain, r.Low, r.High, r.P = float64(g.Value), float64(g.Low), float64(g.High), float64(g.P)
	}
	r.Document, _ = json.Marshal(v) // of strings and Numbers, which always can be written
	return r
}
