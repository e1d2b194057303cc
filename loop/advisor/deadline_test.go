package advisor

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/labtuner/tuner/loop/policy"
)

var (
	decisions     = flag.Int("decisions", 12, "decisions of each cell of TestDeadline, after the model is full")
	deadline      = flag.Duration("deadline", 50*time.Millisecond, "processor time that a decision of TestDeadline may take; 0: as much as it needs")
	deadlineGrid  = flag.Bool("grid", false, "run TestDeadline, which measures and takes hours")
	deadlineFile  = flag.String("cells", "", "file to which TestDeadline appends a line for each cell; cells that it has are not measured again")
	deadlineTimes = flag.Int("windows", 1, "into how many windows of time TestDeadline divides the decisions of a cell")
)

// threadClock is the processor time of the calling thread, so that a busy computer does not count.
type threadClock struct{ testing.TB }

func (c threadClock) Now() time.Time {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
		c.Fatal(err)
	}
	return time.Unix(0, now.Nano())
}

// cell is a kind of policy, in d variables, whose model holds n observations: its capacity.
type cell struct {
	kind string
	d, n int
}

func (c cell) String() string { return fmt.Sprintf("%s/d=%d/n=%d", c.kind, c.d, c.n) }

// cells are those of the grid.
func cells() (out []cell) {
	for _, kind := range []string{"irgp-ucb", "rahbo", "rahbo-with-priors", "ucb-cvs", "costids", "mes", "jes", "hp-gp-ts"} {
		for _, d := range []int{3, 4, 5, 10, 20, 40} {
			for _, n := range []int{100, 256, 500, 1024} {
				out = append(out, cell{kind, d, n})
			}
		}
	}
	return out
}

// spec is that of a run whose model is full.
func (c cell) spec() policy.Spec {
	kind, hyperparameters, ok := strings.Cut(c.kind, "-with-")
	if !ok {
		hyperparameters = "fit"
	}
	s := policy.Spec{Kind: kind, Design: "sobol", InitialSteps: 10, Seed: 1, Beta: 2,
		Model: policy.Model{Kernel: "matern52", Hyperparameters: hyperparameters, Capacity: c.n}}
	controlled := func(cost float64, some ...int) policy.ControlSet {
		out := policy.ControlSet{Controlled: make([]bool, c.d), Cost: cost}
		for i := range out.Controlled {
			out.Controlled[i] = len(some) == 0 || slices.Contains(some, i)
		}
		return out
	}
	for i := range c.d {
		s.Variables = append(s.Variables, policy.Variable{Name: fmt.Sprintf("x%d", i), High: 1, Start: 0.5, Random: policy.Distribution{Kind: policy.Uniform}})
	}
	s.ControlSets = []policy.ControlSet{controlled(0)}
	switch kind {
	case "rahbo":
		s.Risk, s.VarianceModel, s.Confidence = 1, "log", "irgp"
	case "irgp-ucb":
		s.VarianceModel, s.Confidence = "log", "irgp"
	case "ucb-cvs":
		s.Confidence, s.Schedule = "constant", "etc-ada"
		s.ControlSets = []policy.ControlSet{controlled(1, 0), controlled(1, 1, 2), controlled(5)}
	case "costids":
		s.Rho = 2
		s.ControlSets = []policy.ControlSet{controlled(1, 0), controlled(1, 1, 2), controlled(5)}
	case "hp-gp-ts":
		s.Model.Hyperparameters = "priors"
	}
	return s
}

// reading is one of a smooth function with noise that depends on the setting.
func reading(rng *rand.Rand, q policy.Proposal) policy.Observation {
	x := slices.Clone(q.X)
	o := policy.Observation{Step: q.Step, ControlSet: q.ControlSet, X: x, Shots: 10, Valid: true}
	for j, v := range x {
		if math.IsNaN(v) { // it was left random
			x[j] = rng.Float64()
		}
		o.Mean += math.Sin(5*x[j] + float64(j))
	}
	o.Variance = 0.01 * math.Exp(x[0]) * (0.5 + rng.Float64())
	o.Mean += math.Sqrt(o.Variance/10) * rng.NormFloat64()
	return o
}

// full is the cell's policy with a model that is full of random settings, of which the first fit has seen some.
func (c cell) full(t *testing.T, rng *rand.Rand) policy.Policy {
	p, err := policy.New(c.spec())
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.n {
		if i == 30 {
			if _, err := p.Propose(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		x := make([]float64, c.d)
		for j := range x {
			x[j] = rng.Float64()
		}
		if err := p.Observe(reading(rng, policy.Proposal{Step: 10, X: x})); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// measured are decisions of a window of time.
type measured struct {
	took  []time.Duration
	cut   int
	units int // of work, of all
}

// at is a quantile of what decisions took, in milliseconds.
func (m *measured) at(quantile float64) float64 {
	sorted := slices.Sorted(slices.Values(m.took))
	return float64(sorted[min(int(quantile*float64(len(sorted))), len(sorted)-1)]) / float64(time.Millisecond)
}

// step decides with the deadline and tells the policy of its proposal.
func (m *measured) step(t *testing.T, a *Advisor, rng *rand.Rand) {
	d := a.opt.propose(context.Background(), a.policy, a.tail)
	if d.Err != nil {
		t.Fatal(d.Err)
	}
	a.expectTail(d.tail)
	m.units += d.Proposal.Work
	if m.took = append(m.took, d.Took); d.Proposal.Cut {
		m.cut++
	}
	if err := a.policy.Observe(reading(rng, d.Proposal)); err != nil {
		t.Fatal(err)
	}
	if _, err := a.policy.Recommend(); err != nil {
		t.Fatal(err)
	}
}

// TestDeadline measures the processor time of decisions that have a deadline in it, each on one thread with all that a
// run does between them: an observation, a recommendation, fits that come into force. For each cell it prints the
// median and the quantiles 0.99 and 0.999, in milliseconds and as parts of the deadline. It asks the
// median, and of 10,000 decisions the quantile 0.999, to be within 1.2 times the deadline. It is run by hand, since what it measures is the computer too:
//
//	go test ./loop/advisor -run 'TestDeadline/rahbo/d=5' -v -timeout 0 -grid -decisions 10000 -deadline 10ms -cells cells.txt
//
// gives the quantiles a meaning, and goes on where it was ended; without a deadline in windows of time shows whether decisions become slower, or memory
// more.
func TestDeadline(t *testing.T) {
	if !*deadlineGrid {
		t.Skip("it measures this computer: -grid")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, c := range cells() {
		t.Run(c.String(), func(t *testing.T) {
			if measuredBefore(t, c) {
				t.Skip("-cells has it")
			}
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			rng := rand.New(rand.NewPCG(2, 3))
			a := &Advisor{policy: c.full(t, rng), opt: Options{Deadline: *deadline, Stopwatch: threadClock{t}}}
			for range *deadlineTimes {
				var m measured
				for range *decisions / *deadlineTimes {
					m.step(t, a, rng)
				}
				note(t, c, m.tell(t))
			}
		})
	}
}

// measuredBefore reports whether the file of cells has one.
func measuredBefore(t *testing.T, c cell) bool {
	if *deadlineFile == "" {
		return false
	}
	text, err := os.ReadFile(*deadlineFile)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Contains("\n"+string(text), "\n"+c.String()+": ")
}

// note appends what was measured of a cell to the file of cells.
func note(t *testing.T, c cell, text string) {
	if *deadlineFile == "" {
		return
	}
	f, err := os.OpenFile(*deadlineFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = fmt.Fprintf(f, "%s: deadline %v, %s\n", c, *deadline, text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// tell prints a window, and returns it.
func (m *measured) tell(t *testing.T) (text string) {
	text = fmt.Sprintf("%d decisions, %d cut: p50 %.2f ms, p99 %.2f, p99.9 %.2f, longest %.2f", len(m.took), m.cut, m.at(0.5), m.at(0.99), m.at(0.999), m.at(1))
	if m.units > 0 {
		sum := time.Duration(0)
		for _, d := range m.took {
			sum += d
		}
		text += fmt.Sprintf("; %d units, %.3f ms a unit", m.units/len(m.took), sum.Seconds()*1e3/float64(m.units))
	}
	if *deadline > 0 {
		of := deadline.Seconds() * 1e3
		text += fmt.Sprintf("; of the deadline %.2f, %.2f, %.2f, %.2f", m.at(0.5)/of, m.at(0.99)/of, m.at(0.999)/of, m.at(1)/of)
		if m.at(0.5) > 1.2*of {
			t.Errorf("the median decision takes %.2f ms, %.2g times the deadline", m.at(0.5), m.at(0.5)/of)
		}
		if len(m.took) >= 10000 && m.at(0.999) > 1.2*of {
			t.Errorf("one in a thousand decisions takes more than %.2f ms, %.2g times the deadline", m.at(0.999), m.at(0.999)/of)
		}
	}
	text += "; resident memory " + residentMemory(t)
	t.Log(text)
	return text
}

// residentMemory is what the kernel says of this process.
func residentMemory(t *testing.T) string {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			return strings.TrimSpace(rest)
		}
	}
	return "unknown"
}
