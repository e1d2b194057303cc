package acquisition

import (
	_ "embed"
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
)

// gittinsJSON is the output of scripts/gittins_oracle.py: quadrature and bisection.
//
//go:embed testdata/gittins.json
var gittinsJSON []byte

// Indices of single normal values and of mixtures against quadrature, down to costs of 1e-100.
func TestIndexAgainstQuadrature(t *testing.T) {
	var rows []struct {
		Boxes       [][3]float64
		Cost, Index float64
	}
	if err := json.Unmarshal(gittinsJSON, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) < 30 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, r := range rows {
		var boxes []box
		for _, b := range r.Boxes {
			boxes = append(boxes, box{b[0], b[1], b[2]})
		}
		if got := indexOf(boxes, math.Log(r.Cost)); math.Abs(got-r.Index) > 1e-10*max(1, math.Abs(r.Index)) { // the narrowest box holds no more
			t.Errorf("boxes %v, cost %g: %.15g, want %.15g", r.Boxes, r.Cost, got, r.Index)
		}
	}
}

// What the index is for: it falls with the cost, is never below the mean less the cost, and the expected
// gain over it is the cost, also where neither is a number any more.
func TestIndexOfAnyBox(t *testing.T) {
	const seed = 3
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 500 {
		var boxes []box
		rest, mean := 1.0, 0.0
		for n := 1 + rng.IntN(4); n > 0; n-- {
			b := box{rest * rng.Float64(), 3 * rng.NormFloat64(), math.Exp(4 * rng.NormFloat64())}
			if n == 1 {
				b.weight = rest
			}
			rest -= b.weight
			mean += b.weight * b.mean
			boxes = append(boxes, b)
		}
		logCost := -3000 * rng.Float64() * rng.Float64()
		g := indexOf(boxes, logCost)
		if got := logGain(boxes, g); math.Abs(got-logCost) > 1e-9*(1-logCost) {
			t.Errorf("seed %d: boxes %v: the gain over %g is exp(%g), want exp(%g)", seed, boxes, g, got, logCost)
		}
		if dearer := indexOf(boxes, logCost+1); !(dearer < g) || g < mean-math.Exp(logCost)-1e-9 {
			t.Errorf("seed %d: boxes %v: index %g, of a dearer box %g", seed, boxes, g, dearer)
		}
	}
}

// lambda is the greatest of 0.1, 0.05, ... below the greatest improvement per cost, so that their stopping
// rule would not end the run.
func TestLambdaIsBelowTheGreatestRate(t *testing.T) {
	for _, c := range []struct{ rate, want float64 }{{5, 0.1}, {0.11, 0.1}, {0.1, 0.05}, {0.09, 0.05}, {0.03, 0.025}, {1e-3, 0.1 / 128}} {
		if got := math.Exp(lambdaBelow(math.Log(c.rate))); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("rate %g: lambda %g, want %g", c.rate, got, c.want)
		}
	}
	if got := lambdaBelow(-5000); !(got < -5000 && got > -5001) {
		t.Errorf("rate exp(-5000): lambda exp(%g)", got)
	}
}
