package benchmarks

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
	"github.com/labtuner/tuner/loop/benchmarks/landscape"
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
		p, err := irgpGrid(i)
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
	p, err := irgpGrid(7)
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
	x := irgpSynthetic()
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

// TestGPSampleInterpolates: at its anchors the sample has the prior's variance, and
// between two close points the prior's correlation, over many seeds.
func TestGPSampleInterpolates(t *testing.T) {
	const samples = 60
	at, near := []float64{0.5, 0.5, 0.5}, []float64{0.6, 0.5, 0.5}
	square, product := 0.0, 0.0
	for seed := range uint64(samples) {
		g, err := newGPSample(seed)
		if err != nil {
			t.Fatal(err)
		}
		square += g.At(at) * g.At(at) / samples
		product += g.At(at) * g.At(near) / samples
	}
	// In the middle, 1000 anchors at lengthscale 0.1 determine the function nearly. 4.5
	// standard errors of a mean of 60.
	limit := 4.5 * math.Sqrt2 / math.Sqrt(samples)
	if math.Abs(square-1) > limit || math.Abs(product-math.Exp(-0.5)) > limit {
		t.Errorf("variance %.2f, covariance %.2f, want 1 and %.2f +- %.2f", square, product, math.Exp(-0.5), limit)
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
		grouped := readTable(t, filepath.Join("..", "..", "drivers", "sim", "testdata", c.name+"_grouped.csv"))
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

// TestPriors: each prior is drawn about equally often, and objectives look like their
// prior.
func TestPriors(t *testing.T) {
	const seeds = 300
	counts := make([]int, len(kernelPriors()))
	variance := make([]float64, len(counts))
	arms := newArms("kernel", kernelPriors())
	for seed := range uint64(seeds) {
		p, err := arms.problem(seed)
		if err != nil {
			t.Fatal(err)
		}
		counts[p.Prior]++
		at := func(arm int) float64 { return p.Truth(1, p.Candidates[arm]) }
		variance[p.Prior] += at(499) * at(499)
		if p.Prior == 4 { // linear: a line through the origin
			for _, arm := range []int{0, 100, 333} {
				if want := at(499) * float64(arm) / 499; math.Abs(at(arm)-want) > 1e-6 {
					t.Errorf("seed %d, arm %d: %v, on a line %v", seed, arm, at(arm), want)
				}
			}
		}
		if p.Prior == 3 { // period 5 is 124.75 arms: four periods are the whole range
			if math.Abs(at(0)-at(499)) > 1e-5 {
				t.Errorf("seed %d: %v at 0, %v four periods on", seed, at(0), at(499))
			}
		}
	}
	for k, n := range counts {
		// Binomial with p = 1/6: mean 50, standard deviation 6.5; 4 of them.
		if n < 24 || n > 76 {
			t.Errorf("prior %d was drawn %d times of %d", k, n, seeds)
		}
		// Every prior has the variance 1 at x = 20; 4 standard errors of about 50 squares.
		if v := variance[k] / float64(n); math.Abs(v-1) > 4*math.Sqrt2/math.Sqrt(float64(n)) {
			t.Errorf("prior %d: variance %v at 20", k, v)
		}
	}
}

// TestHills: the plain mean has ten hills, and each other prior one that is higher.
func TestHills(t *testing.T) {
	plain := hills(-1)
	for k := range 10 {
		// Neighbouring hills add 2 exp(-8) at a top.
		if v := plain(float64(k) + 0.5); math.Abs(v-1) > 1e-3 {
			t.Errorf("hill %d is %v high", k, v)
		}
	}
	if v := plain(15); v > 1e-9 {
		t.Errorf("%v at 15, beyond the hills", v)
	}
	var doubled []float64
	for _, p := range hillPriors()[1:] {
		for k := range 10 {
			if x := float64(k) + 0.5; p.mean(x) > 1.5 {
				doubled = append(doubled, x)
			}
		}
	}
	if !slices.Equal(doubled, []float64{1.5, 3.5, 6.5, 8.5}) {
		t.Errorf("doubled hills %v", doubled)
	}
}

// TestPaths: how far and how fast the moving optima go.
func TestPaths(t *testing.T) {
	for _, c := range []struct {
		name       string
		longest    float64 // of a single step
		total, tol float64 // length of the way
	}{
		// 1.6 in 1000 steps and back; the last of 2000 steps is the first but one.
		{"tracking/bump2-slow", 0.0016, 3.2, 0.004}, {"tracking/bump4-slow", 0.0016, 3.2, 0.004},
		{"tracking/bump2-jump", 1.8, 1.8, 1e-9}, {"tracking/bump4-jump", 1.8, 1.8, 1e-9},
		{"tracking/peaks2-slow", 0.0022, 2 * math.Pi * 0.7, 0.004},
		{"tracking/peaks2-jump", math.Hypot(1.6, 0.8), math.Hypot(1.6, 0.8), 1e-9},
	} {
		p := drawn(t, c.name)
		m := movingOf(t, c.name)
		var longest, total float64
		for step := 1; step <= trackingSteps; step++ {
			here := m.centre(step)
			if v := p.Truth(step, here); v != 1 {
				t.Fatalf("%s: %v at the optimum of step %d", c.name, v, step)
			}
			for _, v := range here {
				if math.Abs(v) > 1 {
					t.Fatalf("%s: the optimum of step %d is at %v", c.name, step, here)
				}
			}
			if step > 1 {
				d := landscape.Distance(here, m.centre(step-1))
				longest, total = max(longest, d), total+d
			}
		}
		if longest > c.longest*1.001 || math.Abs(total-c.total) > c.tol {
			t.Errorf("%s: longest step %v, way %v; want %v, %v", c.name, longest, total, c.longest, c.total)
		}
	}
	// A quarter of a lengthscale of 0.4 off the centre of the bump.
	if v := drawn(t, "tracking/bump2-jump").Truth(1, []float64{-0.9/math.Sqrt2 + 0.1, -0.9 / math.Sqrt2}); math.Abs(v-math.Exp(-0.01/0.405)) > 1e-12 {
		t.Errorf("bump 0.1 off its centre: %v", v)
	}
}

func movingOf(t *testing.T, name string) moving {
	t.Helper()
	for _, m := range []moving{
		bump("bump2-slow", 2, slowly), bump("bump2-jump", 2, jumping), bump("bump4-slow", 4, slowly), bump("bump4-jump", 4, jumping),
		twoPeaks("peaks2-slow", circling), twoPeaks("peaks2-jump", leaping),
	} {
		if "tracking/"+m.name == name {
			return m
		}
	}
	t.Fatalf("no %s", name)
	return moving{}
}

// TestSurroundings: random variables take draws with the declared variance, whatever
// is controlled.
func TestSurroundings(t *testing.T) {
	p := drawn(t, "cvs/hartmann-cheap-0.04")
	const steps = 4000
	square := 0.0
	for step := 1; step <= steps; step++ {
		x := []float64{0.25, math.NaN(), math.NaN()}
		y := []float64{math.NaN(), 0.5, math.NaN()}
		p.Measure(1, step, step, x)
		p.Measure(1, step, step, y)
		if x[0] != 0.25 || y[1] != 0.5 || x[2] != y[2] {
			t.Fatalf("step %d: %v and %v", step, x, y)
		}
		square += (x[2] - 0.5) * (x[2] - 0.5) / steps
	}
	// The square of a value in [0, 1] about its middle has a standard deviation below
	// 0.08.
	if math.Abs(square-0.04) > 4.5*0.08/math.Sqrt(steps) {
		t.Errorf("variance %v, want 0.04", square)
	}
}
