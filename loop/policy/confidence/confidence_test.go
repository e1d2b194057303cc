package confidence

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/loop/policy/model"
)

// confidenceOracle has the papers' formulas and the moments of what they draw.
type confidenceOracle struct {
	D, Size             int
	T, Delta, Heuristic float64
	SrinivasFinite      float64    `json:"srinivas_finite"`
	SrinivasContinuous  float64    `json:"srinivas_continuous"`
	SrinivasAllPriors   float64    `json:"srinivas_all_priors"`
	SrinivasExpected    float64    `json:"srinivas_expected"`
	IRGPProbable        float64    `json:"irgp_high_probability"`
	IRGPFinite          float64    `json:"irgp_finite"`
	IRGPContinuous      float64    `json:"irgp_continuous"`
	IRGPTheory          float64    `json:"irgp_theory"`
	RGPf                [2]float64 `json:"rgp_finite"`
	RGPc                [2]float64 `json:"rgp_continuous"`
}

// smooth is a posterior that has the lengthscale 0.2 that the oracle takes.
func smooth(d int) func() model.View {
	l := make([]float64, d)
	for i := range l {
		l[i] = 0.2 * float64(i+1) // the least counts
	}
	v := model.View{{GP: gpcore.New(kernels.SquaredExponential(3, l), 2), Scale: 1, Weight: 1}}
	return func() model.View { return v }
}

func TestConfidenceFormulas(t *testing.T) {
	for _, o := range confidences(t) {
		const initial = 6
		count, m, step := counter{initial}, smooth(o.D), int(o.T)+initial
		check := func(what string, got, want float64) {
			t.Helper()
			if math.Abs(got-want) > 1e-12*(1+math.Abs(want)) { // a few roundings
				t.Errorf("d %d, |X| %d, t %g: %s %.15g, want %.15g", o.D, o.Size, o.T, what, got, want)
			}
		}
		check("heuristic", heuristic{count, o.D}.Beta(step), o.Heuristic)
		check("srinivas, finite", srinivas{counter: count, dims: o.D, finite: o.Size, delta: o.Delta, belief: m}.Beta(step), o.SrinivasFinite)
		check("srinivas", srinivas{counter: count, dims: o.D, delta: o.Delta, belief: m}.Beta(step), o.SrinivasContinuous)
		for form, want := range map[string]float64{SettingAllPriors: o.SrinivasAllPriors, SettingExpected: o.SrinivasExpected, SettingFinite: o.SrinivasFinite} {
			made := New(Spec{Name: Srinivas, Form: form, Initial: initial, Dims: o.D, Finite: o.Size, Delta: o.Delta, Priors: 6}, &model.Model{})
			check("srinivas, "+form, made.Beta(step), want)
		}
		check("irgp's shift, high probability", irgp{counter: count, dims: o.D, finite: o.Size, form: SettingHighProbability, delta: o.Delta}.shift(step), o.IRGPProbable)
		check("irgp's shift, finite", irgp{counter: count, dims: o.D, finite: o.Size, belief: m}.shift(step), o.IRGPFinite)
		check("irgp's shift", irgp{counter: count, dims: o.D, belief: m}.shift(step), o.IRGPContinuous)
		check("irgp's shift, theory", irgp{counter: count, dims: o.D, form: SettingTheory, belief: m}.shift(step), o.IRGPTheory)
		check("irgp's shift, wide", irgp{counter: count, dims: o.D, form: SettingWide}.shift(step), 4*o.IRGPContinuous)
		check("rgp's shape, finite", rgp{heuristic: heuristic{count, o.D}, finite: o.Size}.shape(step), o.RGPf[0])
		check("rgp's shape", rgp{heuristic: heuristic{count, o.D}}.shape(step), o.RGPc[0])
	}
	// Steps of the initial design, which may go on where data are missing, count as t = 1.
	if c := (counter{6}); c.t(3) != 1 || c.t(7) != 1 || c.t(8) != 2 {
		t.Errorf("t of steps 3, 7, 8 after six initial ones: %g, %g, %g", c.t(3), c.t(7), c.t(8))
	}
}

// drawn is the mean and the standard deviation of beta^2 over many steps, its least
// value, and the number of draws.
func drawn(c Parameter) (mean, sd, least float64, n int) {
	const draws = 20000
	least = math.Inf(1)
	var z [draws]float64
	for i := range z {
		b := c.Beta(i + 1)
		z[i] = b * b
		mean += z[i] / draws
		least = min(least, z[i])
	}
	for _, v := range z {
		sd += (v - mean) * (v - mean) / (draws - 1)
	}
	return mean, math.Sqrt(sd), least, draws
}

// IRGP's zeta is its shift plus an exponential variable of mean 2, drawn anew for each
// step: mean, standard deviation and least value within five standard errors.
func TestIRGPDistribution(t *testing.T) {
	const seed, d = 6, 3
	for _, c := range []irgp{{dims: d, seed: seed}, {dims: d, finite: 1000, seed: seed}} {
		shift := c.shift(1)
		mean, sd, least, n := drawn(c)
		if e := (mean - shift - 2) / (2 / math.Sqrt(float64(n))); math.Abs(e) > 5 {
			t.Errorf("seed %d: mean off by %.1f standard errors", seed, e)
		}
		// The fourth central moment of Exp(mean 2) is 9*16, so a square has SD sqrt(128).
		if e := (sd*sd - 4) / math.Sqrt(128.0/float64(n)); math.Abs(e) > 5 {
			t.Errorf("seed %d: variance off by %.1f standard errors", seed, e)
		}
		if least < shift-1e-9 || least > shift+0.01 { // expected least: 2/n above the shift
			t.Errorf("seed %d: least value %g, shift %g", seed, least, shift)
		}
		other := c
		other.seed++
		if c.Beta(4) != c.Beta(4) || c.Beta(4) == other.Beta(4) {
			t.Error("the draw is not a function of seed and step")
		}
	}
}

// RGP's zeta has the moments of the gamma distribution that scipy names. All draws are
// at one t: the count starts after as many steps as there are.
func TestRGPDistribution(t *testing.T) {
	const seed, late = 8, 1 << 20
	for _, o := range confidences(t) {
		if o.T != 1 {
			continue
		}
		for finite, want := range map[int][2]float64{o.Size: o.RGPf, 0: o.RGPc} {
			mean, sd, _, n := drawn(rgp{heuristic: heuristic{counter{late}, o.D}, finite: finite, seed: seed})
			if e := (mean - want[0]) / want[1] * math.Sqrt(float64(n)); math.Abs(e) > 5 {
				t.Errorf("seed %d, |X| %d: mean off by %.1f standard errors", seed, finite, e)
			}
			// The excess kurtosis of a gamma distribution is 6/shape.
			error := math.Sqrt((2 + 6/want[0]) / float64(n)) // relative, of the variance
			if e := (sd*sd/(want[1]*want[1]) - 1) / error; math.Abs(e) > 5 {
				t.Errorf("seed %d, |X| %d: variance off by %.1f standard errors", seed, finite, e)
			}
		}
	}
	if b := (rgp{heuristic: heuristic{counter{0}, 1}, finite: 1, seed: seed}).Beta(1); b != 0 {
		t.Errorf("one setting at t = 1: %g, want 0", b)
	}
}

// Bands of figure 1 of Takeno et al. (arXiv 2409.00979): of 1000 settings, 95 of 100 draws lie between
// the quantiles of the exponential and the gamma distribution. IRGP's do not move with t.
func TestBands(t *testing.T) {
	const settings, seeds = 1000, 4000
	for step, want := range map[int]struct{ expected, srinivas, mean, low, high float64 }{
		1: {12.0, 20.8, 17.0, 9.9, 26.0}, 10: {21.2, 30.0, 28.4, 18.9, 39.8}, 100: {30.4, 39.2, 39.8, 28.4, 53.0}, 200: {33.2, 42.0, 43.2, 31.3, 57.0},
	} {
		inside := func(c func(seed uint64) Parameter, low, high float64) float64 {
			n := 0
			for seed := range uint64(seeds) {
				if b := c(seed).Beta(step); b*b >= low && b*b <= high {
					n++
				}
			}
			return float64(n) / seeds
		}
		// Five standard errors of a share of 0.95, and quantiles that are rounded to 0.1.
		const off = 5*0.0035 + 0.005
		if s := inside(func(seed uint64) Parameter { return irgp{dims: 3, finite: settings, seed: seed} }, 12.48, 19.81); math.Abs(s-0.95) > off {
			t.Errorf("t %d: %.3f of IRGP's draws in its band", step, s)
		}
		gamma := func(seed uint64) Parameter {
			return rgp{heuristic: heuristic{counter{0}, 3}, finite: settings, seed: seed}
		}
		if s := inside(gamma, want.low, want.high); math.Abs(s-0.95) > off {
			t.Errorf("t %d: %.3f of RGP's draws in %g to %g", step, s, want.low, want.high)
		}
		for form, zeta := range map[string]float64{SettingExpected: want.expected, SettingFinite: want.srinivas} {
			b := New(Spec{Name: Srinivas, Form: form, Dims: 3, Finite: settings, Delta: 0.05}, &model.Model{}).Beta(step)
			if math.Abs(b*b-zeta) > 0.05 {
				t.Errorf("t %d: GP-UCB's parameter, %s, is %.2f, want %.1f", step, form, b*b, zeta)
			}
		}
	}
}

// confidences are what numpy and scipy say: see scripts/policy_oracle.py.
func confidences(t *testing.T) []confidenceOracle {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "testdata", "oracle.json"))
	if err != nil {
		t.Fatal(err)
	}
	var o struct{ Confidences []confidenceOracle }
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatal(err)
	}
	if len(o.Confidences) == 0 {
		t.Fatal("the oracle has no confidence parameters")
	}
	return o.Confidences
}
