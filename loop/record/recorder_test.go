package record

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/worker"
)

// bench is a recorder on a virtual pool, and what it has told.
type bench struct {
	*Recorder
	pool *worker.Pool
	now  time.Time
	told []any
}

func newBench(t *testing.T, o Options) *bench {
	t.Helper()
	j, err := journal.Create(filepath.Join(t.TempDir(), "run.db"), journal.Run{ID: "test", Name: "test", Mode: "simulate", Policy: "none",
		Objective: journal.Column{Name: "y"}, Variables: []journal.Column{{Name: "x"}}, ControlSets: []journal.ControlSet{{Variables: []string{"x"}}}}, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	pool := worker.NewVirtual()
	return &bench{Recorder: New(j, pool, o), pool: pool, now: time.Unix(1e9, 0)}
}

// after lets time pass, ticks, and handles what the worker brings.
func (b *bench) after(d time.Duration) {
	b.now = b.now.Add(d)
	b.told = append(b.told, b.Tick(b.now)...)
	for {
		results := b.pool.Take()
		if len(results) == 0 {
			return
		}
		for _, r := range results {
			events, mine := b.Handle(b.now, r)
			if !mine {
				panic(fmt.Sprintf("%T is not the recorder's", r.Value))
			}
			for _, e := range events {
				if w, ok := e.(*Written); ok {
					e = *w // it holds until the next call
				}
				b.told = append(b.told, e)
			}
			b.Next(b.now)
		}
	}
}

func (b *bench) put(e Entry) { b.told = append(b.told, b.Put(b.now, e)...) }

// done lists what was told to be durable, in order.
func (b *bench) done() (list []any) {
	for _, e := range b.told {
		if w, ok := e.(Written); ok {
			list = append(list, w.Done)
		}
	}
	return list
}

func (b *bench) said(part string) bool {
	for _, e := range b.told {
		if s, ok := e.(Said); ok && strings.Contains(s.Message, part) {
			return true
		}
	}
	return false
}

// writes returns a Write that fails with err while fails is positive.
func writes(fails *int, err error) Func {
	return func(*journal.Journal) error {
		if *fails > 0 {
			*fails--
			return err
		}
		return nil
	}
}

// TestDiskThatFails: the entry that failed stays the first, is tried again after waits
// that grow, and what is behind it follows in order; what is hasty is refused at once.
func TestDiskThatFails(t *testing.T) {
	b := newBench(t, Options{Wait: true})
	fails, none := 3, 0
	full := fmt.Errorf("%w: no room", disk.ErrIO)
	b.put(Entry{What: "a", Done: "a", Record: writes(&fails, full)})
	b.put(Entry{What: "b", Done: "b", Record: writes(&none, nil)})
	b.put(Entry{What: "c", Done: "c", Hasty: true, Record: writes(&none, nil)})
	b.after(0)
	b.put(Entry{What: "d", Done: "d", Hasty: true, Record: writes(&none, nil)})
	refused := 0
	for _, e := range b.told {
		if r, ok := e.(Refused); ok && errors.Is(r.Err, disk.ErrIO) {
			refused++
		}
	}
	if refused != 2 || b.Due() != 2 || b.Problem() == "" || !b.said("nothing moves before it can") {
		t.Fatalf("%d refused, %d due, problem %q: %v", refused, b.Due(), b.Problem(), b.told)
	}
	b.after(retryFirst / 2)
	if fails != 2 {
		t.Fatal("tried again before its time")
	}
	for _, wait := range []time.Duration{retryFirst, 2 * retryFirst, 4 * retryFirst} {
		b.after(wait)
	}
	if got := b.done(); !reflect.DeepEqual(got, []any{"a", "b"}) || b.Due() != 0 || b.Problem() != "" || b.Owed() != nil {
		t.Errorf("durable %v, %d due, problem %q, owed %v", got, b.Due(), b.Problem(), b.Owed())
	}
	if !b.said("nothing that was due is missing") {
		t.Error("nobody is told that the disk is well again")
	}
}

// TestFailureEnds: where nothing is waited for, and for an error that does not pass, the
// first failure is the end; what is behind it is still written.
func TestFailureEnds(t *testing.T) {
	for name, c := range map[string]struct {
		wait bool
		err  error
	}{"nothing is waited for": {false, disk.ErrIO}, "it does not pass": {true, errors.New("damaged")}} {
		b := newBench(t, Options{Wait: c.wait})
		fails, none := 1, 0
		b.put(Entry{What: "a", Done: "a", Record: writes(&fails, c.err)})
		b.put(Entry{What: "b", Done: "b", Record: writes(&none, nil)})
		b.after(0)
		if len(b.told) != 2 || !reflect.DeepEqual(b.told[0], Failed{"a", "a", c.err}) || !reflect.DeepEqual(b.done(), []any{"b"}) {
			t.Errorf("%s: told %v", name, b.told)
		}
	}
}

// TestStoryIsBounded: lines of the story are lost beyond StoryMax while the disk fails,
// which is told; what the steps record is not, and after End no line is taken.
func TestStoryIsBounded(t *testing.T) {
	b := newBench(t, Options{Wait: true})
	fails, none := 1, 0
	b.put(Entry{What: "first", Done: "first", Record: writes(&fails, disk.ErrIO)})
	b.after(0)
	for range StoryMax + 50 {
		b.put(Entry{What: "line", Story: true, Record: writes(&none, nil)})
	}
	b.put(Entry{What: "step", Done: "step", Record: writes(&none, nil)})
	if b.Due() != StoryMax+1 {
		t.Errorf("%d wait, want %d lines with the first and the step", b.Due(), StoryMax)
	}
	b.after(retryFirst)
	if !b.said("51 lines of the story were not recorded") || b.Due() != 0 {
		t.Errorf("%d wait; told %v", b.Due(), b.told[len(b.told)-1])
	}
	b.End()
	b.put(Entry{What: "line", Story: true, Record: writes(&none, nil)})
	b.put(Entry{What: "end", Done: "end", Record: writes(&none, nil)})
	b.after(0)
	if got := b.done(); !reflect.DeepEqual(got[len(got)-2:], []any{"step", "end"}) && !reflect.DeepEqual(got[len(got)-1], "end") {
		t.Errorf("durable at the end: %v", got[len(got)-2:])
	}
}

// TestSpace: little space is warned of, less holds the run, and more lets it go on; what
// cannot be asked is told and holds nothing.
func TestSpace(t *testing.T) {
	bytes, fails := uint64(100e6), error(nil)
	b := newBench(t, Options{Wait: true, MinFree: 10e6, Space: func() (uint64, error) { return bytes, fails }})
	for _, c := range []struct {
		bytes uint64
		says  string
		held  bool
	}{{100e6, "", false}, {15e6, "with less than 10.0 MB the run is held", false}, {9e6, "the run is held until there is more", true},
		{50e6, "free on the disk again", false}} {
		bytes, b.told = c.bytes, nil
		b.after(SpaceEvery)
		if held := b.Problem() != ""; held != c.held || c.says != "" && !b.said(c.says) {
			t.Errorf("%d bytes: held %v, told %v", c.bytes, held, b.told)
		}
	}
	fails, b.told = errors.New("no answer"), nil
	b.after(SpaceEvery)
	if _, ok := b.told[0].(Unknown); !ok || b.Problem() != "" {
		t.Errorf("told %v, problem %q", b.told, b.Problem())
	}
}
