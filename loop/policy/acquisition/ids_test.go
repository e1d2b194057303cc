package acquisition

import (
	"math"
	"testing"
)

// TestJumpIsThatOfTheConstraint: the logarithm of CostIDS's inverse ratio is at the edge of the constraint what the search is
// told, on both sides. Values are taken 1e-7 beside it, where the constraint forgives 1e-9 for rounding.
func TestJumpIsThatOfTheConstraint(t *testing.T) {
	for _, c := range []struct{ beta, rho, s float64 }{{2, 2, 0.3}, {0.5, 1.5, 1e-3}, {3, 1, 2}} {
		o := Option{edge: 1 / (c.rho * c.beta * c.beta), forbidden: Forbidden}
		jump := (&Decision{}).jump(&o, nil)
		r := InformationRatio{top: 1, beta: c.beta, rho: c.rho}
		at := r.top - math.Sqrt(c.rho)*c.beta*c.s // the mean at the edge
		for side, want := range map[float64]float64{-1: jump.Edge, 1: jump.Edge + jump.Height} {
			value, _, _ := r.parts(at+side*1e-7*(1+c.s), c.s)
			if got := math.Log(value); math.Abs(got-want) > 1e-3 { // 1e-7 of a mean is at most 2e-4 of the gap, its square twice that
				t.Errorf("%+v, side %v: %v, want %v", c, side, got, want)
			}
		}
	}
	if free := (&Decision{}).jump(&Option{edge: math.Inf(1), forbidden: Forbidden}, nil); !math.IsInf(free.Edge, -1) {
		t.Errorf("without a bound on the ratio the edge is at %v", free.Edge)
	}
}
