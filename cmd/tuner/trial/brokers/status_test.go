package brokers

import (
	"math"
	"strings"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/ask"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/remote"
)

// A status fits a narrow terminal: what may be long has lines of its own, and each number
// has its unit beside it.
func TestStatusAtAGlance(t *testing.T) {
	nan := journal.Number(math.NaN())
	s := &control.Status{Name: "oven", Site: "lab", State: "running", Phase: "measuring", For: 62, Step: 8, Steps: 7, Spent: 12.5, Budget: 100, CostUnit: "min", Elapsed: 3600, Left: 7200,
		Objective: control.ObjectiveStatus{Name: "yield", Unit: "%"}, Outcome: &control.OutcomeStatus{Mean: 71.23456},
		Recommended: &control.RecommendedStatus{Values: []journal.Number{181.23456, nan, 3}, Mean: 74.1, Bound: 72.9},
		Variables: []control.VariableStatus{{Name: "temperature", Unit: "degC", Readback: 180.98765, Setpoint: 181, Wanted: 181, OnStop: "to 20 degC", OnEnd: "stays where it is"}, {Name: "flow", Unit: "L/min", Readback: 2.5, Setpoint: nan, Wanted: nan},
			{Name: "pressure", Unit: "bar", Readback: 3.01, Setpoint: 3, Wanted: 3}},
		Sensors: []control.SensorStatus{{Name: "yield", Unit: "%", Value: 71.2, Age: 0.4, Valid: true}, {Name: "ph", Unit: "pH", Value: nan, Age: nan}}}
	var b strings.Builder
	if err := ask.PrintStatus(&b, remote.Presence{}, s); err != nil {
		t.Fatal(err)
	}
	const want = `oven at lab:  running for 1m2s (measuring)
step          8, 7 concluded
spent         12.5 min of 100 min
time          1h, about 2h left
last yield    71.235 %
best          74.1 %, at least 72.9 %

variable     unit   reads  set to  going to  best
temperature  degC   181    181     181       181.2
flow         L/min  2.5    -       -         -
pressure     bar    3.01   3       3         3

sensor  unit  reads  age
yield   %     71.2   400ms
ph      pH    -      no value yet

actuator     tuner stop  tuner end
temperature  to 20 degC  stays where it is
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// A state that has just begun has lasted no time that means anything.
func TestStatusOfAFreshState(t *testing.T) {
	var b strings.Builder
	if err := ask.PrintStatus(&b, remote.Presence{}, &control.Status{Name: "oven", Site: "lab", State: "disarmed", Phase: "waiting for resume", For: 0.001}); err != nil {
		t.Fatal(err)
	}
	if want := "oven at lab:  disarmed since just now (waiting for resume)\n"; !strings.HasPrefix(b.String(), want) {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}
