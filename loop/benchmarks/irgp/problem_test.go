package irgp

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/labtuner/tuner/drivers/sim"
	"github.com/labtuner/tuner/loop/benchmarks/experiment"
)

// TestGridCovariance estimates the covariance of the synthetic grid from 4000
// functions: pairs of points at given distances.
func TestGridCovariance(t *testing.T) {
	const functions = 4000
	pairs := []struct {
		a, b []float64
		want float64
	}{
		{[]float64{0.3, 0.5, 0.7}, []float64{0.3, 0.5, 0.7}, 1},
		{[]float64{0.3, 0.5, 0.7}, []float64{0.4, 0.5, 0.7}, math.Exp(-0.5)},
		{[]float64{0.3, 0.5, 0.7}, []float64{0.4, 0.4, 0.8}, math.Exp(-1.5)},
		{[]float64{0, 0.9, 0.2}, []float64{0, 0.7, 0.2}, math.Exp(-2)},
		{[]float64{0, 0, 0}, []float64{0.9, 0.9, 0.9}, 0},
	}
	sums := make([]float64, len(pairs))
	for i := range uint64(functions) {
		p, err := grid(i)
		if err != nil {
			t.Fatal(err)
		}
		for k, pair := range pairs {
			sums[k] += p.Truth(1, pair.a) * p.Truth(1, pair.b) / functions
		}
	}
	for k, pair := range pairs {
		// The standard deviation of a product of two standard normals is at most sqrt 2:
		// 4.5 standard errors.
		if limit := 4.5 * math.Sqrt2 / math.Sqrt(functions); math.Abs(sums[k]-pair.want) > limit {
			t.Errorf("covariance of %v and %v: %.3f, want %.3f +- %.3f", pair.a, pair.b, sums[k], pair.want, limit)
		}
	}
}

// TestGridOptimum looks for the best candidate one by one.
func TestGridOptimum(t *testing.T) {
	p, err := grid(7)
	if err != nil {
		t.Fatal(err)
	}
	best := math.Inf(-1)
	for _, x := range p.Candidates {
		best = max(best, p.Truth(1, x))
	}
	if len(p.Candidates) != 1000 || best != p.Best(1) {
		t.Errorf("%d candidates, best %v, told %v", len(p.Candidates), best, p.Best(1))
	}
}

// TestSeedsShareFunctions: seeds 10 i + j have function i.
func TestSeedsShareFunctions(t *testing.T) {
	x := synthetic()
	value := func(seed uint64) float64 {
		p, err := x.Draw(seed)
		if err != nil {
			t.Fatal(err)
		}
		return p.Truth(1, p.Candidates[123])
	}
	if value(10) != value(19) || value(10) == value(20) {
		t.Errorf("functions of seeds 10, 19, 20: %v, %v, %v", value(10), value(19), value(20))
	}
}

// TestMaterialsHaveTheFormsForRanges: the settings are listed, and the confidence parameters are those of section
// 5.2 all the same.
func TestMaterialsHaveTheFormsForRanges(t *testing.T) {
	for _, name := range []string{"perovskite", "p3ht", "agnp"} {
		x := materialExperiment(name)
		p, err := x.Draw(0)
		if err != nil {
			t.Fatal(err)
		}
		for kind, want := range map[string][2]string{"irgp-ucb": {"", "continuous"}, "rgp-ucb": {"", "continuous"}, "gp-ucb": {"heuristic", ""}} {
			c, err := x.Competitor(kind)
			if err != nil {
				t.Fatal(err)
			}
			if s := x.Spec(c, p, 0); s.Confidence != want[0] || s.ConfidenceSetting != want[1] {
				t.Errorf("%s, %s: confidence %q, setting %q, want %q", name, kind, s.Confidence, s.ConfidenceSetting, want)
			}
		}
	}
}

// TestMaterials compares settings and optima with the tables that were grouped apart
// from this code, and with the optima that were published with them.
func TestMaterials(t *testing.T) {
	for _, c := range []struct {
		name     string
		settings int
		optimum  float64
		minimise bool
	}{
		{"perovskite", 94, 27122, true}, {"p3ht", 178, 838.31, false}, {"agnp", 164, 0.14836082, true},
	} {
		p, err := material(c.name)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Candidates) != c.settings {
			t.Errorf("%s: %d settings, want %d", c.name, len(p.Candidates), c.settings)
		}
		grouped := readTable(t, filepath.Join("..", "..", "..", "drivers", "sim", "testdata", c.name+"_grouped.csv"))
		best, at := math.Inf(1), 0
		if !c.minimise {
			best = math.Inf(-1)
		}
		for k, row := range grouped {
			if v := row[len(row)-1]; c.minimise == (v < best) && v != best {
				best, at = v, k
			}
		}
		// Published with 5 to 8 digits.
		if math.Abs(best-c.optimum) > 1e-4*c.optimum {
			t.Errorf("%s: optimum %v of the grouped table, published %v", c.name, best, c.optimum)
		}
		if got := p.Truth(1, grouped[at][:len(grouped[at])-1]); got != p.Best(1) {
			t.Errorf("%s: %v at the table's optimum, best %v", c.name, got, p.Best(1))
		}
		compareStandardised(t, c.name, grouped, p)
	}
}

// compareStandardised checks that worths are an affine map of the grouped table's
// values, with mean 0 and standard deviation 1.
func compareStandardised(t *testing.T, name string, grouped [][]float64, p *experiment.Problem) {
	t.Helper()
	n := float64(len(grouped))
	var mean, square, own float64
	for _, row := range grouped {
		v := p.Truth(1, row[:len(row)-1])
		mean += v / n
		square += v * v / (n - 1)
		own += row[len(row)-1] / n
	}
	if math.Abs(mean) > 1e-9 || math.Abs(square-1) > 1e-9 {
		t.Errorf("%s: mean %v, mean square %v", name, mean, square)
	}
	first := grouped[0]
	slope := p.Truth(1, first[:len(first)-1]) / (first[len(first)-1] - own)
	for _, row := range grouped {
		// Raw replicates were averaged in another order; their printed digits are seven
		// and more.
		if got, want := p.Truth(1, row[:len(row)-1]), slope*(row[len(row)-1]-own); math.Abs(got-want) > 1e-6 {
			t.Errorf("%s at %v: %v, want %v", name, row, got, want)
		}
	}
}

func readTable(t *testing.T, path string) [][]float64 {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := make([][]float64, len(rows)-1)
	for i, row := range rows[1:] {
		for _, text := range row {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			out[i] = append(out[i], v)
		}
	}
	return out
}

// TestTableNames: the three data sets are those that the simulated plant has.
func TestTableNames(t *testing.T) {
	if got := sim.Tables(); !slices.Equal(got, []string{"perovskite", "p3ht", "agnp"}) {
		t.Errorf("tables %v", got)
	}
}
