package fitting

import (
	"math"
	"slices"
	"testing"

	"github.com/labtuner/tuner/gpcore/kernels"
)

// grownProblem is a problem of 112 observations after a fit of the first 100 of them, and what that has found.
func grownProblem(t *testing.T, seed uint64) (Problem, *Earlier) {
	k := kernels.Matern52(1, []float64{0.3, 0.3, 0.3})
	all := fitProblem(k, 112, seed)
	first := all
	first.X, first.Y, first.NoiseVariance = all.X[:300], all.Y[:100], all.NoiseVariance[:100]
	r, err := new(Workspace).Fit(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	all.Kernel, all.Starts = r.Kernel, 0
	return all, &Earlier{NoiseVariance: r.NoiseVariance}
}

// A fit that begins at an earlier one ends at the same maximum as one that does not know of its noise and goes on to the
// end, in three quarters of the evaluations at most.
func TestEarlierEndsAtTheSameMaximum(t *testing.T) {
	var cold, warm int
	for seed := range uint64(20) {
		p, earlier := grownProblem(t, seed)
		fit := func(e *Earlier) Result {
			p := p
			p.Earlier = e
			r, err := new(Workspace).Fit(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		want, r := fit(nil), fit(earlier)
		cold, warm = cold+want.Evaluations, warm+r.Evaluations
		// What is left where a search ends is 0.02 where the average information is the curvature, and it is within a
		// half of that.
		if short := want.LogPosterior - r.LogPosterior; short > 0.03 || !(r.Gain >= 0) {
			t.Errorf("seed %d: %g below the maximum, gain %g", seed, short, r.Gain)
		}
	}
	t.Logf("evaluations: %d without, %d from the earlier fit", cold, warm)
	if 4*warm > 3*cold {
		t.Errorf("%d evaluations, from the earlier fit %d", cold, warm)
	}
}

// Gain is the difference to the log posterior of the values that the fit began with: of the process with a mean that is
// given, where one is, which is the process of zero mean of what is left of Y, and the prior of that mean.
func TestGain(t *testing.T) {
	p, earlier := grownProblem(t, 3)
	for _, mean := range []*float64{nil, new(float64)} {
		before, y := p, slices.Clone(p.Y)
		before.Earlier, p.Earlier = &Earlier{NoiseVariance: earlier.NoiseVariance}, &Earlier{NoiseVariance: earlier.NoiseVariance, Mean: mean}
		prior := 0.0
		if mean != nil {
			*mean = 0.7
			for i := range y {
				y[i] -= *mean
			}
			before.Y, before.MeanSD, prior = y, 0, -0.5**mean**mean
		}
		r, err := new(Workspace).Fit(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		e, err := newEvidence(before, new(Workspace))
		if err != nil {
			t.Fatal(err)
		}
		// The posterior is of order 100, and sums of a hundred squares round.
		if want := r.LogPosterior - e.value(e.start()) - prior; math.Abs(r.Gain-want) > 1e-9 || mean != nil && want < 0.1 {
			t.Errorf("mean %v: gain %g, want %g", mean, r.Gain, want)
		}
	}
}

// What an earlier fit has found may be wrong: the maximum is found all the same.
func TestEarlierThatIsWrong(t *testing.T) {
	p, _ := grownProblem(t, 7)
	want, err := new(Workspace).Fit(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	for name, e := range map[string]*Earlier{
		"nothing known": {}, "no noise": {NoiseVariance: 1e-300}, "much noise": {NoiseVariance: 1e6},
	} {
		p := p
		p.Earlier = e
		r, err := new(Workspace).Fit(t.Context(), p)
		// Far from the maximum the average information is none of the curvature there: within a third of a standard
		// deviation of one hyperparameter.
		if err != nil || r.LogPosterior < want.LogPosterior-0.05 {
			t.Errorf("%s: %v, %g below the maximum after %d evaluations", name, err, want.LogPosterior-r.LogPosterior, r.Evaluations)
		}
	}
}
