package policy

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/gpcore/kernels"
	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/loop/policy/schedule"
	"github.com/labtuner/tuner/loop/policy/space"
)

// runningSpec is the specification of a run of a kind in d variables, without fits after the first.
func runningSpec(kind string, d int) Spec {
	s := rahboSpec(d, 1)
	s.Kind, s.Model.RefitEvery = kind, math.MaxInt
	s.Model.Capacity = 1024
	for i := range s.Variables {
		s.Variables[i].Start = 0.5
	}
	if kind != "rahbo" {
		s.Risk = 0
	}
	switch kind {
	case "hp-gp-ts":
		s.Model.Hyperparameters = "priors"
		fallthrough
	case "mes":
		s.Confidence, s.VarianceModel = "", ""
	}
	return s
}

// setsSpec is that of a kind that chooses among all seven control sets of three variables.
func setsSpec(kind string) Spec {
	if kind == "ucb-cvs auto" {
		return sharedSpec()
	}
	s := runningSpec(kind, 3)
	s.Confidence, s.VarianceModel = "", ""
	s.ControlSets = sets(3, []float64{.1, .1, .1, .2, .2, .2, 1}, []int{0}, []int{1}, []int{2}, []int{0, 1}, []int{0, 2}, []int{1, 2}, []int{0, 1, 2})
	for i := range s.Variables {
		s.Variables[i].Random = space.Distribution{Kind: space.TruncatedNormal, Mean: 0.5, SD: 0.2}
	}
	s.Model.Kernel = "se"
	switch kind {
	case "ucb-cvs":
		s.Confidence, s.Schedule, s.Epsilon = "constant", "epsilon", []float64{0}
	case "costids":
		s.Rho = 2
	}
	return s
}

// grown is a policy that has seen n random settings, of which the first fit saw 30.
func grown(tb testing.TB, s Spec, n int) Policy { return grownWith(tb, s, n, false, 2) }

// grownWith has the fits made on the way, as in a run, where it decides before each observation from the 30th on; else
// they count as of one step.
func grownWith(tb testing.TB, s Spec, n int, decides bool, seed uint64) Policy {
	p, err := New(s)
	if err != nil {
		tb.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 3))
	for i := range n {
		step := 10
		if decides {
			step = i + 1
		}
		if i == 30 || decides && i > 30 {
			if _, err := p.Propose(context.Background()); err != nil {
				tb.Fatal(err)
			}
		}
		x := make([]float64, len(s.Variables))
		for j := range x {
			x[j] = rng.Float64()
		}
		tell(tb, p, rng, Proposal{Step: step, ControlSet: i % len(s.ControlSets), X: x})
	}
	return p
}

// tell tells a policy of a smooth function with noise at a proposal's setting.
func tell(tb testing.TB, p Policy, rng *rand.Rand, q Proposal) {
	x := slices.Clone(q.X)
	for j, v := range x {
		if math.IsNaN(v) { // it was left random
			x[j] = rng.Float64()
		}
	}
	o := Observation{Step: q.Step, ControlSet: q.ControlSet, X: x, Shots: 10, Valid: true, Variance: 0.01 * math.Exp(x[0]) * (0.5 + rng.Float64())}
	for j, v := range x {
		o.Mean += math.Sin(5*v + float64(j))
	}
	o.Mean += math.Sqrt(o.Variance/10) * rng.NormFloat64()
	if e, ok := p.(*engine); ok { // what is constrained are the first variables
		o.Constrained = x[:len(e.constraints.Each)]
	}
	if err := p.Observe(o); err != nil {
		tb.Fatal(err)
	}
}

// step is one of a running policy: Propose, Observe and Recommend.
func step(tb testing.TB, p Policy, rng *rand.Rand) {
	q, err := p.Propose(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	tell(tb, p, rng, q)
	if _, err := p.Recommend(); err != nil {
		tb.Fatal(err)
	}
}

// onOneThread has the rest of a benchmark run on one, whose processor time tells what it takes on a busy
// computer too.
func onOneThread(b *testing.B) {
	before := runtime.GOMAXPROCS(1)
	runtime.LockOSThread()
	b.Cleanup(func() {
		runtime.UnlockOSThread()
		runtime.GOMAXPROCS(before)
	})
}

// timedSteps measures steps of a policy that has seen n settings, without fits: the median of their processor
// time, beside what the testing package reports.
func timedSteps(b *testing.B, s Spec, n int) {
	onOneThread(b)
	p, rng := grown(b, s, n), rand.New(rand.NewPCG(4, 5))
	step(b, p, rng)
	b.ReportAllocs()
	var took []time.Duration
	for b.Loop() {
		begun := threadTime(b)
		step(b, p, rng)
		took = append(took, threadTime(b)-begun)
	}
	b.ReportMetric(milliseconds(median(took)), "cpu-ms/step")
}

func median(took []time.Duration) time.Duration {
	slices.Sort(took)
	return took[len(took)/2]
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// sharedSpec is that of the default schedule, whose first plays are over after two steps: then all sets compete.
func sharedSpec() Spec {
	s := setsSpec("ucb-cvs")
	s.Schedule, s.Epsilon, s.Steps = schedule.Auto, nil, 10
	return s
}

// BenchmarkStep measures what a running policy does in a step, without fits.
func BenchmarkStep(b *testing.B) {
	for _, kind := range []string{"irgp-ucb", "rahbo", "mes", "hp-gp-ts"} {
		for _, d := range []int{3, 5} {
			for _, n := range []int{100, 500} {
				b.Run(fmt.Sprintf("%s/d=%d/n=%d", kind, d, n), func(b *testing.B) { timedSteps(b, runningSpec(kind, d), n) })
			}
		}
	}
}

// BenchmarkStepOfSets is BenchmarkStep with the choice among seven control sets of three variables.
func BenchmarkStepOfSets(b *testing.B) {
	for _, kind := range []string{"ucb-cvs", "ucb-cvs auto", "costids", "pbgi"} {
		for _, n := range []int{100, 500} {
			b.Run(fmt.Sprintf("%s/n=%d", kind, n), func(b *testing.B) { timedSteps(b, setsSpec(kind), n) })
		}
	}
}

// BenchmarkStepBesideCore measures Propose, Observe and the fits of a policy in turn with what gpcore takes for a
// step alone: one observation more, at the setting that the policy proposed, and a search with the same screening that
// tracks its points. It reports the means of both over so many steps of each of eight runs, and their ratio: what a climb
// takes depends on where a run is, so single runs have ratios a tenth apart.
func BenchmarkStepBesideCore(b *testing.B) {
	const runs = 8
	for _, kind := range []string{"irgp-ucb", "rahbo"} {
		for _, d := range []int{3, 5} {
			for _, n := range []int{100, 500} {
				b.Run(fmt.Sprintf("%s/d=%d/n=%d", kind, d, n), func(b *testing.B) {
					onOneThread(b)
					var whole, core time.Duration
					for seed := range uint64(runs) {
						w, c := besideCore(b, kind, d, n, 2+seed)
						whole, core = whole+w, core+c
					}
					b.ReportMetric(milliseconds(whole)/float64(runs*b.N), "policy-ms/step")
					b.ReportMetric(milliseconds(core)/float64(runs*b.N), "core-ms/step")
					b.ReportMetric(float64(whole)/float64(core), "times-core")
				})
			}
		}
	}
}

// besideCore is the processor time of b.N steps of a policy, and of the same by gpcore alone.
func besideCore(b *testing.B, kind string, d, n int, seed uint64) (whole, core time.Duration) {
	s := runningSpec(kind, d)
	s.Model.RefitEvery = 0 // the default
	p, rng := grownWith(b, s, n, true, seed), rand.New(rand.NewPCG(2+seed, 5))
	alone := newCore(b, d, n, seed)
	for range b.N {
		begun := processTime(b)
		q, err := p.Propose(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		if f := p.(*engine).model.Refits.Pending; f != nil { // the fit takes its part
			<-f.Done
		}
		tell(b, p, rng, q)
		whole += processTime(b) - begun
		begun = processTime(b)
		alone.step(b, rng, q.X)
		core += processTime(b) - begun
	}
	return whole, core
}

// core is a process and the search of its upper bound, by gpcore alone.
type core struct {
	g *gpcore.GP
	s *search.Search
}

func newCore(b *testing.B, d, n int, seed uint64) *core {
	g := gpcore.New(kernels.Matern52(1, slices.Repeat([]float64{0.3}, d)), 1024)
	c, rng := &core{g: g}, rand.New(rand.NewPCG(seed, 3))
	x := make([]float64, d)
	for range n {
		for i := range x {
			x[i] = rng.Float64()
		}
		c.observe(b, rng, x)
	}
	axes, controlled := make([]search.Axis, d), make([]int, d)
	for i := range axes {
		axes[i].High, controlled[i] = 1, i
	}
	e, err := expectations.New([]expectations.Term{{Process: g, Mean: 1, SD: 2}}, expectations.Inputs{Controlled: controlled})
	if err == nil {
		c.s, err = search.New([]search.Problem{{Objective: e, Axes: axes, Track: 1}}, search.Options{Seed: 1})
	}
	if err != nil {
		b.Fatal(err)
	}
	c.s.Run(context.Background(), 0)
	return c
}

func (c *core) observe(b *testing.B, rng *rand.Rand, x []float64) {
	y := 0.1 * rng.NormFloat64()
	for i, v := range x {
		y += math.Sin(5*v + float64(i))
	}
	if err := c.g.Append(x, y, 0.01); err != nil {
		b.Fatal(err)
	}
}

func (c *core) step(b *testing.B, rng *rand.Rand, x []float64) {
	c.observe(b, rng, x)
	c.s.Run(context.Background(), 0)
}
