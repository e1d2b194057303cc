package simulator

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/replay"
	"github.com/labtuner/tuner/loop/worker"
	"github.com/labtuner/tuner/scripts/testsize"
)

var weekSteps = flag.Int("week.steps", testsize.Of(400, 1200), "steps of TestWeek, one a second of virtual time")

// TestWeek lets a run take one step a second, as a laser does, and looks at the beginning
// and at the end at what may grow with time: memory, the journal's log, the time that a
// decision takes. Only the journal itself may. Then it measures how long the resume
// of such a journal takes. The week:
//
//	go test ./loop/simulator -run TestWeek -v -week.steps 600000 -timeout 12h
func TestWeek(t *testing.T) {
	d := &diary{every: max(*weekSteps/8, 1)}
	path := filepath.Join(t.TempDir(), journalFile)
	o := weekOptions(*weekSteps)
	w := &world{seed: 1, kind: "gp-ucb", began: bubbleStart}
	j, err := journal.Create(path, runOf(&o, w), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(spec("gp-ucb", 1))
	if err != nil {
		t.Fatal(err)
	}
	clock := worker.NewVirtualClock(bubbleStart)
	d.path, d.clock = path, clock
	began := time.Now()
	_, err = loop.Run(context.Background(), o, loop.Deps{Clock: clock, Policy: p, Journal: j, Devices: []loop.Device{{Name: "lab", Device: &bench{clock: clock}}},
		Watch: control.Watch{Step: d.step}})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d steps in %v of virtual time took %v", *weekSteps, clock.Now().Sub(bubbleStart), time.Since(began).Round(time.Second))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	for _, page := range d.pages {
		t.Log(page)
	}
	d.judge(t)
	weekResume(t, path, o)
}

// weekResume measures what a resume takes.
func weekResume(t *testing.T, path string, o plan.Options) {
	began := time.Now()
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if damage := r.Verify(); len(damage) > 0 {
		t.Errorf("the journal is damaged: %v", damage)
	}
	verified := time.Now()
	if _, err := replay.Recall(&o, r); err != nil {
		t.Fatal(err)
	}
	recalled := time.Now()
	p, err := policy.New(spec("gp-ucb", 1))
	if err != nil {
		t.Fatal(err)
	}
	replay := replay.Decisions{Options: o, Policy: p, Lenient: true, Sampled: true}
	done, err := replay.Run(context.Background(), r)
	if err != nil || done.First != nil {
		t.Errorf("replay: %+v, %+v, %v", done, done.First, err)
	}
	t.Logf("resume after %d steps: %v to check every row, %v to recall, %v to teach the policy with %d decisions derived", *weekSteps,
		verified.Sub(began).Round(time.Millisecond), recalled.Sub(verified).Round(time.Millisecond), time.Since(recalled).Round(time.Millisecond), done.Steps)
}

// weekOptions are a loop that takes a step in four ticks of 250 ms.
func weekOptions(steps int) plan.Options {
	p := &pace{tick: 250 * time.Millisecond, slew: 1000}
	o := p.options()
	o.Mode, o.Stop = plan.Simulate, plan.Stop{Steps: steps}
	o.Objective.Shots = 1
	o.Outages = plan.Outages{}
	for i := range o.Variables {
		o.Variables[i].Settle = 0
	}
	return o
}

// bench is an instrument that is where it is told to be at once.
type bench struct {
	clock drivers.Clock
	at    [2]float64
	shots int
}

func (b *bench) Open(context.Context) ([]drivers.Channel, error) {
	nan := math.NaN()
	out := []drivers.Channel{{Name: "energy", Unit: "mJ"}, {Name: "door", Unit: "1"}, {Name: "coolant", Unit: "degC"}}
	for _, n := range knobs {
		out = append(out, drivers.Channel{Name: n, Unit: "V", Access: drivers.ReadWrite, Min: nan, Max: nan, Safe: safeValue, CanRelease: true})
	}
	return out, nil
}

func (b *bench) Read(_ context.Context, channels []string) (drivers.Reading, error) {
	r := drivers.Reading{At: b.clock.Now(), Values: map[string]float64{}}
	for _, c := range channels {
		switch c {
		case "a":
			r.Values[c] = b.at[0]
		case "b":
			r.Values[c] = b.at[1]
		case "door":
			r.Values[c] = doorShut
		case "coolant":
			r.Values[c] = 20
		case "energy":
			b.shots++
			r.Values[c] = 8 - math.Pow(b.at[0]-6, 2)/20 - math.Pow(b.at[1]-4, 2)/20 + 0.3*math.Sin(float64(b.shots)*12.9898)
		}
	}
	return r, nil
}

func (b *bench) Write(_ context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	for i, n := range knobs {
		if v, set := s.Values[n]; set {
			b.at[i] = v
		}
	}
	return drivers.Reading{}, nil
}

func (b *bench) Halt(context.Context) error { return nil }
func (b *bench) Close() error               { return nil }

// diary keeps what may grow, a page for every part of the run.
type diary struct {
	path  string
	clock *worker.VirtualClock
	every int
	took  []time.Duration
	pages []page
}

// page is what was seen at the end of a part.
type page struct {
	steps         int
	at            time.Duration
	heap, rss     int64 // bytes
	journal, wal  int64
	median, worst time.Duration // of the decisions: median and 99th percentile
}

// String is a row of the table.
func (p page) String() string {
	const mb = 1 << 20
	return fmt.Sprintf("| %d | %v | %.1f MB | %.1f MB | %v | %v | %.1f MB | %.1f MB |", p.steps, p.at.Round(time.Second), float64(p.heap)/mb, float64(p.rss)/mb,
		p.median.Round(time.Microsecond), p.worst.Round(time.Microsecond), float64(p.journal)/mb, float64(p.wal)/mb)
}

func (d *diary) step(decision journal.Decision, _ journal.Outcome) {
	d.took = append(d.took, decision.Took)
	if decision.Step%d.every != 0 {
		return
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	slices.Sort(d.took)
	p := page{steps: decision.Step, at: d.clock.Now().Sub(bubbleStart), heap: int64(m.HeapAlloc), rss: resident(),
		median: d.took[len(d.took)/2], worst: d.took[len(d.took)*99/100], journal: size(d.path), wal: size(d.path + "-wal")}
	d.took = d.took[:0]
	d.pages = append(d.pages, p)
}

func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// resident is the memory of this process.
func resident() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var all, pages int64
	if _, err := fmt.Sscan(string(text), &all, &pages); err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// judge compares the last part with the second: in the first the model fills up.
func (d *diary) judge(t *testing.T) {
	if len(d.pages) < 3 {
		t.Fatalf("%d parts", len(d.pages))
	}
	early, late := d.pages[1], d.pages[len(d.pages)-1]
	// Bytes that are kept for each step, such as 24 for a charge of the ledger, would be
	// 8 MB of 350,000 steps; what the runtime needs for itself differs by one or two.
	if limit := early.heap + 2<<20 + int64(late.steps); late.heap > limit {
		t.Errorf("the heap has grown from %d to %d bytes in %d steps", early.heap, late.heap, late.steps-early.steps)
	}
	if limit := int64(32 << 20); late.wal > limit {
		t.Errorf("the log has %d bytes, at most %d are expected", late.wal, limit)
	}
}
