package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers/sim/optimum"
	"github.com/labtuner/tuner/scripts/testsize"
)

// knobs returns a laser of n knobs with ranges [0, 1], so that its coordinates are
// the cube's.
func knobs(n int) Options {
	o := laserOptions()
	o.Variables = nil
	for i := range n {
		o.Variables = append(o.Variables, Variable{Name: fmt.Sprint("k", i), Low: 0, High: 1, Start: 0.4, Safe: 0.2,
			Device: "stage", Channel: fmt.Sprint("c", i), Actuated: true, OnRelease: "release", Random: Distribution{Kind: Uniform}})
	}
	return o
}

func (b bench) truth(q optimum.Query) optimum.Truth {
	b.t.Helper()
	known, err := b.Truth(b.t.Context(), q)
	if err != nil {
		b.t.Fatal(err)
	}
	return known
}

// score is the user's objective by definition, from the plant's own moments.
func (b bench) score(alpha float64, x ...float64) float64 {
	sd := b.NoiseSD(x)
	return b.Mean(x) - alpha*sd*sd
}

// TestTruthAgainstGrid compares optimum and range with a grid over the whole
// domain, in one and two dimensions, with and without risk.
func TestTruthAgainstGrid(t *testing.T) {
	testsize.OneGoroutine(t)
	for _, dim := range []int{1, 2} {
		for _, alpha := range []float64{0, 0.5} {
			b := newBench(t, knobs(dim))
			known := b.truth(optimum.Query{Alpha: alpha})
			const n = 400 // to either side a grid point is within 1/800, so the value within 1e-4 of the range
			best, worst := math.Inf(-1), math.Inf(1)
			x := make([]float64, dim)
			for i := 0; i <= n; i++ {
				for j := 0; j <= n; j++ {
					x[0] = float64(i) / n
					x[dim-1] = float64(j) / n
					v := b.score(alpha, x...)
					best, worst = max(best, v), min(worst, v)
				}
			}
			if tolerance := 1e-3 * (best - worst); math.Abs(known.Value-best) > tolerance || math.Abs(known.Range-(best-worst)) > tolerance {
				t.Errorf("%d knobs, alpha %v: value %v and range %v, by grid %v and %v", dim, alpha, known.Value, known.Range, best, best-worst)
			}
			if got := b.score(alpha, known.Optimum.X...); math.Abs(got-known.Value) > 1e-12 {
				t.Errorf("%d knobs, alpha %v: the optimum scores %v, not %v", dim, alpha, got, known.Value)
			}
		}
	}
}

// TestTruthFindsBothRegions: risk moves the optimum of every laser from the bright
// region to the quiet one.
func TestTruthFindsBothRegions(t *testing.T) {
	for dim := 1; dim <= laserActs; dim++ {
		b := newBench(t, knobs(dim))
		for region, alpha := range []float64{0, 0.5} {
			known := b.truth(optimum.Query{Alpha: alpha})
			for i, c := range b.laser.centre(region, 0) {
				if math.Abs(known.Optimum.X[i]-c) > 0.05 {
					t.Errorf("%d knobs, alpha %v: the optimum is at %v, the region's centre at %v", dim, alpha, known.Optimum.X, b.laser.centre(region, 0))
					break
				}
			}
		}
	}
}

// TestKnobsThatDoNotAct: a laser with more knobs than act is the one with those that do, whatever the others are, and
// says which they are.
func TestKnobsThatDoNotAct(t *testing.T) {
	few, many := newBench(t, knobs(laserActs)), newBench(t, knobs(laserActs+7))
	for _, alpha := range []float64{0, 0.5} {
		want, got := few.truth(optimum.Query{Alpha: alpha}), many.truth(optimum.Query{Alpha: alpha})
		if tolerance := 1e-6 * want.Range; math.Abs(got.Value-want.Value) > tolerance || math.Abs(got.Range-want.Range) > 1e-3*want.Range {
			t.Errorf("alpha %v: %v of a range of %v, want %v of %v", alpha, got.Value, got.Range, want.Value, want.Range)
		}
		x := slices.Clone(got.Optimum.X)
		for i := laserActs; i < len(x); i++ {
			x[i] = 0.9
		}
		if v := many.score(alpha, x...); v != got.Value {
			t.Errorf("alpha %v: %v where the idle knobs are elsewhere, %v where not", alpha, v, got.Value)
		}
	}
	if notes := strings.Join(many.Notes(), "\n"); !strings.Contains(notes, "the first 8 knobs act, in file order; these do not: k8, k9") {
		t.Errorf("notes %q", notes)
	}
}

// TestLogarithmicKnobs: the laser of knobs with logarithmic scales from 1 to 1000 is that of linear ones from 0 to 1 at
// the third of their decimal logarithms.
func TestLogarithmicKnobs(t *testing.T) {
	linear, logarithmic := knobs(3), knobs(3)
	for _, i := range []int{0, 2} {
		v := &logarithmic.Variables[i]
		v.Low, v.High, v.Start, v.Log = 1, 1000, 10, true
	}
	want, got := newBench(t, linear), newBench(t, logarithmic)
	if a, b := want.score(0.5, 1.0/3, 0.25, 2.0/3), got.score(0.5, 10, 0.25, 100); math.Abs(a-b) > 1e-12 {
		t.Errorf("at 10 and 100 %v, at a third and two %v", b, a)
	}
	for _, alpha := range []float64{0, 0.5} {
		a, b := want.truth(optimum.Query{Alpha: alpha}), got.truth(optimum.Query{Alpha: alpha})
		if math.Abs(a.Value-b.Value) > 1e-6*a.Range {
			t.Errorf("alpha %v: %v at %v, want %v at %v", alpha, b.Value, b.Optimum.X, a.Value, a.Optimum.X)
		}
		for _, i := range []int{0, 2} {
			if third := math.Log10(b.Optimum.X[i]) / 3; math.Abs(third-a.Optimum.X[i]) > 1e-3 {
				t.Errorf("alpha %v: knob %d is best at %v, want at 1000^%v", alpha, i, b.Optimum.X[i], a.Optimum.X[i])
			}
		}
	}
	stage := got.device("stage")
	got.write(stage, map[string]float64{"c0": 1, "c2": 1000})
	got.clock.move(3 * time.Second)
	for range 100 { // its sensor's noise is cut at four times 1e-4
		got.clock.move(time.Second)
		if v := got.read(stage, "c0", "c2").Values; math.Abs(v["c0"]-1) > 4.1e-4 || math.Abs(v["c2"]-1000) > 0.41 {
			t.Fatalf("sent to 1 and 1000, the knobs read %v", v)
		}
	}
	if notes := strings.Join(got.Notes(), "\n"); !strings.Contains(notes, `it goes with the logarithm of k0, k2, whose scale is "log"`) {
		t.Errorf("notes %q", notes)
	}
}

// TestLogarithmicKnobLeftAlone: one that is left to a uniform distribution is uniform on the plant's axis, as the policy
// takes it, so that the plant is worth what it is with linear ones.
func TestLogarithmicKnobLeftAlone(t *testing.T) {
	linear, logarithmic := knobs(3), knobs(3)
	v := &logarithmic.Variables[2]
	v.Low, v.High, v.Start, v.Log = 1, 1000, 10, true
	q := optimum.Query{ControlSets: [][]bool{{true, true, false}}}
	a, b := newBench(t, linear), newBench(t, logarithmic)
	if want, got := a.truth(q), b.truth(q); math.Abs(want.Value-got.Value) > 1e-6*want.Range {
		t.Errorf("the best is %v, want %v", got.Value, want.Value)
	}
	b.write(b.device("stage"), map[string]float64{"c0": 0.5}, "c2")
	low := 0
	const draws = 1000
	for range draws {
		b.clock.move(laserDraw)
		if x := b.read(b.device("stage"), "c2").Values["c2"]; x < 10 {
			low++
		}
	}
	if share := float64(low) / draws; math.Abs(share-1.0/3) > 4*math.Sqrt(2.0/9/draws) { // the standard error, four times
		t.Errorf("%v of the draws from 1 to 1000 are below 10, want a third", share)
	}
}

// TestTruthCanBeEnded: a search whose context is done says so, and gives nothing.
func TestTruthCanBeEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if known, err := newBench(t, knobs(3)).Truth(ctx, optimum.Query{}); !errors.Is(err, context.Canceled) || known.Optimum.X != nil {
		t.Errorf("%v, %v", known, err)
	}
}

// TestTruthNothingBetter samples the domains that no grid covers: at random, and
// close to the optimum.
func TestTruthNothingBetter(t *testing.T) {
	plants := map[string]Options{"laser": knobs(6), "growth": growthOptions()}
	for name, o := range plants {
		b := newBench(t, o)
		alpha := map[string]float64{"laser": 0.5, "growth": 0.002}[name]
		known := b.truth(optimum.Query{Alpha: alpha})
		const seed = 12
		r := rand.New(rand.NewPCG(seed, 0))
		x := make([]float64, len(o.Variables))
		for i := range 60_000 {
			for k, v := range o.Variables {
				x[k] = v.Low + r.Float64()*(v.High-v.Low)
				if i%2 == 0 {
					x[k] = known.Optimum.X[k] + r.NormFloat64()*0.02*(v.High-v.Low)
					x[k] = min(max(x[k], v.Low), v.High)
				}
			}
			if v := b.score(alpha, x...); v > known.Value+1e-6*known.Range {
				t.Fatalf("%s, seed %d: %v at %v is better than the optimum, %v at %v", name, seed, v, x, known.Value, known.Optimum.X)
			}
		}
	}
}

// TestTruthOfGrowth: an independent pattern search over the data file, in Python,
// found 2.19411617 standardised units; 1e-6 of it is its step.
func TestTruthOfGrowth(t *testing.T) {
	b := newBench(t, growthOptions())
	known := b.truth(optimum.Query{ControlSets: nutrientSets()})
	if want := 107.55729094567415*2.19411617 + 108.59035777465141; math.Abs(known.Value-want) > 1e-3 {
		t.Errorf("value %v mm2, want %v", known.Value, want)
	}
	if want := 107.55729094567415 * (2.19411617 + 1.13261281); math.Abs(known.Range-want) > 1e-2 {
		t.Errorf("range %v mm2, want %v", known.Range, want)
	}
	if known.Optimum.ControlSet != 6 {
		t.Errorf("the best control set is number %d, want the one of all variables", known.Optimum.ControlSet)
	}
}

// TestTruthOverSubsets: without a set of all variables, the best set is the one
// whose average is best, and no other setting of any set beats it.
func TestTruthOverSubsets(t *testing.T) {
	testsize.OneGoroutine(t)
	b := newBench(t, growthOptions())
	sets := nutrientSets()[:6]
	known := b.truth(optimum.Query{ControlSets: sets})
	if got := known.ValueOf(known.Optimum.ControlSet, known.Optimum.X); math.Abs(got-known.Value) > 1e-9 {
		t.Errorf("the optimum's value is %v, told as %v", got, known.Value)
	}
	for i, controlled := range sets[known.Optimum.ControlSet] {
		if controlled == math.IsNaN(known.Optimum.X[i]) {
			t.Errorf("optimum %v of a set that controls %v", known.Optimum.X, sets[known.Optimum.ControlSet])
		}
	}
	const seed = 5
	r := rand.New(rand.NewPCG(seed, 0))
	x := make([]float64, 5)
	for range 400 {
		for k, v := range b.opt.Variables {
			x[k] = v.Low + r.Float64()*(v.High-v.Low)
		}
		for set := range sets {
			if v := known.ValueOf(set, x); v > known.Value+1e-6*known.Range {
				t.Fatalf("seed %d: set %d at %v has %v, more than the optimum's %v", seed, set, x, v, known.Value)
			}
		}
	}
}

// TestExpectationAgainstQuadrature compares averages over random knobs with nested
// Simpson rules, for each kind of distribution.
func TestExpectationAgainstQuadrature(t *testing.T) {
	testsize.OneGoroutine(t)
	const alpha = 0.5
	for _, random := range []Distribution{{Kind: Uniform}, {Normal, 0.1, 0.4}, {Normal, 0.6, 0.15}}[:testsize.Of(2, 3)] {
		o := knobs(3)
		for i := range o.Variables {
			o.Variables[i].Random = random
		}
		b := newBench(t, o)
		known := b.truth(optimum.Query{Alpha: alpha, ControlSets: [][]bool{{true, false, true}, {false, true, false}}})
		p := density(dist{kind: random.Kind, mean: random.Mean, sd: random.SD})
		moment := func(of func(y float64) float64) float64 {
			return integrate(func(y float64) float64 { return p(y) * of(y) }, 0, 1)
		}
		f := func(y float64) float64 { return b.score(0, 0.3, y, 0.7) }
		mean := moment(f)
		spread := moment(func(y float64) float64 { return (f(y) - mean) * (f(y) - mean) })
		one := moment(func(y float64) float64 { return b.score(alpha, 0.3, y, 0.7) }) - alpha*spread
		// A tenth of the 1e-3 of the range that is asked of the whole; the quantile of
		// a normal that ends four standard deviations out is what costs precision.
		if got := known.ValueOf(0, []float64{0.3, math.NaN(), 0.7}); math.Abs(got-one) > 1e-4*known.Range {
			t.Errorf("%v: average over one knob is %v, by quadrature %v", random, got, one)
		}
		thrice := b.truth(optimum.Query{Alpha: alpha, SpreadCounts: 3, ControlSets: [][]bool{{true, false, true}}})
		if got := thrice.ValueOf(0, []float64{0.3, math.NaN(), 0.7}); math.Abs(got-(one-2*alpha*spread)) > 1e-4*known.Range || spread < 1e-3*known.Range {
			t.Errorf("%v: with a spread that counts three times %v, by quadrature %v", random, got, one-2*alpha*spread)
		}
		const n = 60
		two, weight := 0.0, 0.0
		sum, squares := 0.0, 0.0
		for i := range n * n {
			x, z := (float64(i%n)+0.5)/n, (float64(i/n)+0.5)/n
			w := p(x) * p(z)
			two, weight = two+w*b.score(alpha, x, 0.4, z), weight+w
			f := b.score(0, x, 0.4, z)
			sum, squares = sum+w*f, squares+w*f*f
		}
		two -= alpha * (squares - sum*sum/weight)
		// Midpoints: second order, about 1e-4 here.
		if got := known.ValueOf(1, []float64{0, 0.4, 0}); math.Abs(got-two/weight) > 2e-4*known.Range {
			t.Errorf("%v: average over two knobs is %v, by quadrature %v", random, got, two/weight)
		}
		// The optimum over the first set, against a grid of averages.
		best := math.Inf(-1)
		for i := 0; i <= 40; i++ {
			for j := 0; j <= 40; j++ {
				best = max(best, known.ValueOf(0, []float64{float64(i) / 40, 0, float64(j) / 40}))
			}
		}
		if known.Value < best || known.Value > best+0.01*known.Range {
			t.Errorf("%v: optimum %v, the grid's best %v", random, known.Value, best)
		}
	}
}

// TestClosedFormAgainstDraws: what the growth plant averages in closed form is what draws say, the variance over the
// random variables and all. A formula makes it draw.
func TestClosedFormAgainstDraws(t *testing.T) {
	testsize.OneGoroutine(t)
	b := newBench(t, growthOptions())
	q := optimum.Query{Alpha: 0.002, SpreadCounts: 2, ControlSets: [][]bool{{true, false, true, true, false}, {true, true, true, true, true}}}
	exact := b.truth(q)
	q.Formula = func(v map[string]float64) (float64, error) { return v["leaf_area"], nil }
	drawn := b.truth(q)
	x := []float64{189.5, math.NaN(), 26.57, 53.9, math.NaN()}
	if got, want := exact.ValueOf(0, x), drawn.ValueOf(0, x); math.Abs(got-want) > 1e-3*exact.Range || math.IsNaN(got) {
		t.Errorf("in closed form %v, by draws %v", got, want)
	}
}

// TestExpectationOfFixedVariables: a variable that holds is at its start, one that
// is parked at its safe value, when a control set leaves it alone.
func TestExpectationOfFixedVariables(t *testing.T) {
	o := knobs(3)
	o.Variables[0].OnRelease, o.Variables[1].OnRelease = "hold", "park"
	b := newBench(t, o)
	known := b.truth(optimum.Query{Alpha: 0.2, ControlSets: [][]bool{{false, false, true}}})
	if got, want := known.ValueOf(0, []float64{9, 9, 0.6}), b.score(0.2, 0.4, 0.2, 0.6); math.Abs(got-want) > 1e-12 {
		t.Errorf("value %v, want that of the start and the safe value, %v", got, want)
	}
}

// TestTruthWithLevels compares with every combination of levels.
func TestTruthWithLevels(t *testing.T) {
	o := knobs(3)
	o.Variables[0].Levels = []float64{0, 0.1, 0.9}
	o.Variables[1].Low, o.Variables[1].High, o.Variables[1].Integer = 0, 7, true
	o.Variables[2].Levels = []float64{0.25, 0.5}
	b := newBench(t, o)
	for _, minimize := range []bool{false, true} {
		known := b.truth(optimum.Query{Minimize: minimize})
		best := math.Inf(-1)
		for _, x := range o.Variables[0].Levels {
			for y := range 8 {
				for _, z := range o.Variables[2].Levels {
					v := b.Mean([]float64{x, float64(y), z})
					if minimize {
						v = -v
					}
					best = max(best, v)
				}
			}
		}
		if minimize {
			best = -best
		}
		if math.Abs(known.Value-best) > 1e-12 {
			t.Errorf("minimize %v: optimum %v at %v, by enumeration %v", minimize, known.Value, known.Optimum.X, best)
		}
	}
	// Random levels follow the distribution of what is rounded to them.
	known := b.truth(optimum.Query{ControlSets: [][]bool{{true, true, false}}})
	want := (0.375*b.Mean([]float64{0.1, 3, 0.25}) + 0.625*b.Mean([]float64{0.1, 3, 0.5}))
	if got := known.ValueOf(0, []float64{0.1, 3, 0}); math.Abs(got-want) > 1e-3*known.Range {
		t.Errorf("average over two levels is %v, want %v", got, want)
	}
}

// TestExpectationOverLevels: an exact average does not know of levels, so it is not
// used where a random variable has them.
func TestExpectationOverLevels(t *testing.T) {
	testsize.Only(t)
	o := growthOptions()
	o.Variables[1].Levels = []float64{0, 2.9} // boron, uniform on [0, 3]: below 1.45 it is 0
	b := newBench(t, o)
	known := b.truth(optimum.Query{ControlSets: [][]bool{{true, false, true, true, true}}})
	at := func(boron float64) float64 { return b.Mean([]float64{189.5, boron, 26.57, 53.9, 6.75}) }
	want := 1.45/3*at(0) + 1.55/3*at(2.9)
	if got := known.ValueOf(0, []float64{189.5, 0, 26.57, 53.9, 6.75}); math.Abs(got-want) > 1e-3*known.Range {
		t.Errorf("average over two levels is %v, want %v", got, want)
	}
}

// TestTruthOfTables: the optima that the data sets' publications name.
func TestTruthOfTables(t *testing.T) {
	for name, want := range map[string]float64{"perovskite": 27122, "agnp": 0.14836082, "p3ht": 838.31} {
		b := newBench(t, tableOptions(t, name))
		table, _ := LoadTable(name)
		known := b.truth(optimum.Query{Minimize: table.Minimize})
		if math.Abs(known.Value-want) > 1e-8*want {
			t.Errorf("%s: optimum %v, want %v", name, known.Value, want)
		}
		again := b.truth(optimum.Query{Minimize: table.Minimize, Candidates: b.Candidates()})
		if again.Value != known.Value || again.Range != known.Range {
			t.Errorf("%s: with its rows as candidates %v and %v, without %v and %v", name, again.Value, again.Range, known.Value, known.Range)
		}
	}
}

func TestTruthOverCandidates(t *testing.T) {
	b := newBench(t, knobs(2))
	candidates := [][]float64{{0.1, 0.1}, {0.3, 0.3}, {0.9, 0.9}, {0, 1}}
	known := b.truth(optimum.Query{Alpha: 0.1, Candidates: candidates})
	best, worst, at := math.Inf(-1), math.Inf(1), 0
	for i, x := range candidates {
		v := b.score(0.1, x...)
		if v > best {
			best, at = v, i
		}
		worst = min(worst, v)
	}
	if known.Value != best || known.Range != best-worst || known.Optimum.X[0] != candidates[at][0] {
		t.Errorf("%+v, want %v at %v and range %v", known, best, candidates[at], best-worst)
	}
}

// TestTruthOverPoorCandidates: where every candidate is poor, a control set that
// leaves a variable to chance may be better than the one of all variables.
func TestTruthOverPoorCandidates(t *testing.T) {
	b := newBench(t, knobs(2))
	sets := [][]bool{{true, true}, {true, false}}
	known := b.truth(optimum.Query{ControlSets: sets, Candidates: [][]float64{{0.7, 0}, {0.7, 0.02}}})
	if known.Optimum.ControlSet != 1 || known.Value <= b.Mean([]float64{0.7, 0.02}) {
		t.Errorf("optimum %+v with %v; chance in the second knob averages %v", known.Optimum, known.Value, known.ValueOf(1, []float64{0.7, 0}))
	}
}

// TestTruthOfFormula compares a formula's average with simulated shots.
func TestTruthOfFormula(t *testing.T) {
	testsize.OneGoroutine(t)
	const alpha = 0.3
	b := newBench(t, laserOptions())
	formula := func(v map[string]float64) (float64, error) {
		return math.Sqrt(v["pulse_energy"]) - 0.2*math.Abs(v["pointing"]) + v["shutter_open"], nil
	}
	known := b.truth(optimum.Query{Alpha: alpha, Formula: formula})
	x := []float64{0.8, -0.1, 12.4, 75}
	const n = 400_000
	mean, square, out := 0.0, 0.0, make([]float64, 2)
	for i := range uint64(n) {
		b.laser.shot(out, b.cube(x), 0, i)
		y, _ := formula(map[string]float64{"pulse_energy": out[0], "pointing": out[1], "shutter_open": 0.75})
		mean += y / n
		square += y * y / n
	}
	// 400,000 correlated pulses (the jitter's octaves) know the mean to a few 1e-3,
	// about what nine nodes make of a kink.
	if got, want := known.ValueOf(0, x), mean-alpha*(square-mean*mean); math.Abs(got-want) > 5e-3 {
		t.Errorf("formula: %v, by simulation %v", got, want)
	}
	linear := b.truth(optimum.Query{Alpha: alpha, Formula: func(v map[string]float64) (float64, error) { return v["pulse_energy"], nil }})
	plain := b.truth(optimum.Query{Alpha: alpha})
	if math.Abs(linear.Value-plain.Value) > 1e-6*plain.Range || math.Abs(linear.Range-plain.Range) > 1e-6*plain.Range {
		t.Errorf("the energy as a formula: %v and %v, as the sensor %v and %v", linear.Value, linear.Range, plain.Value, plain.Range)
	}
	_, err := b.Truth(t.Context(), optimum.Query{Formula: func(map[string]float64) (float64, error) { return 0, errors.New("no") }})
	if err == nil || !strings.Contains(err.Error(), "no value anywhere") {
		t.Errorf("a formula that always fails: %v", err)
	}
}

func TestTruthMovesWithDrift(t *testing.T) {
	o := knobs(4)
	o.Drift = 0.01
	b := newBench(t, o)
	before := b.truth(optimum.Query{})
	b.clock.move(5 * time.Hour)
	after := b.truth(optimum.Query{})
	for i, x := range after.Optimum.X {
		want := before.Optimum.X[i] + []float64{0.05, -0.05, 0.05, -0.05}[i]
		if math.Abs(x-want) > 1e-3 {
			t.Errorf("knob %d: the optimum went from %v to %v, want %v", i, before.Optimum.X[i], x, want)
		}
	}
	if got := before.ValueOf(0, before.Optimum.X); got != before.Value {
		t.Errorf("a truth that was told does not drift: %v, then %v", before.Value, got)
	}
}

func TestTruthRefuses(t *testing.T) {
	b := newBench(t, knobs(2))
	for words, q := range map[string]optimum.Query{
		"alpha is NaN":            {Alpha: math.NaN()},
		"control set 0 has 1 ent": {ControlSets: [][]bool{{true}}},
		"candidate 1 has 3 val":   {Candidates: [][]float64{{0, 0}, {0, 0, 0}}},
	} {
		if _, err := b.Truth(b.t.Context(), q); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want an error with %q", err, words)
		}
	}
	known := b.truth(optimum.Query{})
	if v := known.ValueOf(1, []float64{0, 0}); !math.IsNaN(v) {
		t.Errorf("a control set that is not there has value %v", v)
	}
	if v := known.ValueOf(0, []float64{0}); !math.IsNaN(v) {
		t.Errorf("a setting of the wrong length has value %v", v)
	}
	if v := (optimum.Truth{}).ValueOf(0, nil); !math.IsNaN(v) {
		t.Errorf("no truth has value %v", v)
	}
}

// TestSearchWithManyLevels: more combinations than the search has starts.
func TestSearchWithManyLevels(t *testing.T) {
	o := knobs(8)
	for i := range o.Variables {
		o.Variables[i].Levels = []float64{0.1, 0.4, 0.85}
	}
	b := newBench(t, o)
	best, x := math.Inf(-1), make([]float64, 8)
	for n := range 6561 {
		for i := range x {
			x[i] = o.Variables[i].Levels[n%3]
			n /= 3
		}
		best = max(best, b.score(0.5, x...))
	}
	if known := b.truth(optimum.Query{Alpha: 0.5}); math.Abs(known.Value-best) > 1e-12 {
		t.Errorf("optimum %v at %v, by enumeration %v", known.Value, known.Optimum.X, best)
	}
}
