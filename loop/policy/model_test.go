package policy

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/loop/policy/model"
)

// Observations that entered one by one, with replacements at capacity, give the
// posterior of loading the same rows at once.
func TestModelFollowsItsData(t *testing.T) {
	s := cvsSpec()
	s.Model = model.Spec{Kernel: "matern52", Hyperparameters: "fixed", Lengthscale: []float64{.3, .4, .5}, Outputscale: 2, NoiseSD: 0.1, Capacity: 25}
	p := fresh(t, s)
	fill(t, p, s, 60, 1)
	m := p.(*engine).model
	if !m.Loaded || m.GP.Len() != 25 || len(m.Data.Rows) != 25 {
		t.Fatalf("loaded %v, %d observations in the process, %d rows", m.Loaded, m.GP.Len(), len(m.Data.Rows))
	}
	rng := rand.New(rand.NewPCG(1, 1))
	x := make([]float64, 3*50)
	for i := range x {
		x[i] = rng.Float64()
	}
	mean, variance := make([]float64, 50), make([]float64, 50)
	m.GP.Predict(mean, variance, x)
	m.Loaded = false
	if err := m.Refresh(); err != nil {
		t.Fatal(err)
	}
	again, spread := make([]float64, 50), make([]float64, 50)
	m.GP.Predict(again, spread, x)
	for i := range mean {
		// Noise 0.005 of the variance: a condition number near 5000.
		if math.Abs(mean[i]-again[i]) > 1e-10 || math.Abs(variance[i]-spread[i]) > 1e-10 {
			t.Fatalf("point %d: %g, %g one by one; %g, %g at once", i, mean[i], variance[i], again[i], spread[i])
		}
	}
}

// Identical settings, constant objectives and noiseless shots do not break anything.
func TestModelSurvivesDegenerateData(t *testing.T) {
	for _, kind := range []string{"rahbo", "gp-ucb-heteroscedastic"} {
		for _, variance := range []float64{0, 1e-20, 4} {
			for _, raw := range []string{"raw", "log"} {
				s := rahboSpec(2, 3)
				s.Kind, s.VarianceModel, s.InitialSteps = kind, raw, 2
				if kind == "gp-ucb-heteroscedastic" {
					s.Risk = 0
				}
				p := fresh(t, s)
				for step := 1; step <= 12; step++ {
					propose(t, p)
					observe(t, p, Observation{Step: step, X: []float64{0.5, 0.5}, Mean: 1e6, Variance: variance, Shots: 5, Valid: true})
				}
				r, err := p.Recommend()
				if err != nil {
					t.Fatalf("%s, %s, variance %g: %v", kind, raw, variance, err)
				}
				if math.IsNaN(r.Mean) || math.Abs(r.Mean-1e6) > 10 || math.IsNaN(r.LowerBound) || math.IsInf(r.LowerBound, 0) {
					t.Errorf("%s, %s, variance %g: %+v", kind, raw, variance, r.Estimate)
				}
			}
		}
	}
}

// A fit recovers what the data were drawn with: the noise, and which variable
// matters.
func TestFitFindsTheNoise(t *testing.T) {
	const seed = 17
	rng := rand.New(rand.NewPCG(seed, 0))
	s := cvsSpec()
	s.InitialSteps = 1
	p := fresh(t, s)
	for step := 1; step <= 80; step++ {
		x := []float64{rng.Float64(), rng.Float64(), rng.Float64()}
		observe(t, p, Observation{Step: step, X: x, Mean: 50 + 20*math.Sin(6*x[1]) + 2*rng.NormFloat64(), Variance: math.NaN(), Shots: 1, Valid: true})
	}
	h := p.(*engine).model.Fitted.Describe()
	// 75 observations: the relative standard error of a standard deviation is 8%, and
	// the prior (median 0.1 of the spread, here 1.4) pulls down.
	if h.NoiseSD < 1.3 || h.NoiseSD > 2.5 {
		t.Errorf("seed %d: noise sd %g, true 2", seed, h.NoiseSD)
	}
	if h.Lengthscale[1] > 0.6 || h.Lengthscale[0] < 2*h.Lengthscale[1] || h.Lengthscale[2] < 2*h.Lengthscale[1] {
		t.Errorf("seed %d: lengthscales %v, only the second variable matters", seed, h.Lengthscale)
	}
}

// Fits begin and come into force at the steps that the schedule names, and are reported.
func TestRefitSchedule(t *testing.T) {
	for _, lag := range []int{1, 3} {
		s := rahboSpec(2, 2)
		s.InitialSteps, s.Model.RefitEvery, s.Model.RefitLag = 4, 6, lag
		p := fresh(t, s)
		w := story{scale: 1, shots: 5}
		for _, q := range w.tell(t, p, &s, 25, nil) {
			first := q.Step == 5
			later := (q.Step-lag-5)%6 == 0 && q.Step > 5+lag
			if (q.Fit != nil) != (first || later) {
				t.Errorf("lag %d, step %d: fit %+v", lag, q.Step, q.Fit)
			}
			if q.Fit == nil {
				continue
			}
			want := q.Step - 1
			if !first {
				want = q.Step - lag - 1
			}
			if q.Fit.Err != nil || q.Fit.Through != want || len(q.Fit.Lengthscale) != 2 || q.Fit.Outputscale <= 0 || !math.IsNaN(q.Fit.NoiseSD) {
				t.Errorf("lag %d, step %d: fit %+v, want data through step %d", lag, q.Step, q.Fit, want)
			}
		}
	}
}

// A fit that fails is reported and leaves the model as it was.
func TestFailedFitIsTold(t *testing.T) {
	s := rahboSpec(2, 2)
	s.InitialSteps = 3
	p := fresh(t, s)
	w := story{scale: 1, shots: 5}
	w.tell(t, p, &s, 6, nil)
	e := p.(*engine)
	before := e.model.Fitted
	e.model.Refits.Start()
	bad := &model.PendingFit{Task: e.model.Task(7), Due: 7, Started: true, Done: make(chan struct{}), Err: context.DeadlineExceeded}
	close(bad.Done)
	e.model.Refits.Pending = bad
	q := propose(t, p)
	if q.Fit == nil || q.Fit.Err == nil || e.model.Fitted != before {
		t.Errorf("fit %+v", q.Fit)
	}
}
