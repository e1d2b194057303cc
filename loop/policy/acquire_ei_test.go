package policy

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/sampling"
	"github.com/labtuner/tuner/loop/policy/acquisition"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
)

// subsetsSpec has three variables, control sets {0}, {0,1} and {0,1,2}, given
// hyperparameters and truncated normal random variables.
func subsetsSpec(kind string, seed uint64) Spec {
	s := cvsSpec()
	s.Kind, s.Schedule, s.Seed = kind, "", seed
	s.Model = model.Spec{Kernel: "se", Hyperparameters: "fixed", Lengthscale: []float64{.3, .4, .5}, Outputscale: 1, NoiseSD: 0.1}
	for i := range s.Variables {
		s.Variables[i].Random = space.Distribution{Kind: space.TruncatedNormal, Mean: 0.5, SD: 0.15}
	}
	return s
}

// allOptions prepares a decision among all control sets after n observations of one shot.
func allOptions(t *testing.T, s Spec, n int) (*decision, []acquisition.Option) {
	t.Helper()
	return optionsAfter(t, s, n, 1)
}

// optionsAfter does so after n observations of so many shots.
func optionsAfter(t *testing.T, s Spec, n, shots int) (*decision, []acquisition.Option) {
	t.Helper()
	p := fresh(t, s)
	fill(t, p, s, n, shots)
	e := p.(*engine)
	if err := e.model.Refresh(); err != nil {
		t.Fatal(err)
	}
	sets := make([]int, len(s.ControlSets))
	for i := range sets {
		sets[i] = i
	}
	d := prepared(t, e, n+1, sets)
	d.Beta, d.NoiseBeta = s.Beta, 0
	options, err := e.acquisition.Options(d.Decision)
	if err != nil {
		t.Fatal(err)
	}
	return d, options
}

// averaged is the mean over a fine grid of quantiles of the random variables of g at
// all variables, controlled ones at c.
func averaged(d *decision, set int, c []float64, g func(x []float64) float64) float64 {
	const side = 60 // midpoints of quantiles: error about 1e-4 of smooth functions
	sum, cells := 0.0, 0.0
	averagedOver(d, set, c, side, func(x []float64) { sum, cells = sum+g(x), cells+1 })
	return sum / cells
}

// momentsAt is the posterior mean and standard deviation at one point.
func momentsAt(g *gpcore.GP, x []float64) (mu, sd float64) {
	var m, v [1]float64
	g.Predict(m[:], v[:], x)
	return m[0], math.Sqrt(v[0])
}

// integral is that of g by the trapezium rule, of spectral accuracy where g vanishes
// smoothly at both ends.
func integral(low, high float64, g func(float64) float64) float64 {
	const cells = 4000
	h, sum := (high-low)/cells, 0.5*(g(low)+g(high))
	for k := 1; k < cells; k++ {
		sum += g(low + float64(k)*h)
	}
	return h * sum
}

// Expected improvement is the integral of the improvement over the posterior, averaged
// over the random variables; the threshold is the best posterior mean of what was
// played, not a reading.
func TestImprovementAgainstQuadrature(t *testing.T) {
	d, options := allOptions(t, subsetsSpec("ei-psq-per-cost", 3), 12)
	g := d.Criterion.Model.GP
	best := math.Inf(-1)
	for _, r := range d.Criterion.Model.Data.Rows {
		dom := d.Domains[r.Set]
		c := make([]float64, dom.Size())
		dom.Project(c, r.X)
		mu, _ := momentsAt(g, r.X) // the full set counts what others reached
		best = max(best, mu, averaged(d, r.Set, c, func(x []float64) float64 { mu, _ := momentsAt(g, x); return mu }))
	}
	for i, c := range [][]float64{{0.3}, {0.3, 0.6}, {0.3, 0.6, 0.9}} {
		want := averaged(d, i, c, func(x []float64) float64 {
			mu, sd := momentsAt(g, x)
			low := max(best, mu-10*sd) // the improvement has a kink at best
			return integral(low, max(mu+10*sd, low), func(f float64) float64 {
				return (f - best) * num.NormalDensity((f-mu)/sd) / sd
			})
		})
		got := valuesAt(options[i], c)[0]
		if math.Abs(got-want) > 0.01*want { // the rule's nodes are few; their threshold too
			t.Errorf("set %d: %.6g, quadrature says %.6g", i, got, want)
		}
		slopes(t, options[i], c)
		for _, perCost := range []bool{false, true} { // a logarithm, over the cost
			o, cost := d.ForSearch(options[i], nil), 1.0
			if perCost {
				o = d.ForSearch(options[i], d.Costs)
				cost = []float64{.1, .2, 1}[i]
			}
			if left := o.InUserUnits(d.Criterion.Model.Active, valuesAt(o, c)[0]); math.Abs(left-got/cost) > 1e-9*got/cost {
				t.Errorf("set %d leaves as %g, want %g", i, left, got/cost)
			}
			slopes(t, o, c)
		}
	}
}

// Far below the best, where an improvement is no number any more, the search still climbs: after a reading
// of a thousand prior standard deviations the value of the full set is the asymptotic series' (Abramowitz
// and Stegun, 26.2.12; the first term left out is 1e-8 of it), and slopes are those of the values.
func TestImprovementFarBelowTheBest(t *testing.T) {
	for _, name := range []string{acquireEI, acquirePIMS, acquireNEI} {
		s := subsetsSpec("ei-psq-per-cost", 3)
		s.Acquisition = name
		p := fresh(t, s)
		fill(t, p, s, 12, 1)
		observe(t, p, Observation{Step: 13, ControlSet: 2, X: []float64{0.5, 0.5, 0.5}, Mean: 1000, Variance: math.NaN(), Shots: 1, Valid: true})
		e := p.(*engine)
		if err := e.model.Refresh(); err != nil {
			t.Fatal(err)
		}
		d := prepared(t, e, 14, []int{0, 1, 2})
		options, err := e.acquisition.Options(d.Decision)
		if err != nil {
			t.Fatal(err)
		}
		best := math.Inf(-1)
		for _, r := range e.model.Data.Rows {
			mu, _ := momentsAt(e.model.GP, r.X)
			best = max(best, mu)
		}
		for i, c := range [][]float64{{0.05}, {0.95, 0.05}, {0.9, 0.1, 0.9}} {
			o := d.ForSearch(options[i], nil)
			got := valuesAt(o, c)[0]
			if !(got < 0 && got > -1e7) || i == 2 && got > -745 { // where numbers end
				t.Errorf("%s: set %d has %g there", name, i, got)
			}
			if name != acquireNEI {
				slopes(t, o, c)
			}
			if name == acquireEI && i == 2 {
				mu, sd := momentsAt(e.model.GP, c)
				z := (mu - best) / sd
				want := math.Log(sd) - z*z/2 - math.Log(2*math.Pi)/2 - 2*math.Log(-z) + math.Log1p(-3/(z*z)+15/math.Pow(z, 4))
				if math.Abs(got-want) > 1e-6 {
					t.Errorf("set %d: %.10g, the series gives %.10g", i, got, want)
				}
			}
		}
	}
}

// The improvement of the expected value against draws of the joint posterior at a grid of the random
// variables: mean over draws of max(mean over the grid - value at the best point, 0).
func TestImprovementOfExpectationAgainstDraws(t *testing.T) {
	s := subsetsSpec("ei-psq-per-cost", 3)
	s.Acquisition = acquireNEI
	d, options := allOptions(t, s, 12)
	g := d.Criterion.Model.GP
	var star []float64
	best := math.Inf(-1)
	for _, r := range d.Criterion.Model.Data.Rows {
		if mu, _ := momentsAt(g, r.X); mu > best {
			best, star = mu, r.X
		}
	}
	rng := rand.New(rand.NewPCG(9, 1))
	for i, c := range [][]float64{{0.3}, {0.3, 0.6}, {0.3, 0.6, 0.9}} {
		var points []float64
		cells := 0
		averagedOver(d, i, c, 12, func(x []float64) { // midpoints of quantiles
			points = append(points, x...)
			cells++
		})
		joint, err := sampling.NewJoint(g, append(points, star...))
		if err != nil {
			t.Fatal(err)
		}
		const draws = 40000
		f, sum, squares := make([]float64, cells+1), 0.0, 0.0
		for range draws {
			joint.Draw(rng, f)
			mean := 0.0
			for _, v := range f[:cells] {
				mean += v / float64(cells)
			}
			gain := max(mean-f[cells], 0)
			sum, squares = sum+gain/draws, squares+gain*gain/draws
		}
		got, error := valuesAt(options[i], c)[0], math.Sqrt(squares/draws)
		if math.Abs(got-sum) > 5*error+0.01*sum { // five standard errors, and the rules' nodes
			t.Errorf("set %d: %.6g, draws say %.6g (%.2g)", i, got, sum, error)
		}
	}
	at := make([]float64, 3)
	d.Domains[2].Project(at, star)
	if v := valuesAt(options[2], at)[0]; v > 1e-6 {
		t.Errorf("at the best point itself %g", v)
	}
}

// averagedOver visits a grid of quantiles of the random variables with controlled ones at c.
func averagedOver(d *decision, set int, c []float64, side int, visit func(x []float64)) {
	dom := d.Domains[set]
	x := make([]float64, len(dom.Axes))
	for j, i := range dom.Coords {
		x[i] = c[j]
	}
	for cell := range int(math.Pow(float64(side), float64(len(dom.Random)))) {
		k := cell
		for _, i := range dom.Random {
			x[i] = d.Criterion.Random.Marginals[i].Quantile((float64(k%side) + 0.5) / float64(side))
			k /= side
		}
		visit(x)
	}
}
