package policy

import (
	"math"
	"testing"

	"github.com/labtuner/tuner/gpcore"
)

// confidenceOracle has the papers' formulas and the moments of what they draw.
type confidenceOracle struct {
	D, Size             int
	T, Delta, Heuristic float64
	SrinivasFinite      float64    `json:"srinivas_finite"`
	SrinivasContinuous  float64    `json:"srinivas_continuous"`
	IRGPFinite          float64    `json:"irgp_finite"`
	IRGPContinuous      float64    `json:"irgp_continuous"`
	IRGPTheory          float64    `json:"irgp_theory"`
	RGPf                [2]float64 `json:"rgp_finite"`
	RGPc                [2]float64 `json:"rgp_continuous"`
}

// smoothModel has the lengthscale 0.2 that the oracle takes.
func smoothModel(d int) *model {
	l := make([]float64, d)
	for i := range l {
		l[i] = 0.2 * float64(i+1) // the least counts
	}
	return &model{f: gpcore.New(gpcore.SquaredExponential(3, l), 2)}
}

func TestConfidenceFormulas(t *testing.T) {
	for _, o := range numbers(t).Confidences {
		const initial = 6
		count, m, step := counter{initial}, smoothModel(o.D), int(o.T)+initial
		check := func(what string, got, want float64) {
			t.Helper()
			if math.Abs(got-want) > 1e-12*(1+math.Abs(want)) { // a few roundings
				t.Errorf("d %d, |X| %d, t %g: %s %.15g, want %.15g", o.D, o.Size, o.T, what, got, want)
			}
		}
		check("heuristic", heuristic{count, o.D}.beta(step), o.Heuristic)
		check("srinivas, finite", srinivas{count, o.D, o.Size, o.Delta, m}.beta(step), o.SrinivasFinite)
		check("srinivas", srinivas{count, o.D, 0, o.Delta, m}.beta(step), o.SrinivasContinuous)
		check("irgp's shift, finite", irgp{counter: count, dims: o.D, finite: o.Size, model: m}.shift(step), o.IRGPFinite)
		check("irgp's shift", irgp{counter: count, dims: o.D, model: m}.shift(step), o.IRGPContinuous)
		check("irgp's shift, theory", irgp{counter: count, dims: o.D, form: settingTheory, model: m}.shift(step), o.IRGPTheory)
		check("irgp's shift, wide", irgp{counter: count, dims: o.D, form: settingWide}.shift(step), 4*o.IRGPContinuous)
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
func drawn(c confidence) (mean, sd, least float64, n int) {
	const draws = 20000
	least = math.Inf(1)
	var z [draws]float64
	for i := range z {
		b := c.beta(i + 1)
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
		if c.beta(4) != c.beta(4) || c.beta(4) == other.beta(4) {
			t.Error("the draw is not a function of seed and step")
		}
	}
}

// RGP's zeta has the moments of the gamma distribution that scipy names. All draws are
// at one t: the count starts after as many steps as there are.
func TestRGPDistribution(t *testing.T) {
	const seed, late = 8, 1 << 20
	for _, o := range numbers(t).Confidences {
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
	if b := (rgp{heuristic: heuristic{counter{0}, 1}, finite: 1, seed: seed}).beta(1); b != 0 {
		t.Errorf("one setting at t = 1: %g, want 0", b)
	}
}

// RAHBO's Lemma 1 of the objective and of the noise against determinants.
func TestLemma1AgainstNumpy(t *testing.T) {
	o := numbers(t)
	for name, r := range map[string]riskOracle{"log": o.Log, "raw": o.Raw} {
		e := riskEngine(t, name, r, func(s *Spec) { s.Confidence, s.Delta, s.NormBound = "data", r.Delta, r.Norm })
		// Determinants of 14 rows with a condition number near 100.
		if got := e.confidence.beta(15); math.Abs(got-r.Lemma) > 1e-10*r.Lemma {
			t.Errorf("%s: %.12f, want %.12f", name, got, r.Lemma)
		}
		if got := noiseBeta(e.confidence, 15); math.Abs(got-r.NoiseLemma) > 1e-10*r.NoiseLemma {
			t.Errorf("%s, noise: %.12f, want %.12f", name, got, r.NoiseLemma)
		}
	}
}

// The setting follows the domain unless it is named.
func TestConfidenceSettings(t *testing.T) {
	listed := rahboSpec(2, 1)
	listed.Candidates = [][]float64{{0, 0}, {1, 0}, {1, 1}, {1, 1}}
	named := listed
	named.ConfidenceSetting = "continuous"
	levels := rahboSpec(2, 1)
	for i := range levels.Variables {
		levels.Variables[i].Levels = []float64{0, 0.5, 1}
	}
	levelled := levels
	levelled.ConfidenceSetting = "finite"
	for _, c := range []struct {
		name   string
		spec   Spec
		finite int
	}{{"box", rahboSpec(2, 1), 0}, {"candidates", listed, 3}, {"candidates, continuous", named, 0}, {"levels", levels, 0}, {"levels, finite", levelled, 9}} {
		if got := fresh(t, c.spec).(*engine).confidence.(irgp).finite; got != c.finite {
			t.Errorf("%s: |X| = %d, want %d", c.name, got, c.finite)
		}
	}
}

func TestNewRefusesConfidences(t *testing.T) {
	set := func(confidence, setting string) func(*Spec) {
		return func(s *Spec) { s.Confidence, s.ConfidenceSetting = confidence, setting }
	}
	refused(t, []refusal{
		{`confidence "bold" is not known: use one of constant, heuristic, irgp, rgp, srinivas, data`, rahboSpec(2, 1), set("bold", "")},
		{`delta 1 must lie between 0 and 1`, rahboSpec(2, 1), func(s *Spec) { s.Delta = 1 }},
		{`delta -0.1 must lie between 0 and 1`, rahboSpec(2, 1), func(s *Spec) { s.Delta = -0.1 }},
		{`delta NaN must lie between 0 and 1`, rahboSpec(2, 1), func(s *Spec) { s.Delta = math.NaN() }},
		{`norm bound -1 must be finite`, rahboSpec(2, 1), func(s *Spec) { s.NormBound = -1 }},
		{`norm bound +Inf must be finite`, rahboSpec(2, 1), func(s *Spec) { s.NormBound = math.Inf(1) }},
		{`confidence setting "finite" has no meaning for confidence "constant": leave it out`, rahboSpec(2, 1), set("constant", "finite")},
		{`setting of confidence "rgp" "theory" is not known: use one of finite, continuous`, rahboSpec(2, 1), set("rgp", "theory")},
		{`confidence setting "finite" needs a finite domain: one control set that holds every variable, and candidates`, rahboSpec(2, 1), set("srinivas", "finite")},
		{`confidence setting "finite" needs a finite domain`, cvsSpec(), set("irgp", "finite")},
	})
}
