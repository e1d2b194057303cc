package simulator

import (
	"context"
	"math"
	"reflect"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/replay"
)

// inspect sees that a journal is sound and holds every step that was reported, as it
// was told. Of those long past, final looks at all.
func (v *witness) inspect(path string) {
	r, err := journal.OpenReader(path)
	if err != nil {
		v.violation("the journal cannot be read: %v", err)
		return
	}
	defer r.Close()
	for _, d := range r.Verify() {
		v.violation("the journal is damaged: %v", d)
	}
	status, err := r.Status()
	if err != nil {
		v.violation("the journal has no status: %v", err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if n := len(v.acks); n > 0 && status.Concluded < v.acks[n-1].step {
		v.breaks("the journal has %d concluded steps, and step %d was reported", status.Concluded, v.acks[n-1].step)
	}
}

// final goes through a world's journal once more: every step that was reported is
// there bit for bit, every action has at most one end, and every decision follows
// from what was recorded before it.
func (v *witness) final(path string) {
	v.inspect(path)
	r, err := journal.OpenReader(path)
	if err != nil {
		return // inspect has said it
	}
	defer r.Close()
	steps := map[int]journal.Step{}
	for s, err := range r.Steps() {
		if err != nil {
			v.violation("steps: %v", err)
			return
		}
		steps[s.Decision.Step] = s
	}
	told := map[int]bool{}
	for _, a := range v.acks {
		s, ok := steps[a.step]
		switch {
		case !ok || !s.Concluded:
			v.violation("step %d was reported, and is not in the journal", a.step)
		case told[a.step]:
			v.violation("step %d was reported twice", a.step)
		case !same(s.Outcome, a.outcome) || !same(s.Decision.Applied, a.decision.Applied):
			v.violation("step %d was reported as %+v and is %+v", a.step, a.outcome, s.Outcome)
		}
		told[a.step] = true
	}
	v.actions(r)
	v.settled(r)
	v.replay(r)
}

// actions sees that each action has at most one end.
func (v *witness) actions(r *journal.Reader) {
	for a, err := range r.AllActions() {
		if err != nil {
			v.violation("actions: %v", err)
			return
		}
		ends := 0
		for _, s := range a.Resolutions {
			if s.State != journal.Sent {
				ends++
			}
		}
		if ends > 1 {
			v.violation("action %d of step %d has %d ends: %+v", a.ID, a.Step, ends, a.Resolutions)
		}
	}
}

// replay derives every decision anew.
func (v *witness) replay(r *journal.Reader) {
	p, err := policy.New(v.w.spec())
	if err != nil {
		v.violation("policy: %v", err)
		return
	}
	replay := replay.Decisions{Options: v.w.pace.options(), Policy: p}
	done, err := replay.Run(context.Background(), r)
	if err != nil || done.First != nil {
		v.violation("replay after %d steps: %+v, %v", done.Steps, done.First, err)
	}
}

// same compares what was told with what was read: bit for bit, NaN as itself, dates
// by their instant, minus zero as zero.
func same(a, b any) bool { return equal(reflect.ValueOf(a), reflect.ValueOf(b)) }

func equal(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Float64:
		x, y := a.Float(), b.Float()
		return x == y || math.IsNaN(x) && math.IsNaN(y)
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !equal(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		for i := range a.NumField() {
			if a.Type().Field(i).Name == "Wall" {
				continue
			}
			if !equal(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	}
	return a.Equal(b)
}
