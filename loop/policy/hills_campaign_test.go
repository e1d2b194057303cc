package policy

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/labtuner/tuner/loop/policy/model"
)

var (
	hillRuns = flag.Int("policy.hill-runs", 0, "seeds of each row of TestHills, which takes minutes; campaign 100")
	hillSeed = flag.Int("policy.hill-seed", 1000, "the first of them")
	hillOnly = flag.String("policy.hill-only", "", "only problems whose name contains this")
)

// hilly is a problem with settings that look best and are not.
type hilly struct {
	name   string
	dims   int
	steps  int
	shots  int
	levels []float64 // of the first variable
	f      func(x []float64) float64
	sd     func(x []float64) float64
	risk   float64
	best   float64 // of f - risk sd^2, and by how much it exceeds that of the middle one of many settings
	spread float64
	wrong  float64 // regret from which on a run has ended on a wrong hill; 0: there is none
}

func (h *hilly) worth(x []float64) float64 { return h.f(x) - h.risk*h.sd(x)*h.sd(x) }

// even is noise that is the same everywhere.
func even(sd float64) func([]float64) float64 { return func([]float64) float64 { return sd } }

// levelled has six settings of a discrete knob, each with a hill of two others, of another place and height.
func levelled(x []float64) float64 {
	l := int(math.Round(5 * x[0]))
	height, u, v := []float64{6, 9, 5, 7, 10, 4}[l], []float64{0.2, 0.3, 0.8, 0.5, 0.75, 0.6}[l], []float64{0.7, 0.3, 0.2, 0.9, 0.6, 0.5}[l]
	width := 0.3
	if l == 4 {
		width = 0.2
	}
	return height * math.Exp(-((x[1]-u)*(x[1]-u)+(x[2]-v)*(x[2]-v))/(2*width*width))
}

// ringed is a ridge all around, a little higher on one side, whose noise is small on one side only.
func ringed(x []float64) float64 {
	off := (math.Hypot(x[0]-0.5, x[1]-0.5) - 0.3) / 0.15
	return math.Exp(-off*off) * (1 + 0.3*math.Cos(3*x[0]))
}

func ringedSD(x []float64) float64 {
	s := math.Sin(math.Atan2(x[1]-0.5, x[0]-0.5)/2 - 0.6)
	return 0.05 + 0.4*s*s
}

func hills() []hilly {
	return []hilly{
		{name: "decoy", dims: 3, steps: 120, shots: 1, f: decoy, sd: even(1), wrong: 10},
		{name: "decoy, 60 steps", dims: 3, steps: 60, shots: 1, f: decoy, sd: even(1), wrong: 10},
		{name: "decoy, no noise", dims: 3, steps: 120, shots: 1, f: decoy, sd: even(0), wrong: 10},
		{name: "decoy, risk", dims: 3, steps: 120, shots: 4, f: decoy, sd: func(x []float64) float64 { return 0.5 + 2*x[2] }, risk: 0.5, wrong: 10},
		{name: "levels", dims: 3, steps: 120, shots: 1, levels: []float64{0, 0.2, 0.4, 0.6, 0.8, 1}, f: levelled, sd: even(0.5), wrong: 0.8},
		{name: "levels, 200 steps", dims: 3, steps: 200, shots: 1, levels: []float64{0, 0.2, 0.4, 0.6, 0.8, 1}, f: levelled, sd: even(0.5), wrong: 0.8},
		{name: "ring, risk", dims: 2, steps: 60, shots: 4, f: ringed, sd: ringedSD, risk: 2, wrong: 0.2},
		{name: "Branin, noise 1", dims: 2, steps: 45, shots: 1, f: branin(0).f, sd: even(1)},
		{name: "Hartmann 3", dims: 3, steps: 60, shots: 1, f: hartmann3, sd: even(0.05)},
		{name: "bowl of 10", dims: 10, steps: 60, shots: 1, f: dish, sd: even(0.02)},
	}
}

// alike is the share of a problem's spread below which two regrets are alike.
const alike = 1e-3

// TestHills plays problems that deceive a model, and smooth ones beside them, as a run does that is known to end, and as
// papers have it: how many end on a wrong hill, the regret of the recommendation, and how far behind the best
// setting visited it truly is, in posterior standard deviations.
func TestHills(t *testing.T) {
	var ratios []float64
	for _, h := range hills() {
		if *hillRuns == 0 || !strings.Contains(h.name, *hillOnly) {
			continue
		}
		h.measure()
		var regrets [2][]float64
		for k, words := range []string{"papers'", "default"} {
			var gaps []float64
			wrong := 0
			for i := range *hillRuns {
				regret, gap := h.play(t, uint64(*hillSeed+i), k == 1)
				regrets[k], gaps = append(regrets[k], regret), append(gaps, gap)
				if h.wrong > 0 && regret > h.wrong {
					wrong++
				}
			}
			sorted := slices.Sorted(slices.Values(regrets[k]))
			slices.Sort(gaps)
			t.Logf("%-16s %-8s seeds %d to %d, %d steps: %d on a wrong hill; regret %.4f in the median, %.4f in 90 %%; gap %.2f and %.2f sd",
				h.name, words, *hillSeed, *hillSeed+*hillRuns-1, h.steps, wrong, quantileOf(sorted, 0.5), quantileOf(sorted, 0.9), quantileOf(gaps, 0.5), quantileOf(gaps, 0.9))
		}
		var own []float64
		for i, before := range regrets[0] {
			own = append(own, math.Log((max(regrets[1][i], 0)+alike*h.spread)/(max(before, 0)+alike*h.spread)))
		}
		t.Logf("%-16s default over papers': %s", h.name, ratioWords(own))
		ratios = append(ratios, own...)
	}
	if len(ratios) > 0 {
		t.Logf("all: %s", ratioWords(ratios))
	}
}

// measure searches the highest setting at random, then around the best.
func (h *hilly) measure() {
	const many = 100000
	rng := rand.New(rand.NewPCG(1, 2))
	var found []float64
	all := make([]float64, 0, many)
	h.best = math.Inf(-1)
	for k := range 2 * many {
		x := make([]float64, h.dims)
		for j := range x {
			switch at := &x[j]; {
			case j == 0 && len(h.levels) > 0:
				if *at = h.levels[rng.IntN(len(h.levels))]; k >= many {
					*at = found[0]
				}
			case k < many:
				*at = rng.Float64()
			default:
				*at = min(max(found[j]+0.03*rng.NormFloat64()*math.Pow(1e-4, float64(k-many)/many), 0), 1)
			}
		}
		v := h.worth(x)
		if k < many {
			all = append(all, v)
		}
		if v > h.best {
			h.best, found = v, x
		}
	}
	slices.Sort(all)
	h.spread = h.best - all[many/2]
}

// play is the regret of a run's recommendation, and by how much the best setting visited is truly better, in posterior
// standard deviations of the recommended one.
func (h *hilly) play(t *testing.T, seed uint64, ends bool) (regret, gap float64) {
	t.Helper()
	s := fixedSpec("irgp-ucb", h.dims, seed+1)
	if h.risk > 0 {
		s.Kind, s.Risk = "rahbo", h.risk
	}
	s.Confidence, s.Beta, s.Design, s.InitialSteps, s.Model = "irgp", 2, "sobol", 10, Model{Kernel: "matern52", Hyperparameters: model.HyperPriors, Transform: transformAuto}
	s.Variables[0].Levels = h.levels
	if ends {
		s.Steps = h.steps
	}
	p, rng := fresh(t, s), rand.New(rand.NewPCG(seed, 77))
	visited := math.Inf(-1)
	for step := 1; step <= h.steps; step++ {
		q, err := p.Propose(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		visited = max(visited, h.worth(q.X))
		observe(t, p, h.reading(step, q.X, rng))
	}
	r, err := p.Recommend()
	if err != nil {
		t.Fatal(err)
	}
	return h.best - h.worth(r.X), (visited - h.worth(r.X)) / r.SD
}

// reading is a step's outcome.
func (h *hilly) reading(step int, x []float64, rng *rand.Rand) Observation {
	o := Observation{Step: step, X: x, Variance: math.NaN(), Shots: h.shots, Cost: 1, Valid: true}
	shots := make([]float64, h.shots)
	for i := range shots {
		shots[i] = h.f(x) + h.sd(x)*rng.NormFloat64()
		o.Mean += shots[i] / float64(h.shots)
	}
	if h.shots > 1 {
		o.Variance = stat.Variance(shots, nil)
	}
	return o
}

func quantileOf(sorted []float64, share float64) float64 {
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}

// ratioWords says the geometric mean of ratios by their logarithms, with the upper 95 % bound of their mean.
func ratioWords(logs []float64) string {
	mean, sd := stat.MeanStdDev(logs, nil)
	return fmt.Sprintf("%.2f times the regret, at most %.2f at 95 %% (%d pairs)", math.Exp(mean), math.Exp(mean+1.645*sd/math.Sqrt(float64(len(logs)))), len(logs))
}
