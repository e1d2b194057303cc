package session

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
)

// foreseen is a run of six variables of all kinds, between two steps.
func foreseen() *foresight {
	frozen, none := 3.0, journal.Number(math.NaN())
	o := &plan.Options{Variables: []plan.Variable{
		{Name: "a", Unit: "V", Low: 0, High: 10, Actuated: true}, {Name: "b", Unit: "mm", Low: 0, High: 10, Actuated: true},
		{Name: "held", Unit: "A", Low: 0, High: 10, Actuated: true, OnRelease: plan.Hold}, {Name: "parked", Unit: "A", Low: 0, High: 10, Actuated: true, OnRelease: plan.Park},
		{Name: "cold", Low: 0, High: 10, Actuated: true, Frozen: &frozen}, {Name: "light", Low: 0, High: 10}},
		ControlSets: []plan.ControlSet{{Variables: []int{0, 1}, Cost: 2}, {Variables: []int{0, 1, 2, 3}, Cost: 5}}}
	for i := range o.Variables {
		o.Variables[i].Limits.High, o.Variables[i].Limits.Safe = 10, 1
	}
	s := &control.Status{Recommended: &control.RecommendedStatus{Values: []journal.Number{7, 8, none, none, none, none}}}
	for i, v := range o.Variables {
		s.Variables = append(s.Variables, control.VariableStatus{Name: v.Name, Low: 0, High: 9, Wanted: journal.Number(i), Setpoint: none, Readback: journal.Number(i) + 0.1, OnEnd: "held at end"})
	}
	s.Variables[1].Wanted, s.Variables[5].OnEnd = none, "" // not driven: it is where it reads
	return &foresight{o: o, status: s}
}

// The preview of a try names every actuator, and what is sent names all of it, so that a
// recommendation that comes in between changes nothing.
func TestPreviewOfATry(t *testing.T) {
	f := foreseen()
	p, err := f.try(json.RawMessage(`{"values": {"a": 4}, "times": 2, "reason": "lamp"}`))
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, m := range p.Moves {
		told = append(told, fmt.Sprintf("%s: %v -> %s", m.Variable, m.From, m.Text))
	}
	if got, want := strings.Join(told, "; "), "a: 0 -> 4 V; b: 1.1 -> 8 mm; held: 2 -> stays where it is; parked: 3 -> 1 A; cold: 4 -> 3"; got != want {
		t.Errorf("moves %s\nwant  %s", got, want)
	}
	again, err := control.ParseTry(p.Args)
	if err != nil || len(again.Values) != 2 || again.Values["a"] != 4 || again.Values["b"] != 8 || again.Times != 2 || control.ReasonOf(p.Args) != "lamp" {
		t.Errorf("sent would be %s, %v", p.Args, err)
	}
	if !strings.Contains(p.Words, "in 2 steps") || !strings.Contains(p.Words, "control set of a, b") {
		t.Errorf("it says %q", p.Words)
	}
	f.status.Recommended.Values[1] = 2
	second, err := f.try(p.Args)
	if err != nil || second.Moves[1].To != 8 {
		t.Errorf("with another recommendation b goes to %v, %v", second.Moves[1].To, err)
	}
	if p, err = f.try(json.RawMessage(`{"values": {"a": 4}, "rest": "present"}`)); err != nil || p.Moves[1].To != 1.1 {
		t.Errorf("what stays goes to %v, %v", p.Moves[1].To, err)
	}
	for args, want := range map[string]string{
		`{"values": {"a": 9.5}}`:   "a = 9.5 V is outside its range, 0 to 9 V", // narrowed since
		`{"values": {"light": 1}}`: "light is measured only",
		`{"values": {}}`:           "values is missing",
	} {
		if _, err := f.try(json.RawMessage(args)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}

// Ends and the best setting are told by name, too; before there is one, there is nothing to go to.
func TestPreviewOfAnEnd(t *testing.T) {
	f := foreseen()
	if moves := f.rests(func(v control.VariableStatus) string { return v.OnEnd }); len(moves) != 5 || moves[4].Text != "held at end" || moves[1].From != 1.1 {
		t.Errorf("%+v", moves)
	}
	p, err := f.setBest(control.Preview{})
	if err != nil || len(p.Moves) != 5 || p.Moves[0].To != 7 || p.Moves[3].To != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	f.status.Recommended = nil
	if _, err := f.setBest(control.Preview{}); err == nil {
		t.Error("a best setting is there before any step")
	}
	if moves := f.frozen(map[string]float64{"b": 5}); len(moves) != 1 || moves[0].From != 1.1 || moves[0].To != 5 {
		t.Errorf("%+v", moves)
	}
}
