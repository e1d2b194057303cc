package policy

import (
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/labtuner/tuner/loop/policy/model"
)

var (
	gridRuns = flag.Int("policy.grid-runs", 0, "seeds of each row of TestGrids, which takes a minute; campaign 100")
	gridSeed = flag.Int("policy.grid-seed", 1000, "the first of them")
)

// grid is a problem whose knobs have steps: another function of its kind for each seed, of values within some 10.
type grid struct {
	name        string
	dims, count int // knobs, and values of each
	steps       int
	sd          float64 // of a reading
	draw        func(rng *rand.Rand, dims, count int) func(x []float64) float64
}

// hill is a bell around a place.
func hill(height, width float64, top, x []float64) float64 {
	square := 0.0
	for i, v := range x {
		square += (v - top[i]) * (v - top[i])
	}
	return height * math.Exp(-square/(2*width*width))
}

func somewhere(rng *rand.Rand, dims int) []float64 {
	out := make([]float64, dims)
	for i := range out {
		out[i] = rng.Float64()
	}
	return out
}

// twoHills are a broad hill and a higher, narrower one.
func twoHills(rng *rand.Rand, dims, _ int) func(x []float64) float64 {
	low, high := somewhere(rng, dims), somewhere(rng, dims)
	return func(x []float64) float64 { return hill(7, 0.35, low, x) + hill(10, 0.25, high, x) }
}

// oneAlone is a broad hill, and a single setting that is better than its top.
func oneAlone(rng *rand.Rand, dims, count int) func(x []float64) float64 {
	top, alone := somewhere(rng, dims), make([]float64, dims)
	for i := range alone {
		alone[i] = float64(rng.IntN(count)) / float64(count-1)
	}
	return func(x []float64) float64 {
		if slices.Equal(x, alone) {
			return 10
		}
		return hill(7, 0.35, top, x)
	}
}

// rough is a random effect of each value of each knob, and one of each setting.
func rough(rng *rand.Rand, dims, count int) func(x []float64) float64 {
	effects, own := make([]float64, dims*count), make([]float64, int(math.Pow(float64(count), float64(dims))))
	for i := range effects {
		effects[i] = 2 * rng.NormFloat64()
	}
	for i := range own {
		own[i] = 1.5 * rng.NormFloat64()
	}
	return func(x []float64) float64 {
		sum, k := 0.0, 0
		for i, v := range x {
			level := int(math.Round(v * float64(count-1)))
			sum, k = sum+effects[i*count+level], k*count+level
		}
		return sum + own[k]
	}
}

func grids() []grid {
	return []grid{
		{"two hills, 5^3", 3, 5, 120, 0.5, twoHills},
		{"two hills, 5^3, 60 steps", 3, 5, 60, 0.5, twoHills},
		{"two hills, 5^3, noise 2", 3, 5, 120, 2, twoHills},
		{"two hills, 10^3", 3, 10, 120, 0.5, twoHills},
		{"one alone, 5^3", 3, 5, 120, 0.5, oneAlone},
		{"one alone, 6^2, 60 steps", 2, 6, 60, 0.5, oneAlone},
		{"rough, 5^3", 3, 5, 120, 0.5, rough},
		{"rough, 5^3, 60 steps", 3, 5, 60, 0.5, rough},
		{"rough, 5^3, noise 2", 3, 5, 120, 2, rough},
		{"rough, 3^4, 60 steps", 4, 3, 60, 0.5, rough},
		{"rough, 5^2, noise 1", 2, 5, 120, 1, rough},
		{"rough, 3^8", 8, 3, 120, 0.5, rough},
	}
}

// spec describes a run as `tuner init` has it, of a known end.
func (g *grid) spec(seed uint64, stalled string) Spec {
	s := fixedSpec("irgp-ucb", g.dims, seed+1)
	s.Confidence, s.Design, s.InitialSteps, s.Steps, s.Stalled = "", "sobol", 10, g.steps, stalled
	s.Model = Model{Kernel: "matern52", Hyperparameters: model.HyperPriors, Transform: transformAuto}
	for i := range s.Variables {
		for k := range g.count {
			s.Variables[i].Levels = append(s.Variables[i].Levels, float64(k)/float64(g.count-1))
		}
	}
	return s
}

// gridPlay is what became of a run.
type gridPlay struct {
	regret    float64 // of the recommendation
	most      int     // readings of a setting
	untried   int     // settings
	proposals []Proposal
}

func (g *grid) play(t *testing.T, seed uint64, stalled string) gridPlay {
	t.Helper()
	return g.playWith(t, seed, g.spec(seed, stalled), 0, nil)
}

// playWith is a run of a specification whose settings are read back with an error of so much of the range, behind earlier readings.
func (g *grid) playWith(t *testing.T, seed uint64, s Spec, readback float64, earlier []Observation) (out gridPlay) {
	t.Helper()
	f := g.draw(rand.New(rand.NewPCG(seed, 5)), g.dims, g.count)
	p, rng, readings := fresh(t, s), rand.New(rand.NewPCG(seed, 77)), map[int]int{}
	for i := range earlier {
		earlier[i].Mean = f(earlier[i].X) + g.sd*rng.NormFloat64()
		readings[g.cell(earlier[i].X)]++
	}
	if err := p.(Warmer).Warm(earlier); err != nil {
		t.Fatal(err)
	}
	for step := 1; step <= g.steps; step++ {
		q, err := p.Propose(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		out.proposals = append(out.proposals, q)
		readings[g.cell(q.X)]++
		out.most = max(out.most, readings[g.cell(q.X)])
		x := slices.Clone(q.X)
		for i := range x {
			x[i] += readback * rng.NormFloat64()
		}
		observe(t, p, Observation{Step: step, X: x, Mean: f(q.X) + g.sd*rng.NormFloat64(), Variance: math.NaN(), Shots: 1, Cost: 1, Valid: true})
	}
	r, err := p.Recommend()
	if err != nil {
		t.Fatal(err)
	}
	best, x := math.Inf(-1), make([]float64, g.dims)
	cells := int(math.Pow(float64(g.count), float64(g.dims)))
	for k := range cells {
		for i := range x {
			x[i], k = float64(k%g.count)/float64(g.count-1), k/g.count
		}
		best = max(best, f(x))
	}
	out.regret, out.untried = best-f(r.X), cells-len(readings)
	return out
}

// cell numbers the settings.
func (g *grid) cell(x []float64) (k int) {
	for _, v := range x {
		k = k*g.count + int(math.Round(v*float64(g.count-1)))
	}
	return k
}

// TestGrids plays knobs that have steps, as a run does that is known to end, by default and with stalled = "repeat": how far the
// recommendation is from the best setting, and how often one setting was measured.
func TestGrids(t *testing.T) {
	for _, g := range grids() {
		if *gridRuns == 0 || !strings.Contains(g.name, *hillOnly) {
			continue
		}
		for _, stalled := range []string{stalledRepeat, ""} {
			var regrets, most, untried []float64
			wrong := 0
			for i := range *gridRuns {
				run := g.play(t, uint64(*gridSeed+i), stalled)
				regrets, most, untried = append(regrets, run.regret), append(most, float64(run.most)), append(untried, float64(run.untried))
				if run.regret > 1 {
					wrong++
				}
			}
			for _, s := range [][]float64{regrets, most, untried} {
				slices.Sort(s)
			}
			t.Logf("%-24s %-6s seeds %d to %d: regret above 1 in %d; mean %.3f, %.3f in the median, %.3f in 90 %%; most readings of one %.0f, not tried %.0f in the median",
				g.name, stalled, *gridSeed, *gridSeed+*gridRuns-1, wrong, stat.Mean(regrets, nil), quantileOf(regrets, 0.5), quantileOf(regrets, 0.9), quantileOf(most, 0.5), quantileOf(untried, 0.5))
		}
	}
}
