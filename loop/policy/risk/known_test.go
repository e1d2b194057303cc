package risk

import (
	"math"
	"testing"

	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
)

// The expectation of a known variance over a uniform and a held variable.
func TestKnownRiskExpectation(t *testing.T) {
	nan := math.NaN()
	variables := []space.Variable{{Name: "a", High: 1, Start: nan}, {Name: "b", High: 1, Start: nan, Random: space.Distribution{Kind: space.Uniform}},
		{Name: "c", High: 1, Start: 0.25, Random: space.Distribution{Kind: space.Held}}}
	var axes []space.Axis
	for i := range variables {
		axes = append(axes, space.NewAxis(&variables[i]))
	}
	d := space.NewDomain(axes, []bool{true, false, false}, 0, nil)
	around := space.NewRandomVariables(variables, axes, 0, false, 0)
	r := knownRisk{noise: &model.NoiseFunction{Axes: axes, Of: func(x []float64) float64 { return 1 + x[0]*math.Exp(2*x[1]) + x[2] }}, domain: d, nodes: around.Nodes(d.Random)}
	// Gauss-Legendre is exact to rounding here.
	if got, want := r.expected([]float64{0.4}), 1.25+0.4*(math.Exp(2)-1)/2; math.Abs(got-want) > 1e-12 {
		t.Errorf("%.15f, want %.15f", got, want)
	}
}
