package model

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/mathext"
)

func TestGammaFunctionsAgainstScipy(t *testing.T) {
	for _, g := range gammas(t) {
		// gonum's digamma is good to about 5e-11: nothing beside a sampling noise of 0.1.
		if got := mathext.Digamma(g[0]); math.Abs(got-g[1]) > 1e-10 {
			t.Errorf("digamma(%g) = %.16g, want %.16g", g[0], got, g[1])
		}
		if got := trigamma(g[0]); math.Abs(got-g[2]) > 1e-13*(1+g[2]) {
			t.Errorf("trigamma(%g) = %.16g, want %.16g", g[0], got, g[2])
		}
	}
	// pi^2/6 and pi^2/2 are the textbook values at 1 and 1/2.
	if d := trigamma(1) - math.Pi*math.Pi/6; math.Abs(d) > 1e-15 {
		t.Errorf("trigamma(1) is off by %g", d)
	}
}

// gammas are what scipy says: see scripts/policy_oracle.py.
func gammas(t *testing.T) [][3]float64 {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "testdata", "oracle.json"))
	if err != nil {
		t.Fatal(err)
	}
	var o struct{ Gammas [][3]float64 }
	if err := json.Unmarshal(text, &o); err != nil || len(o.Gammas) == 0 {
		t.Fatal("no values of gamma functions", err)
	}
	return o.Gammas
}
