package sim

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"testing"
)

// TestGrowthMean compares the law with the independent script's values (case 0 of the
// oracle: every variable controlled).
func TestGrowthMean(t *testing.T) {
	m, err := GrowthMean()
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open("testdata/growth_oracle.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := csv.NewReader(file)
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, row := range rows {
		var x [7]float64
		for i := range x {
			if x[i], err = strconv.ParseFloat(row[i], 64); err != nil {
				t.Fatal(err)
			}
		}
		if x[0] != 0 {
			continue
		}
		compared++
		mean := 0.0
		for j, w := range m.Weights {
			r2 := 0.0
			for i, z := range m.Points[j] {
				r2 += math.Pow((x[1+i]-z)/m.Scales[i], 2)
			}
			mean += w * math.Exp(-r2/2)
		}
		// Weights reach 40 and cancel: 1e-9 is what two orders of summation agree on.
		if want := (x[6] - growthOffset) / growthSlope; math.Abs(mean-want) > 1e-9 {
			t.Errorf("at %v: %v, oracle %v", x[1:6], mean, want)
		}
	}
	if compared < 20 {
		t.Errorf("only %d rows compared", compared)
	}
	if len(m.Weights) != 79 || m.Low[3] != 8.9 || m.High[4] != 6.5 || m.Names[2] != "NH3" {
		t.Errorf("law of %d terms over %v in %v ... %v", len(m.Weights), m.Names, m.Low, m.High)
	}
}
