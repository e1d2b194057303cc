package loop

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/safety"
)

// verdictsOf replays the tape of a journal.
func verdictsOf(t *testing.T, path string, until int) Verdicts {
	t.Helper()
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	done, err := (&Replay{}).Verdicts(r, until)
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
	tr.deps.Control, _ = journal.OpenControl(filepath.Join(t.TempDir(), "rig.control"), journal.Session{})
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

// TestTapeSize measures an hour of ticks of 100 ms, of an instrument that stands and of
// one whose sensor and readback have noise in every bit, and holds both to what the
// documentation says.
func TestTapeSize(t *testing.T) {
	for _, c := range []struct {
		name  string
		noise float64
		most  int
	}{{"nothing changes", 0, 20 << 10}, {"noise in every reading", 0.001, 1 << 20}} {
		tr := newTrial(t)
		tr.opt.Stop = plan.Stop{Time: time.Hour}
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
		if done := verdictsOf(t, path, 0); done.First != nil || done.Ticks != ticks || ticks < 36000 {
			t.Errorf("%s: replayed %+v, %+v", c.name, done, done.First)
		}
		if size > c.most {
			t.Errorf("%s: %d bytes in an hour, at most %d", c.name, size, c.most)
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
		s, err := newTapeSession(start)
		if err != nil {
			t.Fatal(err)
		}
		var done Verdicts
		for _, p := range pieces[1:] {
			if err := s.play(p, 0, &done); err != nil {
				t.Fatal(err)
			}
			if done.First != nil {
				break
			}
		}
		if done.First == nil || !strings.HasSuffix(done.First.What, c.want) {
			t.Errorf("%s for %s: %+v, want a difference of %q", c.new, c.old, done.First, c.want)
		}
	}
}

// TestWordsHoldEverything: whatever is in the inputs, the proposal and the output of a
// driven variable or a watched link comes back from the words, field by field: one that
// is added to the layer and not to the tape fails here.
func TestWordsHoldEverything(t *testing.T) {
	l := safety.Limits{Comms: time.Second}
	for range safety.MaxVariables {
		l.Variables = append(l.Variables, safety.VariableLimits{OnFault: safety.RestHold})
	}
	for range safety.MaxLinks {
		l.Links = append(l.Links, safety.LinkLimits{Watched: true})
	}
	rng := rand.New(rand.NewPCG(3, 4))
	var v verdict
	v.now = time.Duration(rng.Int64())
	for _, part := range []any{&v.in, &v.p, &v.out} {
		fill(reflect.ValueOf(part).Elem(), rng)
	}
	v.in.Command, v.out.Mode = 3, 5
	for i := range v.in.Variable {
		v.in.Variable[i].Dose = safety.DoseOutcome(rng.IntN(3))
	}
	w := words{}
	want := v // the walk writes back what it reads
	w.tick(&l, &v)
	var got verdict
	back := words{list: w.list, reading: true}
	back.tick(&l, &got)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("came back as\n%+v\nwant\n%+v", got, want)
	}
}

// fill sets every field there is.
func fill(v reflect.Value, rng *rand.Rand) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), rng)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), rng)
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(rng.NormFloat64())
	case reflect.Int64:
		v.SetInt(rng.Int64())
	case reflect.Uint64:
		v.SetUint(rng.Uint64())
	case reflect.Uint32:
		v.SetUint(uint64(rng.Uint32()))
	case reflect.Uint8:
		v.SetUint(1)
	default:
		panic("fill: " + v.Kind().String())
	}
}

// TestTapeCode: any words come back, whatever they were before, and any bytes are either
// read or refused.
func TestTapeCode(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 20000 {
		a, b := rng.Uint64()>>rng.IntN(64), rng.Uint64()<<rng.IntN(64)
		if rng.IntN(3) == 0 {
			b = a + uint64(rng.IntN(1000))*tapeUnit
		}
		buf := appendBits(appendTime(nil, b, a), a, b)
		in := tapeBytes{b: buf}
		if gotTime, gotBits := in.time(a), in.bits(b); gotTime != b || gotBits != a || in.err != nil || len(in.b) != 0 {
			t.Fatalf("%x and %x came back as %x and %x, %v", b, a, gotTime, gotBits, in.err)
		}
		bad := tapeBytes{b: buf[:rng.IntN(len(buf))]}
		bad.time(a)
		bad.bits(b)
		if bad.err == nil {
			t.Fatalf("%x was read", bad.b)
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
	for p, err := range r.Tapes() {
		if err != nil {
			t.Fatal(err)
		}
		if p.Ticks == 0 {
			start = p
			continue
		}
		plain, err := unpack(p.Data)
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			s, err := newTapeSession(start)
			if err != nil {
				t.Fatal(err)
			}
			garbled := append([]byte(nil), plain...)
			garbled[rng.IntN(len(garbled))] ^= 1 << rng.IntN(8)
			b, m := &tapeBytes{b: garbled}, tapeMemory{}
			for n := 0; len(b.b) > 0 && b.err == nil && n < 1000; n++ {
				b.uvarint()
				list, v := s.read(b, &m)
				s.derive(list, &v)
			}
		}
	}
}

// BenchmarkTape is what the record of one tick costs, of four driven variables and as many
// sensors that say something else each time, packed once a minute.
func BenchmarkTape(b *testing.B) {
	l := safety.Limits{Comms: time.Second}
	for range 4 {
		l.Variables = append(l.Variables, safety.VariableLimits{OnFault: safety.RestHold})
		l.Sensors = append(l.Sensors, safety.SensorLimits{Watched: true})
		l.Links = append(l.Links, safety.LinkLimits{Watched: true})
	}
	rng := rand.New(rand.NewPCG(1, 2))
	tape := &tape{limits: &l, heeds: heeded(&l)}
	var v verdict
	b.ReportAllocs()
	for b.Loop() {
		v.now += 100 * time.Millisecond
		for i := range 4 {
			now := safety.Sample{Value: rng.Float64(), At: v.now, Known: true}
			v.in.Variable[i].Readback, v.in.Heard[i] = now, now
			tape.heard(reading{i, now, safety.Believed})
		}
		if tape.tick(&v) {
			if _, _, err := tape.take(); err != nil {
				b.Fatal(err)
			}
		}
	}
}
