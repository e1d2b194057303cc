package loop

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/trace"
	"github.com/labtuner/tuner/safety"
	"github.com/labtuner/tuner/scripts/testsize"
)

// verdictsOf replays the tape of a journal.
func verdictsOf(t *testing.T, path string, until int) trace.Verdicts {
	t.Helper()
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	done, err := trace.Replay(r.Tapes(), until)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// tapedRun is a run with everything on its tape: slew, holds, a spike, an override, and an
// interlock that trips it at the end.
func tapedRun(t *testing.T) (path string) {
	tr := newTrial(t)
	tr.policy.proposals = proposeAll(3, math.Inf(1), 6, 9, 2, 5)
	tr.opt.Variables[0].Limits.Lease = 3 * time.Second
	tr.opt.Variables[0].Limits.Resolution = 0.05
	tr.opt.Sensors[1].Limits = safety.SensorLimits{Rate: 5}
	tr.opt.Safety.Interlocks = []safety.Condition{{Sensor: 1, Low: 200, High: 400}}
	tr.deps.Control, _ = controlstate.Open(filepath.Join(t.TempDir(), "rig.control"), disk.Holder{})
	defer tr.deps.Control.Close()
	rng := rand.New(rand.NewPCG(1, 2))
	reads := 0
	tr.rig.aux = func() float64 {
		switch reads++; {
		case reads == 50:
			return 350 // a spike
		case reads >= 80 && reads < 86:
			return []float64{300, 350}[reads%2] // held: nobody knows which half is wrong
		case len(tr.policy.seen) >= 5:
			return 420
		}
		return 300 + rng.NormFloat64()/100
	}
	tr.deps.Journal, path = book(t, &tr.opt)
	_, err := Run(context.Background(), tr.opt, tr.deps)
	if !errors.Is(err, ErrSafety) || !strings.Contains(err.Error(), "tripped") {
		t.Fatalf("error %v, events %+v", err, tr.events)
	}
	return path
}

// TestVerdictsReplay: every verdict of a run with holds, spikes, garbage and a trip derives
// anew from its journal, and --until ends where it should.
func TestVerdictsReplay(t *testing.T) {
	path := tapedRun(t)
	done := verdictsOf(t, path, 0)
	if done.First != nil || done.Sessions != 1 || done.Ticks < 100 {
		t.Fatalf("replayed %+v, %+v", done, done.First)
	}
	if some := verdictsOf(t, path, 2); some.First != nil || some.Ticks == 0 || some.Ticks >= done.Ticks {
		t.Errorf("until step 2: %+v of %d ticks", some, done.Ticks)
	}
}

// TestVerdictsReplayAfterACrash: each session is replayed from what it began with; of one
// that died the ticks since its last piece are missing, and those only.
func TestVerdictsReplayAfterACrash(t *testing.T) {
	path, o := crash(t, "intent-durable", 4)
	o.Stop.Steps = 6
	resume(t, path, o, oneKnobSpec())
	if done := verdictsOf(t, path, 0); done.First != nil || done.Sessions != 2 || done.Ticks < 50 {
		t.Errorf("replayed %+v, %+v", done, done.First)
	}
}

// TestTapeSize measures an hour of ticks of 100 ms, of an instrument that stands and (a quarter
// of an hour, in the whole an hour) of one whose sensor and readback have noise in every bit, and holds both to what the
// documentation says.
func TestTapeSize(t *testing.T) {
	for _, c := range []struct {
		name  string
		noise float64
		most  int
	}{{"nothing changes", 0, 20 << 10}, {"noise in every reading", 0.001, 1 << 20}} {
		tr := newTrial(t)
		part := 1 // of an hour; what a piece costs that tells of nothing shows in an hour only
		if c.noise > 0 {
			part = testsize.Of(10, 1)
		}
		tr.opt.Stop = plan.Stop{Time: time.Hour / time.Duration(part)}
		tr.opt.Objective.Shots = 500
		tr.policy.propose = func(context.Context) (policy.Proposal, error) {
			return policy.Proposal{X: []float64{float64(len(tr.policy.seen)%5) + 2}}, nil
		}
		rng := rand.New(rand.NewPCG(1, 2))
		tr.rig.aux = func() float64 {
			tr.rig.drift = c.noise * rng.NormFloat64()
			return 300 + c.noise*rng.NormFloat64()
		}
		var path string
		tr.deps.Journal, path = book(t, &tr.opt)
		if _, err := Run(context.Background(), tr.opt, tr.deps); err != nil {
			t.Fatal(err)
		}
		r, err := journal.OpenReader(path)
		if err != nil {
			t.Fatal(err)
		}
		size, pieces, ticks := 0, 0, 0
		for p, err := range r.Tapes() {
			if err != nil {
				t.Fatal(err)
			}
			size, pieces, ticks = size+len(p.Data), pieces+1, ticks+p.Ticks
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d bytes in %d pieces for %d ticks", c.name, size, pieces, ticks)
		if done := verdictsOf(t, path, 0); done.First != nil || done.Ticks != ticks || ticks < 36000/part {
			t.Errorf("%s: replayed %+v, %+v", c.name, done, done.First)
		}
		if size*part > c.most {
			t.Errorf("%s: %d bytes in an hour, at most %d", c.name, size*part, c.most)
		}
	}
}

// TestVerdictsDiffer: a limit that was another one, or a value that was garbled with its
// checksum made right, is found and named.
func TestVerdictsDiffer(t *testing.T) {
	path := tapedRun(t)
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var pieces []journal.TapePiece
	for p, err := range r.Tapes() {
		if err != nil {
			t.Fatal(err)
		}
		pieces = append(pieces, p)
	}
	for _, c := range []struct {
		old, new, want string
	}{
		{`"SlewUp":2`, `"SlewUp":1.5`, "of variable 1"},
		{`"Rate":5`, `"Rate":5000`, "verdict on a reading of sensor 2"},
		{`"High":400`, `"High":500`, "mode"},
		{`"Lease":3000000000`, `"Lease":2000000000`, "whether to write a setpoint of variable 1"},
	} {
		start := pieces[0]
		text := strings.Replace(string(start.Data), c.old, c.new, 1)
		if text == string(start.Data) {
			t.Fatalf("%s is not in %s", c.old, text)
		}
		start.Data = []byte(text)
		done, err := trace.Replay(listed(append([]journal.TapePiece{start}, pieces[1:]...)...), 0)
		if err != nil {
			t.Fatal(err)
		}
		if done.First == nil || !strings.HasSuffix(done.First.What, c.want) {
			t.Errorf("%s for %s: %+v, want a difference of %q", c.new, c.old, done.First, c.want)
		}
	}
}

// TestGarbledTape: a piece that is garbled before its checksum is made is refused or
// differs; it never panics.
func TestGarbledTape(t *testing.T) {
	path := tapedRun(t)
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rng := rand.New(rand.NewPCG(7, 8))
	var start journal.TapePiece
	refused, differ := 0, 0
	for p, err := range r.Tapes() {
		if err != nil {
			t.Fatal(err)
		}
		if p.Ticks == 0 {
			start = p
			continue
		}
		plain, err := io.ReadAll(flate.NewReader(bytes.NewReader(p.Data)))
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			garbled := slices.Clone(plain)
			garbled[rng.IntN(len(garbled))] ^= 1 << rng.IntN(8)
			p.Data = deflated(t, garbled)
			switch done, err := trace.Replay(listed(start, p), 0); {
			case err != nil:
				refused++
			case done.First != nil:
				differ++
			}
		}
	}
	if refused == 0 || differ == 0 {
		t.Errorf("%d garbled pieces were refused and %d differ, want some of each", refused, differ)
	}
}

// listed goes through pieces as a journal's reader does.
func listed(pieces ...journal.TapePiece) iter.Seq2[journal.TapePiece, error] {
	return func(yield func(journal.TapePiece, error) bool) {
		for _, p := range pieces {
			if !yield(p, nil) {
				return
			}
		}
	}
}

func deflated(t *testing.T, plain []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	if err == nil {
		_, err = w.Write(plain)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
