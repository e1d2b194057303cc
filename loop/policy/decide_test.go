package policy

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/loop/policy/acquisition"
	"github.com/labtuner/tuner/loop/policy/internal/num"
)

// decisionOf prepares the decision after n observations in control set 0, with beta 2
// and at most units work units (0: all), and its one option.
func decisionOf(t *testing.T, s Spec, n, shots, units int) (*decision, []acquisition.Option) {
	t.Helper()
	p, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	fill(t, p, s, n, shots)
	return decisionBefore(t, p.(*engine), n+1, units)
}

func decisionBefore(t *testing.T, e *engine, step, units int) (*decision, []acquisition.Option) {
	t.Helper()
	if err := e.model.Refresh(); err != nil {
		t.Fatal(err)
	}
	d := prepared(t, e, step, []int{0})
	d.Units.Limit = units
	options, err := e.acquisition.Options(d.Decision)
	if err != nil {
		t.Fatal(err)
	}
	return d, options
}

// prepared is the decision of a step among control sets with beta 2, of any length.
func prepared(t *testing.T, e *engine, step int, sets []int) *decision {
	t.Helper()
	d, err := e.decision(t.Context(), step, sets)
	if err != nil {
		t.Fatal(err)
	}
	d.Sets, d.Beta, d.NoiseBeta, d.Units.Limit = sets, 2, 2, 0
	return d
}

// found is what the decision's search finds, as a setting and a value.
func foundBy(t *testing.T, d *decision, options []acquisition.Option) ([]float64, float64) {
	t.Helper()
	m, err := d.Search(options, 0)
	if err != nil {
		t.Fatal(err)
	}
	return m[0].X, m[0].Value
}

// valuesAt evaluates an option's objective.
func valuesAt(o acquisition.Option, x []float64) []float64 {
	if p, ok := o.Objective.(search.Preparer); ok {
		p.Prepare()
	}
	out := make([]float64, len(x)/o.Objective.Dim())
	o.Objective.Values(out, x)
	return out
}

// The search finds what a dense random scan of 20000 settings finds, or better. The
// posterior is rough: few data, lengthscale 0.3.
func TestSearchBeatsADenseScan(t *testing.T) {
	for seed := range uint64(4) {
		for _, d := range []int{1, 2, 4} {
			c, options := decisionOf(t, rahboSpec(d, seed), 30, 10, 0)
			x, got := foundBy(t, c, options)
			const points = 20000
			rng := rand.New(rand.NewPCG(seed, 5))
			scan := make([]float64, points*d)
			for i := range scan {
				scan[i] = rng.Float64()
			}
			values := valuesAt(options[0], scan)
			if best := values[num.Argmax(values)]; got < best-1e-6 {
				t.Errorf("seed %d, %d-D: found %.6f at %v, the scan %.6f", seed, d, got, x, best)
			}
		}
	}
}

// With an expectation: the scan is by all nodes, the search's screening by few.
func TestSearchWithExpectation(t *testing.T) {
	for seed := range uint64(3) {
		s := growth("se", "etc-50", seed)
		d, options := decisionOf(t, s, 40, 1, 0) // control set 0 holds two of five variables
		_, got := foundBy(t, d, options)
		const side = 25
		var scan []float64
		for i := range side {
			for j := range side {
				scan = append(scan, float64(i)/(side-1), float64(j)/(side-1))
			}
		}
		values := valuesAt(options[0], scan)
		if best := values[num.Argmax(values)]; got < best-1e-3 {
			t.Errorf("seed %d: found %.5f, the scan %.5f", seed, got, best)
		}
	}
}

// Discrete and rounded variables: against every combination of the discrete ones and
// a fine grid of the other.
func TestSearchOfMixedVariables(t *testing.T) {
	for seed := range uint64(4) {
		s := rahboSpec(3, seed)
		s.Variables[0].Low, s.Variables[0].High, s.Variables[0].Integer = 0, 9, true
		s.Variables[1].Levels = []float64{0, 0.1, 0.25, 0.7, 1}
		s.Variables[2].Resolution = 0.002
		d, options := decisionOf(t, s, 25, 10, 0)
		x, got := foundBy(t, d, options)
		var scan []float64
		for i := range 10 {
			for _, l := range s.Variables[1].Levels {
				for k := range 501 {
					scan = append(scan, float64(i)/9, l, float64(k)/500)
				}
			}
		}
		values := valuesAt(options[0], scan)
		// Rounding to the nearest of 501 values may miss the best of two neighbours.
		if best := values[num.Argmax(values)]; got < best-1e-4 {
			t.Errorf("seed %d: found %.6f at %v, the scan %.6f", seed, got, x, best)
		}
		p := d.Domains[0].Proposal(x)
		if p[0] != math.Round(p[0]) || math.Abs(p[2]*500-math.Round(p[2]*500)) > 1e-9 {
			t.Errorf("seed %d: proposal %v", seed, p)
		}
	}
}

// A short list is looked through whole.
func TestSearchOfAList(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	s := rahboSpec(2, 3)
	for range 300 {
		s.Candidates = append(s.Candidates, []float64{rng.Float64(), rng.Float64()})
	}
	d, options := decisionOf(t, s, 20, 10, 0)
	_, got := foundBy(t, d, options)
	values := valuesAt(options[0], d.Domains[0].List)
	if best := values[num.Argmax(values)]; math.Abs(got-best) > 1e-12 {
		t.Errorf("found %g, the best candidate has %g", got, best)
	}
}

// Anytime: what is held after each unit may be proposed, and never gets worse.
func TestSearchIsAnytime(t *testing.T) {
	s := rahboSpec(3, 2)
	s.Variables[1].Levels = []float64{0, 0.3, 0.6, 1}
	last := math.Inf(-1)
	for units := 1; ; units++ {
		d, options := decisionOf(t, s, 25, 10, units)
		x, v := foundBy(t, d, options)
		if v < last {
			t.Errorf("after %d units %g, one unit earlier %g", units, v, last)
		}
		last = v
		if p := d.Domains[0].Proposal(x); p[1] != 0 && p[1] != 0.3 && p[1] != 0.6 && p[1] != 1 {
			t.Errorf("after %d units: proposal %v", units, p)
		}
		if d.Units.Done < units {
			break
		}
	}
}

// A decision of several searches that was cut in the midst of one repeats when it is
// limited to what was done.
func TestMeterRepeatsACut(t *testing.T) {
	s := rahboSpec(2, 4)
	for calls := range 12 {
		play := func(m *acquisition.Meter) (values []float64) {
			d, options := decisionOf(t, s, 15, 10, 0)
			d.Units = m
			for range 3 {
				_, v := foundBy(t, d, options)
				values = append(values, v)
			}
			return values
		}
		cut := &acquisition.Meter{Ctx: newCountdown(9 * calls)}
		a := play(cut)
		again := &acquisition.Meter{Ctx: t.Context(), Limit: cut.Done}
		if b := play(again); !slices.Equal(a, b) || cut.Done != again.Done {
			t.Errorf("cut after %d units: %v, repeated %v with %d", cut.Done, a, b, again.Done)
		}
	}
}

// With Once, every candidate is tried before one is tried again, whatever the policy.
func TestCandidatesAreTriedOnce(t *testing.T) {
	for _, kind := range []string{"gp-ucb", "ts", "ei"} {
		s := withCandidates(fixedSpec(kind, 2, 70), 12)
		s.Once = true
		p := fresh(t, s)
		seen := map[[2]float64]bool{}
		for step := 1; step <= 13; step++ {
			q := propose(t, p)
			at := [2]float64{q.X[0], q.X[1]}
			if seen[at] != (step == 13) {
				t.Errorf("%s, step %d: %v was tried before: %v", kind, step, at, seen[at])
			}
			seen[at] = true
			observe(t, p, Observation{Step: step, X: q.X, Mean: q.X[0], Variance: math.NaN(), Shots: 1, Valid: true})
		}
	}
	s := fixedSpec("ts", 2, 71)
	refused(t, []refusal{{"candidates are to be tried once, but there are none", s, func(s *Spec) { s.Once = true }}})
}
