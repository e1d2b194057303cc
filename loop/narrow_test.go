package loop

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/replay"
	"github.com/labtuner/tuner/loop/worker"
	"github.com/labtuner/tuner/safety"
)

// narrower runs a live trial in a bubble and asks for other options once as many steps
// as ask says are over; it returns the journal's path and the answers.
func narrower(t *testing.T, ask map[int]func(*plan.Options)) (tr *trial, path string, answers map[int]error) {
	t.Helper()
	tr = &trial{opt: options(plan.Live), policy: &script{proposals: proposeAll(4, 9, 9, 9, 9.8)}}
	tr.rig = newRig(worker.RealClock{}, "a")
	tr.rig.meter = func(at map[string]float64) float64 { return 10 * at["a"] }
	tr.deps = Deps{Policy: tr.policy, Devices: []Device{{Name: "rig", Device: tr.rig}}, Narrower: control.NewNarrower()}
	tr.deps.Watch.Event = func(e journal.Event) { tr.events = append(tr.events, e) }
	answers = map[int]error{}
	present := tr.opt
	done := make(chan int, 8)
	tr.deps.Watch.Step = func(d journal.Decision, _ journal.Outcome) { done <- d.Step }
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		for n := range done {
			change, ok := ask[n]
			if !ok {
				continue
			}
			time.Sleep(250 * time.Millisecond) // the next step is on its way
			next := present
			next.Variables = slices.Clone(present.Variables)
			change(&next)
			if answers[n] = tr.deps.Narrower.Narrow(t.Context(), next, "narrower"); answers[n] == nil {
				present = next
			}
		}
	}()
	var j *journal.Journal
	j, path = book(t, &tr.opt)
	tr.deps.Journal = j
	if _, err := Run(t.Context(), tr.opt, tr.deps); err != nil {
		t.Fatal(err)
	}
	close(done)
	<-asked
	return tr, path, answers
}

// applied lists the destinations of the decisions of one knob.
func applied(t *testing.T, path string) (out []float64) {
	t.Helper()
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for s, err := range r.Steps() {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s.Decision.Applied[0])
	}
	return out
}

// TestNarrowedLimits: the step in flight keeps its destination, the next decision keeps to
// the limits, and a replay knows from when on.
func TestNarrowedLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, path, answers := narrower(t, map[int]func(*plan.Options){
			3: func(o *plan.Options) { // it stands at 9 and is going there again
				o.Variables[0].Limits.High, o.Variables[0].Limits.SlewUp = 9.5, 1
			},
		})
		if answers[3] != nil {
			t.Fatalf("answers %v", answers)
		}
		if got := applied(t, path); !slices.Equal(got, []float64{4, 9, 9, 9, 9.5}) {
			t.Errorf("destinations %v: want four within the old limits, then one within the new", got)
		}
		told := slices.ContainsFunc(tr.events, func(e journal.Event) bool { return e.Kind == journal.EventConfiguration && e.Message == "narrower" })
		if !told {
			t.Errorf("events %+v", tr.events)
		}
		r, err := journal.OpenReader(path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		replay := replay.Decisions{Options: tr.opt, Policy: &script{proposals: proposeAll(4, 9, 9, 9, 9.8)}}
		if done, err := replay.Run(context.Background(), r); err != nil || done.First != nil || done.Steps != 5 {
			t.Errorf("replay: %+v, first difference %+v, %v", done, done.First, err)
		}
	})
}

// TestNarrowRefused: nothing of a change is taken where a part of it is wider, or could
// be kept only by a jump.
func TestNarrowRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*plan.Options)
		want   string
		is     error
	}{
		"hard": {func(o *plan.Options) { o.Variables[0].Limits.High = 12 }, "hard bounds of [-1, 12] is wider than [-1, 11]", safety.ErrLimits},
		"jump": {func(o *plan.Options) { o.Variables[0].Limits.High = 6 },
			`variable "a" is at or on its way to 9, outside [-1, 6]: narrow its range first`, plan.ErrNotNarrower},
		"other":    {func(o *plan.Options) { o.Variables[0].Limits.Safe = 2 }, "something else than the tightness of a limit differs", safety.ErrLimits},
		"unusable": {func(o *plan.Options) { o.Variables[0].Limits.Low = 5 }, "safe value 1 lies outside [5, 11]", safety.ErrLimits},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tr, path, answers := narrower(t, map[int]func(*plan.Options){1: func(o *plan.Options) {
					o.Safety.HoldMax = time.Second // good by itself
					c.change(o)
				}})
				if err := answers[1]; !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("answer %v, want %q", err, c.want)
				}
				if got := applied(t, path); !slices.Equal(got, []float64{4, 9, 9, 9, 9.8}) {
					t.Errorf("destinations %v: the run is to go on unchanged", got)
				}
				if slices.ContainsFunc(tr.events, func(e journal.Event) bool { return e.Kind == journal.EventConfiguration }) {
					t.Errorf("a change is reported that was refused")
				}
			})
		})
	}
}

// TestNarrowOfARunThatIsOver: nobody is left waiting for an answer.
func TestNarrowOfARunThatIsOver(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := control.NewNarrower().Narrow(ctx, plan.Options{}, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("answer %v", err)
	}
}
