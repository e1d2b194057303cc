package space

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
)

func TestQuantilesAgainstScipy(t *testing.T) {
	for _, q := range quantiles(t) {
		m := Marginal{kind: TruncatedNormal, mean: q[0], sd: q[1]}
		// Both sides invert the normal distribution function, each to about 1e-13
		// relative; far tails lose some digits in differences.
		if got := m.Quantile(q[2]); math.Abs(got-q[3]) > 1e-9 {
			t.Errorf("normal(%g, %g) cut to [0, 1] at %g: %.12f, want %.12f", q[0], q[1], q[2], got, q[3])
		}
	}
}

// quantiles are what scipy says: see scripts/policy_oracle.py.
func quantiles(t *testing.T) [][4]float64 {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "testdata", "oracle.json"))
	if err != nil {
		t.Fatal(err)
	}
	var o struct{ Quantiles [][4]float64 }
	if err := json.Unmarshal(text, &o); err != nil || len(o.Quantiles) == 0 {
		t.Fatal("no quantiles", err)
	}
	return o.Quantiles
}
