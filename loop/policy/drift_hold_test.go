package policy

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
	"github.com/labtuner/tuner/scripts/testsize"
)

// around keeps what may be proposed within reach, and at least the neighbours of the
// centre: by hand, per coordinate.
func TestAroundABox(t *testing.T) {
	vars := box(4)
	vars[1].Resolution = 0.01
	vars[2].Levels = []float64{0, 0.1, 0.4, 0.5, 1}
	vars[3].Low, vars[3].High, vars[3].Integer = 0, 20, true
	var axes []space.Axis
	for i := range vars {
		axes = append(axes, space.NewAxis(&vars[i]))
	}
	d := space.NewDomain(axes, []bool{true, true, true, true}, 0, nil)
	r := d.Around([]float64{0.02, 0.5, 0.41, 0.25}, []float64{0.05, 0.045, 0.05, 0.2})
	if a := r.Axes[0]; a.Low != 0 || math.Abs(a.High-0.07) > 1e-12 {
		t.Errorf("a continuous coordinate: %+v, want 0 to 0.07", a)
	}
	if a := r.Axes[1]; math.Abs(a.Low-0.46) > 1e-12 || math.Abs(a.High-0.54) > 1e-12 {
		t.Errorf("a resolution of 0.01: %+v, want 0.46 to 0.54", a)
	}
	if a := r.Axes[2]; !slices.Equal(a.Levels, []float64{0.4, 0.5}) {
		t.Errorf("levels: %v, want the centre's neighbours 0.4 and 0.5", a.Levels)
	}
	if a := r.Axes[3]; !slices.Equal(a.Levels, []float64{0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45}) {
		t.Errorf("integers: %v, want 1 to 9 of 20", a.Levels)
	}
	if r := d.Around([]float64{0, 0, 0, 0}, []float64{0.005, 0.005, 0.005, 0.005}); r.Axes[1].High != 0.01 || !slices.Equal(r.Axes[2].Levels, []float64{0, 0.1}) {
		t.Errorf("too small a reach: %+v, want a step each way", r.Axes)
	}
	// Measured before the ranges were narrowed.
	out := d.Around([]float64{5.2, -3, 7, -0.5}, []float64{0.05, 0.045, 0.05, 0.2})
	edge := d.Around([]float64{1, 0, 1, 0}, []float64{0.05, 0.045, 0.05, 0.2})
	if !reflect.DeepEqual(out, edge) || !(out.Axes[0].Low < out.Axes[0].High) {
		t.Errorf("around a setting outside: %+v, want as around the nearest inside, %+v", out, edge)
	}
}

// Of a list: all settings within reach, by brute force, and the nearest few.
func TestAroundAList(t *testing.T) {
	s := withCandidates(fixedSpec("track", 2, 5), 200)
	d := fresh(t, s).(*engine).domains[0]
	centre, reach := []float64{0.4, 0.6}, []float64{0.2, 0.1}
	var want []float64
	for k := range d.Listed() {
		if x := d.Row(k); math.Abs(x[0]-0.4) <= 0.2 && math.Abs(x[1]-0.6) <= 0.1 {
			want = append(want, x...)
		}
	}
	got := d.Around(centre, reach).List
	has := func(list, x []float64) bool {
		for row := range slices.Chunk(list, 2) {
			if slices.Equal(row, x) {
				return true
			}
		}
		return false
	}
	for x := range slices.Chunk(want, 2) {
		if !has(got, x) {
			t.Errorf("%v is missing", x)
		}
	}
	for x := range slices.Chunk(got, 2) {
		if !has(want, x) && len(want) >= 10 {
			t.Errorf("%v is out of reach", x)
		}
	}
	if few := d.Around(centre, []float64{1e-6, 1e-6}).List; len(few) != 10 {
		t.Errorf("%d settings in too small a reach, want 5", len(few)/2)
	}
}

// drifting is an objective with one peak of height 1 on the unit square, which moves.
type drifting struct {
	centre func(step int) (x, y float64)
	width  float64
	noise  float64
}

func (d drifting) at(step int, x []float64) float64 {
	a, b := d.centre(step)
	return math.Exp(-((x[0]-a)*(x[0]-a) + (x[1]-b)*(x[1]-b)) / (2 * d.width * d.width))
}

// answer measures a proposal; what it brings depends on the proposal, the step and the
// seed alone.
func (d drifting) answer(s *Spec, q Proposal) Observation {
	rng := rand.New(rand.NewPCG(s.Seed, uint64(q.Step)))
	return Observation{Step: q.Step, X: q.X, Mean: d.at(q.Step, q.X) + d.noise*rng.NormFloat64(), Variance: math.NaN(), Shots: 1, Valid: true}
}

// leap jumps after step 100; crawl moves by a thousandth of the range a step.
func leap() drifting {
	return drifting{func(step int) (x, y float64) {
		if step > 100 {
			return 0.7, 0.3
		}
		return 0.3, 0.6
	}, 0.12, 0.03}
}

func crawl() drifting {
	return drifting{func(step int) (x, y float64) { return 0.3 + 0.001*float64(step), 0.5 }, 0.12, 0.03}
}

func trackSpec(seed uint64) Spec {
	s := fixedSpec("track", 2, seed)
	s.InitialSteps, s.Drift.Timescale = 8, []float64{500}
	s.Model = model.Spec{Kernel: "se", Hyperparameters: "fixed", Outputscale: 1, NoiseSD: 0.03, Lengthscale: []float64{0.1, 0.1}, Capacity: 64}
	return s
}

// play runs steps of a policy and returns its proposals.
func (d drifting) play(t *testing.T, p Policy, s *Spec, steps int) []Proposal {
	t.Helper()
	var out []Proposal
	for range steps {
		q, err := p.Propose(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, q)
		if err := p.Observe(d.answer(s, q)); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// A hold follows with small steps: proposals stay within twice the reach of each other,
// and the optimum, which moves all the time, is never far.
func TestHoldFollows(t *testing.T) {
	for seed := range uint64(testsize.Of(1, 3)) {
		s := trackSpec(seed)
		d, p := crawl(), fresh(t, s)
		all := d.play(t, p, &s, 200)
		reach := p.(*engine).track.HoldWidths(p.(*engine).model.Posterior(), 2)
		if want := 0.17 * 0.1; math.Abs(reach[0]-want) > 1e-12 {
			t.Errorf("reach %v, want %g", reach, want)
		}
		loss := 0.0
		for i := 60; i < len(all); i++ {
			if all[i].Jump {
				t.Errorf("seed %d, step %d: a jump was seen", seed, i+1)
			}
			loss += (1 - d.at(i+1, all[i].X)) / float64(len(all)-60)
			for j, x := range all[i].X {
				if move := math.Abs(x - all[i-1].X[j]); move > 4*reach[j] {
					t.Errorf("seed %d, step %d moves by %g of the range", seed, i+1, move)
				}
			}
		}
		r, err := p.Recommend()
		if err != nil {
			t.Fatal(err)
		}
		held := 1 - d.at(200, r.X)
		t.Logf("seed %d: mean loss of a step %.4f, of the set-point %.4f", seed, loss, held)
		// A corner of the box costs 0.03, the way there as much again.
		if loss > 0.06 || held > 0.03 {
			t.Errorf("seed %d: mean loss of a step %.4f, of the set-point %.4f", seed, loss, held)
		}
	}
}

// Noise that stays within the objective's height but hides it: nothing is held while
// nothing stands out of the prior mean.
func TestNothingToHold(t *testing.T) {
	s := trackSpec(4)
	d := drifting{func(int) (x, y float64) { return 5, 5 }, 0.12, 0.03} // far away: zero everywhere
	all := d.play(t, fresh(t, s), &s, 90)
	var far float64
	for i := 60; i < len(all); i++ {
		far = max(far, num.SquaredDistance(all[i].X, all[i-1].X))
	}
	if far < 0.25 {
		t.Errorf("after 90 steps without anything to hold, steps are at most %g of the range", math.Sqrt(far))
	}
}

// After a jump the search begins anew, once, and ends when what was lost is found again.
// Everything is repeated from the record, whenever the run was interrupted.
func TestJumpIsFoundAndRepeated(t *testing.T) {
	for seed := range uint64(testsize.Of(1, 3)) {
		s := trackSpec(seed)
		d := leap()
		all := d.play(t, fresh(t, s), &s, 170)
		var jumps []int
		for _, q := range all {
			if q.Jump {
				jumps = append(jumps, q.Step)
			}
		}
		if len(jumps) != 1 || jumps[0] < 102 || jumps[0] > 110 {
			t.Errorf("seed %d: jumps noticed before steps %v, want one soon after 101", seed, jumps)
		}
		if loss := 1 - d.at(170, all[169].X); loss > 0.1 {
			t.Errorf("seed %d: 70 steps after the jump still %.3f below the optimum", seed, loss)
		}
		for _, at := range []int{47, 48, 49, 101, 102, 103, 104, 110, 130, 150} {
			p := fresh(t, s)
			derive(t, p, all[:at], func(q Proposal) []Observation { return []Observation{d.answer(&s, q)} })
			if rest := d.play(t, p, &s, 2); !same(rest, all[at:at+2]) {
				t.Errorf("seed %d, resumed after step %d:\n%v\n%v", seed, at, rest, all[at:at+2])
			}
		}
	}
}

// A hold that is no better than the design's settings is given up: here one whose
// optimum vanishes slowly enough to be no jump.
func TestHoldIsGivenUp(t *testing.T) {
	s := trackSpec(6)
	d := drifting{func(step int) (x, y float64) { return 0.5, 0.5 + 0.02*float64(max(step-60, 0)) }, 0.12, 0.03}
	all := d.play(t, fresh(t, s), &s, 160)
	var far float64
	for i := 130; i < len(all); i++ {
		far = max(far, num.SquaredDistance(all[i].X, all[i-1].X))
	}
	if far < 0.25 {
		t.Errorf("long after the optimum is gone, steps are at most %g of the range", math.Sqrt(far))
	}
}
