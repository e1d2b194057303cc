package safety

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// manyCounts are numbers of variables around the words of a set, and the most there can be.
var manyCounts = []int{1, 32, 33, 64, 65, MaxVariables}

// many are limits of n actuators, each with a readback.
func many(n int) Limits {
	l := Limits{Tick: 100 * time.Millisecond, HoldMax: time.Minute}
	for range n {
		l.Variables = append(l.Variables, VariableLimits{Low: 0, High: 10, SlewUp: 100, SlewDown: 100, Safe: 1, OnFault: RestSafe, Shutdown: RestSafe, Tolerance: 0.1, Timeout: time.Second})
	}
	return l
}

// TestManyVariables: whichever one of n actuators does not follow is the one that the trip names,
// in what holds, in what is latched and in what came first, also after both have been written
// and read; and every actuator gets its safe value.
func TestManyVariables(t *testing.T) {
	for _, n := range manyCounts {
		for _, odd := range []int{0, n / 2, n - 1} {
			t.Run(fmt.Sprintf("%d of %d", odd, n), func(t *testing.T) { stuckOf(t, n, odd) })
		}
	}
	l := many(MaxVariables + 1)
	if err := l.Check(); err == nil {
		t.Errorf("%d variables are not refused", MaxVariables+1)
	}
}

func stuckOf(t *testing.T, n, odd int) {
	l := many(n)
	if err := l.Check(); err != nil {
		t.Fatal(err)
	}
	var s State
	in, p, now := &Inputs{Ready: true, Durable: Undurable}, &Proposal{ID: 1}, time.Duration(0)
	for i := range n {
		in.Variable[i] = VariableInput{Readback: Sample{Value: 5, Known: true}, CanWrite: true, CanMakeSafe: true}
		p.Drive[i], p.Destination[i] = true, 6
	}
	var out Output
	step := func(c Command) {
		in.Command = c
		now += l.Tick
		out = s.Advance(&l, in, p, now)
		for i := range n {
			if !out.Write[i] {
				continue
			}
			in.Variable[i].Written = Sample{Value: out.Setpoint[i], At: now, Known: true}
			if i != odd || s.Mode == Tripped {
				in.Variable[i].Readback = Sample{Value: out.Setpoint[i], At: now, Known: true}
			}
		}
	}
	step(CommandNone)
	step(CommandArm)
	step(CommandStart)
	for range 100 {
		if step(CommandNone); s.Mode == Tripped {
			break
		}
	}
	var of []int
	for r, i := range s.Latched.All() {
		if r != RuleReadback {
			t.Errorf("%s of %d is latched", r, i)
		}
		of = append(of, i)
	}
	if s.Mode != Tripped || len(of) != 1 || of[0] != odd || s.FirstOut != s.Latched || out.Active != s.Latched {
		t.Fatalf("%s, latched of %v, first out %v", s.Mode, of, s.FirstOut)
	}
	step(CommandNone)
	for i := range n {
		if in.Variable[i].Written.Value != 1 {
			t.Errorf("actuator %d stands at %v in a trip", i, in.Variable[i].Written.Value)
		}
	}
	text, err := json.Marshal(s.Save())
	if err != nil {
		t.Fatal(err)
	}
	var saved Saved
	if err := json.Unmarshal(text, &saved); err != nil || saved != s.Save() {
		t.Fatalf("%s is read as %+v, %v", text, saved, err)
	}
	if again := Boot(saved); again.Mode != Tripped || !again.Latched[RuleReadback].Has(odd) {
		t.Errorf("a new process is %s, latched %v", again.Mode, again.Latched)
	}
}

// TestSetsOfOlderRecords: a set below 64 is written as older programs read it, one number, and
// their records are read.
func TestSetsOfOlderRecords(t *testing.T) {
	var c Causes
	c.Add(RuleReadback, 0)
	c.Add(RuleReadback, 31)
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var old [RuleCount]uint32
	if err := json.Unmarshal(text, &old); err != nil || old[RuleReadback] != 1|1<<31 {
		t.Errorf("an older program reads %s as %v, %v", text, old, err)
	}
	text, err = json.Marshal(old)
	if err != nil {
		t.Fatal(err)
	}
	var back Causes
	if err := json.Unmarshal(text, &back); err != nil || back != c {
		t.Errorf("%s of an older program is read as %v, %v", text, back, err)
	}
	for i := range MaxVariables {
		var one, again Set
		one.Add(i)
		text, err := json.Marshal(one)
		if err == nil {
			err = json.Unmarshal(text, &again)
		}
		if err != nil || again != one || !again.Has(i) || again.Has((i+1)%MaxVariables) {
			t.Errorf("{%d} is written as %s and read as %v, %v", i, text, again, err)
		}
	}
}
