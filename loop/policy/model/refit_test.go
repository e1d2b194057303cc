package model

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// A cancelled context ends the wait for a fit and leaves the fit pending.
func TestCancelledWaitForAFit(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := Refits{Every: 5, Lag: 1, Pending: &PendingFit{Due: 3, Started: true, Done: make(chan struct{})}}
	if _, err := r.join(ctx, 3); !errors.Is(err, context.Canceled) || r.Pending == nil {
		t.Errorf("joined a fit that has not ended: %v", err)
	}
}

// paused counts how often a deadline was paused, and how often it went on; a fit under way ends in the pause.
type paused struct {
	context.Context
	fit             chan struct{}
	pauses, resumes int
}

func (p *paused) Pause() (resume func()) {
	p.pauses++
	close(p.fit)
	return func() { p.resumes++ }
}

// The wait for a fit that has not ended pauses the deadline; one that has is not waited for.
func TestWaitForAFitPausesTheDeadline(t *testing.T) {
	for _, ended := range []bool{false, true} {
		p := &PendingFit{Due: 3, Started: true, Done: make(chan struct{})}
		ctx, r := &paused{Context: t.Context(), fit: p.Done}, Refits{Every: 5, Lag: 1, Pending: p}
		if ended {
			close(p.Done)
		}
		got, err := r.join(ctx, 3)
		if err != nil || got != p || ctx.pauses != ctx.resumes || ended && ctx.pauses > 0 || !ended && ctx.pauses != 1 {
			t.Errorf("fit ended before: %v: %v, %v, %d pauses, %d ended", ended, got == p, err, ctx.pauses, ctx.resumes)
		}
	}
}

// A fit comes into force with a model that was loaded beside, where all rows were learnt when that began, and is the
// same to the last bit as with one that is loaded then.
func TestFitComesIntoForceLoaded(t *testing.T) {
	for name, learnt := range map[string]bool{"constant noise": false, "learnt noise": true} {
		for _, late := range []bool{false, true} { // a row that comes after
			rules := &Rules{Spec: Spec{Kernel: kernelMatern52, Hyperparameters: HyperFit, Capacity: 64, RefitEvery: 5, RefitLag: 1}, Seed: 1, Dims: 2, Beta: 2, Learnt: learnt,
				User: func(x []float64) []float64 { return x }}
			var all [2]*Model
			for k := range all {
				m, err := New(rules)
				if err != nil {
					t.Fatal(err)
				}
				rng := rand.New(rand.NewPCG(5, 6))
				observe := func(step int) {
					x := []float64{rng.Float64(), rng.Float64()}
					m.Observe(Row{X: x, Mean: math.Sin(5*x[0]) + x[1] + 0.1*rng.NormFloat64(), Variance: 0.01 * (0.5 + x[0]), Shots: 10, Step: step})
				}
				for step := 1; step <= 20; step++ {
					observe(step)
				}
				advance := func(step int) {
					if _, err := m.AwaitFit(t.Context(), step); err != nil {
						t.Fatal(err)
					}
					if _, err := m.LaunchFit(t.Context(), step); err != nil {
						t.Fatal(err)
					}
					m.StartFit()
				}
				advance(21) // at once
				for step := 21; step <= 26; step++ {
					observe(step)
					if k == 0 && step == 26 {
						if m.Complete(27); m.Refits.Pending == nil || m.Refits.Pending.loaded == nil {
							t.Fatalf("%s: nothing is loaded beside", name)
						}
					}
					if step == 26 && late {
						observe(26)
					}
					p := m.Refits.Pending
					advance(step + 1)
					if k == 0 && step == 26 {
						<-p.loaded.done
						if in := p.loaded.model.GP.Model().Core == m.GP.Model().Core; in == late {
							t.Errorf("%s, a row after it %v: the model that was loaded beside came into force: %v", name, late, in)
						}
					}
				}
				all[k] = m
			}
			x := []float64{0.1, 0.2, 0.5, 0.5, 0.9, 0.3}
			var mean, sd [2][3]float64
			for k, m := range all {
				m.Posterior().Moments(nil, mean[k][:], sd[k][:], x)
			}
			if mean[0] != mean[1] || sd[0] != sd[1] || all[0].Loads != all[1].Loads || all[0].follows != all[1].follows {
				t.Errorf("%s, a row after it %v: mean %v, sd %v, %d loads; loaded at the boundary %v, %v, %d", name, late, mean[0], sd[0], all[0].Loads, mean[1], sd[1], all[1].Loads)
			}
		}
	}
}

// Among many rows, a fit whose hyperparameters are not significantly more probable than those in force leaves them, and
// the processes as they are; among few it does not, nor where the noise, the objective or the level of one of them has changed.
func TestInsignificantFitChangesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		rows   int
		learnt bool
		noise  float64 // of later rows, by that of the first ones
		shape  float64 // of later rows, what comes on top
		forget bool    // and the processes are loaded anew
		off    func(h *Hyper)
		kept   bool
	}{
		"many rows": {rows: 100, noise: 1, kept: true}, "many rows, learnt noise": {rows: 100, noise: 1, learnt: true, kept: true},
		"rows that left": {rows: 100, noise: 1, learnt: true, forget: true, kept: true},
		"few rows":       {rows: 40, noise: 1}, "more noise": {rows: 100, noise: 10}, "another noise, learnt": {rows: 100, noise: 100, learnt: true},
		"another shape": {rows: 100, noise: 1, shape: 3}, "another level": {rows: 100, noise: 1, off: func(h *Hyper) { h.Center++ }},
		"another level of the noise": {rows: 100, noise: 1, learnt: true, off: func(h *Hyper) { h.noise.Mean += 2 }},
	} {
		m, err := New(&Rules{Spec: Spec{Kernel: kernelMatern52, Hyperparameters: HyperFit, Capacity: 256, RefitEvery: 5, RefitLag: 1}, Seed: 1, Dims: 2, Beta: 2, Learnt: c.learnt,
			User: func(x []float64) []float64 { return x }})
		if err != nil {
			t.Fatal(err)
		}
		rng, step, noise, shape := rand.New(rand.NewPCG(3, 1)), 0, 0.01, 0.0
		advance := func(rows int) {
			for range rows {
				step++
				x := []float64{rng.Float64(), rng.Float64()}
				y, variance := math.Sin(5*x[0])+x[1]+shape*math.Sin(30*x[1]), noise*(0.5+x[0])
				m.Observe(Row{X: x, Mean: y + math.Sqrt(variance/10)*rng.NormFloat64(), Variance: variance * (0.6 + 0.8*rng.Float64()), Shots: 10, Step: step})
			}
		}
		fit := func(step int) (loaded *loading) {
			if _, err := m.LaunchFit(t.Context(), step); err != nil {
				t.Fatal(err)
			}
			if p := m.Refits.Pending; p != nil {
				if m.StartFit(); c.forget {
					m.Forget(4)
				} else if m.Complete(step + 1); p.loaded != nil {
					<-p.loaded.done
				}
				loaded = p.loaded
			}
			if _, err := m.AwaitFit(t.Context(), step+1); err != nil {
				t.Fatal(err)
			}
			return loaded
		}
		advance(c.rows)
		fit(c.rows + 1) // at once
		advance(5)
		fit(c.rows + 6)
		noise, shape = noise*c.noise, c.shape
		advance(5)
		before, loads := m.Fitted, m.Loads
		if c.off != nil {
			c.off(before)
		}
		beside := fit(c.rows + 11)
		if kept := m.Fitted == before; kept != c.kept || kept && !c.forget != (m.Loads == loads) {
			t.Errorf("%s: kept %v, want %v; %d loads, %d before", name, kept, c.kept, m.Loads, loads)
		}
		if beside != nil && (beside.model.GP == nil) != c.kept {
			t.Errorf("%s: a model was loaded beside: %v", name, beside.model.GP != nil)
		}
		if !m.Loaded || m.follows != c.learnt {
			t.Errorf("%s: loaded %v, follows %v", name, m.Loaded, m.follows)
		}
	}
}

// Where rows are told anew while a fit is under way, it comes into force at its step though it leaves the
// hyperparameters that it began with, whether or not something was asked of the model meanwhile.
func TestFitOfRowsThatWereRetold(t *testing.T) {
	var mean, sd [2][1]float64
	for k, asked := range []bool{false, true} {
		m, err := New(&Rules{Spec: Spec{Kernel: kernelMatern52, Hyperparameters: HyperFit, Capacity: 256, RefitEvery: 5, RefitLag: 1}, Seed: 1, Dims: 2, Beta: 2,
			User: func(x []float64) []float64 { return x }})
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(3, 1))
		rows := func(from, to int) {
			for step := from; step <= to; step++ {
				x := []float64{rng.Float64(), rng.Float64()}
				m.Observe(Row{X: x, Mean: math.Sin(5*x[0]) + x[1] + 0.03*rng.NormFloat64(), Variance: 0.01, Shots: 10, Step: step})
			}
		}
		launch := func(step int) {
			if _, err := m.LaunchFit(t.Context(), step); err != nil {
				t.Fatal(err)
			}
			m.StartFit()
		}
		rows(1, 100)
		launch(101) // comes into force at once
		rows(101, 105)
		launch(106)
		if _, err := m.AwaitFit(t.Context(), 107); err != nil {
			t.Fatal(err)
		}
		before := m.Fitted
		rows(106, 119)
		launch(120)
		p := m.Refits.Pending
		if m.Complete(121); p == nil {
			t.Fatal("no fit is under way")
		}
		if err := m.Retell(func(r *Row) { r.Mean = math.Exp(r.Mean) }); err != nil {
			t.Fatal(err)
		}
		if asked {
			if err := m.Refresh(); err != nil {
				t.Fatal(err)
			}
		}
		m.Complete(121)
		if _, err := m.AwaitFit(t.Context(), 121); err != nil {
			t.Fatal(err)
		}
		if err := m.Refresh(); err != nil {
			t.Fatal(err)
		}
		if p.hyper != before || m.Active != before {
			t.Fatalf("asked %v: the fit kept the hyperparameters: %v; they are in force: %v", asked, p.hyper == before, m.Active == before)
		}
		m.Posterior().Moments(nil, mean[k][:], sd[k][:], []float64{0.3, 0.6})
	}
	if mean[0] != mean[1] || sd[0] != sd[1] {
		t.Errorf("nothing was asked: %v (%v); something was: %v (%v)", mean[0], sd[0], mean[1], sd[1])
	}
}

// A kernel in other units is the kernel times their square.
func TestScaled(t *testing.T) {
	k := newKernel(kernelMatern52, 2, []float64{0.3, 0.7})
	x, y := []float64{0.1, 0.2}, []float64{0.4, 0.1}
	for _, factor := range []float64{0, math.Inf(1), math.NaN()} {
		if got := scaled(k, factor).Cov(x, y); got != k.Cov(x, y) {
			t.Errorf("times %g: %g", factor, got)
		}
	}
	if got, want := scaled(k, 3).Cov(x, y), 9*k.Cov(x, y); math.Abs(got-want) > 1e-12 {
		t.Errorf("%g, want %g", got, want)
	}
}

// After a fit that left the hyperparameters in force the next one comes after twice as many steps, where the file gives no
// number of them.
func TestFitsWaitAfterOneThatChangedNothing(t *testing.T) {
	for _, given := range []bool{false, true} {
		m, err := New(&Rules{Spec: Spec{Kernel: kernelMatern52, Hyperparameters: HyperFit, Capacity: 256, RefitEvery: 5, RefitLag: 1, RefitSeldom: !given}, Seed: 1, Dims: 2, Beta: 2,
			User: func(x []float64) []float64 { return x }})
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(3, 1))
		last, before, waits := 0, m.Fitted, map[bool][]int{} // by whether the fit before was kept
		for step := 1; step <= 160; step++ {
			x := []float64{rng.Float64(), rng.Float64()}
			m.Observe(Row{X: x, Mean: math.Sin(5*x[0]) + x[1] + 0.03*rng.NormFloat64(), Variance: 0.01, Shots: 10, Step: step})
			if _, err := m.AwaitFit(t.Context(), step+1); err != nil {
				t.Fatal(err)
			}
			kept := m.Fitted == before
			if _, err := m.LaunchFit(t.Context(), step+1); err != nil {
				t.Fatal(err)
			}
			if m.Refits.last == step+1 && last > 0 && step > 80 {
				waits[kept] = append(waits[kept], m.Refits.last-last)
				if every := max(5, step/8); !given && kept && m.Refits.last-last < 2*every {
					t.Errorf("step %d: a fit %d steps after one that changed nothing", step, m.Refits.last-last)
				} else if given && m.Refits.last-last != 5 {
					t.Errorf("step %d: a fit %d steps after the one before, 5 were given", step, m.Refits.last-last)
				}
			}
			if m.Refits.last == step+1 {
				last, before = step+1, m.Fitted
			}
			m.StartFit()
		}
		if len(waits[true]) == 0 {
			t.Errorf("given %v: no fit was kept: %v", given, waits)
		}
	}
}
