package drift

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/internal/policytest"
	"github.com/labtuner/tuner/loop/policy/model"
)

// heldStretch is a stretch of readings about one place: 30 before a window of
// jumpWindow, one a step.
type heldStretch struct {
	model     model.Spec
	timescale float64
	readings  []policytest.Reading
}

func newHeldStretch(rng *rand.Rand) heldStretch {
	h := heldStretch{timescale: 200}
	h.model = model.Spec{Lengthscale: []float64{0.1, 0.1}, Outputscale: 1, NoiseSD: 0.03}
	for step := 1; step <= 30+jumpWindow; step++ {
		h.readings = append(h.readings, policytest.Reading{X: []float64{0.48 + 0.04*rng.Float64(), 0.48 + 0.04*rng.Float64()}, Step: step})
	}
	return h
}

// draw takes all readings from the prior, those of the window at the time of its first.
func (h *heldStretch) draw(rng *rand.Rand) {
	n := len(h.readings)
	covariance := mat.NewSymDense(n, nil)
	frozen := func(r policytest.Reading) float64 { return float64(min(r.Step, 31)) }
	for i, a := range h.readings {
		for j := range i + 1 {
			b := h.readings[j]
			s := num.SquaredDistance(a.X, b.X) / 0.01
			covariance.SetSym(i, j, math.Exp(-s/2-math.Abs(frozen(a)-frozen(b))/h.timescale))
		}
		covariance.SetSym(i, i, 1+1e-9)
	}
	var c mat.Cholesky
	c.Factorize(covariance)
	var lower mat.TriDense
	c.LTo(&lower)
	z := mat.NewVecDense(n, nil)
	for i := range n {
		z.SetVec(i, rng.NormFloat64())
	}
	z.MulVec(&lower, z)
	for i := range h.readings {
		h.readings[i].Y = z.AtVec(i) + h.model.NoiseSD*rng.NormFloat64()
	}
}

// process has learnt the stretch.
func (h *heldStretch) process(t *testing.T) *gpcore.GP {
	t.Helper()
	g := gpcore.New(kernels.Drifting(kernels.SquaredExponential(h.model.Outputscale, h.model.Lengthscale), h.timescale), 64)
	for _, r := range h.readings {
		if err := g.Append(append(r.X[:2:2], float64(r.Step)), r.Y, h.model.NoiseSD*h.model.NoiseSD); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// The statistic by its formula, with the posterior of the readings before the window
// computed directly.
func TestJumpStatistic(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 0))
	h := newHeldStretch(rng)
	h.draw(rng)
	sum, sds := 0.0, 0.0
	for _, r := range h.readings[30:] {
		mean, sd, _ := policytest.DensePosterior(h.model, h.readings[:30], h.timescale, policytest.Reading{X: r.X, Step: 31})
		sum += (r.Y - mean) / jumpWindow
		sds += sd / jumpWindow
	}
	noise := h.model.NoiseSD * h.model.NoiseSD
	want := sum / math.Sqrt(sds*sds+noise/jumpWindow)
	all, latest, err := (&Tracker{}).residuals(model.Component{GP: h.process(t)}, 35)
	if err != nil {
		t.Fatal(err)
	}
	// Two solutions of one system of condition 1e5.
	if got := all.deviations(); math.Abs(got-want) > 1e-8 {
		t.Errorf("T = %.10f, want %.10f", got, want)
	}
	last := h.readings[34]
	mean, sd, _ := policytest.DensePosterior(h.model, h.readings[:30], h.timescale, policytest.Reading{X: last.X, Step: 31})
	if got, want := latest.deviations(), (last.Y-mean)/math.Sqrt(sd*sd+noise); math.Abs(got-want) > 1e-8 {
		t.Errorf("the last reading alone: %.10f, want %.10f", got, want)
	}
}

// Where nothing happened since the window began, T has mean zero and a variance of at most
// one, so that jumpDeviations of 4 are passed less often than once in 30000 windows.
func TestFalseAlarmRate(t *testing.T) {
	const draws, seed = 1500, 20
	rng := rand.New(rand.NewPCG(seed, 1))
	h := newHeldStretch(rng)
	var all []float64
	low := 0
	for range draws {
		h.draw(rng)
		r, _, err := (&Tracker{}).residuals(model.Component{GP: h.process(t)}, 35)
		if err != nil {
			t.Fatal(err)
		}
		v := r.deviations()
		all = append(all, v)
		if v < -2 {
			low++
		}
		if v < -jumpDeviations {
			t.Errorf("T = %g in one of %d draws", v, draws)
		}
	}
	mean, sd := stat.MeanStdDev(all, nil)
	t.Logf("seed %d: T = %.3f +- %.3f, below -2 in %d of %d", seed, mean, sd, low, draws)
	// Four standard errors: of the mean, of the standard deviation, of the binomial.
	if se := 1 / math.Sqrt(draws); math.Abs(mean) > 4*se || sd > 1+4*se/math.Sqrt2 || sd < 0.5 {
		t.Errorf("seed %d: T = %.3f +- %.3f, want 0 +- at most 1", seed, mean, sd)
	}
	if p := 0.0228; float64(low) > draws*p+4*math.Sqrt(draws*p) {
		t.Errorf("seed %d: below -2 in %d of %d, want at most %.0f", seed, low, draws, draws*p)
	}
}

// Several readings have to agree: neither one outlier nor what has recovered is a jump.
func TestWhatIsNoJump(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	h := newHeldStretch(rng)
	still := func() {
		for i := range h.readings {
			h.readings[i].Y = 1 + h.model.NoiseSD*rng.NormFloat64()
		}
	}
	for _, c := range []struct {
		name string
		drop []int // readings that lie 1 lower
		want bool
	}{
		{"nothing", nil, false},
		{"an outlier", []int{34}, false},
		{"recovered", []int{31, 32, 33}, false},
		{"three low ones", []int{32, 33, 34}, true},
		{"five low ones", []int{30, 31, 32, 33, 34}, true},
	} {
		still()
		for _, i := range c.drop {
			h.readings[i].Y--
		}
		all, latest, err := (&Tracker{}).residuals(model.Component{GP: h.process(t)}, 35)
		if err != nil {
			t.Fatal(err)
		}
		if got := jumped(&all, &latest); got != c.want {
			t.Errorf("%s: %v, want %v (T = %.1f, the last %.1f)", c.name, got, c.want, all.deviations(), latest.deviations())
		}
	}
}
