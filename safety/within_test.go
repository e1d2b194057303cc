package safety

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

// wide has one of everything.
func wide() Limits {
	return Limits{Tick: time.Second, HoldMax: 30 * time.Second, Comms: 20 * time.Second, DurableWait: time.Second,
		Variables: []VariableLimits{{Low: 0, High: 10, SlewUp: 2, SlewDown: 3, Safe: 1, Dwell: time.Second, Lease: 9 * time.Second,
			Tolerance: 0.1, Timeout: time.Second, Above: 5, AboveTime: time.Minute, OnFault: RestSafe, Shutdown: RestHold}},
		Sensors:     []SensorLimits{{Low: -1, High: 1, MaxAge: time.Second, Rate: 3, Stuck: 9, With: 0, Tolerance: 0.5, AgreeTime: time.Minute}},
		Links:       []LinkLimits{{Watched: true}},
		Interlocks:  []Condition{{Low: -1, High: 1}},
		Permissives: []Condition{{Low: -1, High: 1}},
		Responses:   []ResponseLimits{{Sensor: -1, Change: 1, Moves: 1, Within: time.Minute}},
		Doses:       []DoseLimits{{PerDose: 2, Hour: 10, Day: 50, MinInterval: time.Minute}}}
}

// TestWithin changes one limit at a time: every change is either a tighter limit or
// refused, and the change back is the opposite.
func TestWithin(t *testing.T) {
	w := wide()
	if err := w.Within(&w); err != nil {
		t.Fatalf("the same limits: %v", err)
	}
	for name, tighten := range map[string]func(*Limits){
		"low":        func(l *Limits) { l.Variables[0].Low = 0.5 },
		"high":       func(l *Limits) { l.Variables[0].High = 9 },
		"slew up":    func(l *Limits) { l.Variables[0].SlewUp = 1 },
		"slew down":  func(l *Limits) { l.Variables[0].SlewDown = 1 },
		"dwell":      func(l *Limits) { l.Variables[0].Dwell = 2 * time.Second },
		"above":      func(l *Limits) { l.Variables[0].Above = 4 },
		"above time": func(l *Limits) { l.Variables[0].AboveTime = time.Second },
		"hold":       func(l *Limits) { l.HoldMax = time.Second },
		"comms":      func(l *Limits) { l.Comms = time.Second },
		"rate":       func(l *Limits) { l.Sensors[0].Rate = 1 },
		"stuck":      func(l *Limits) { l.Sensors[0].Stuck = 3 },
		"tolerance":  func(l *Limits) { l.Sensors[0].Tolerance = 0.25 },
		"agree":      func(l *Limits) { l.Sensors[0].AgreeTime = time.Second },
		"interlock":  func(l *Limits) { l.Interlocks[0].High = 0.5 },
		"permissive": func(l *Limits) { l.Permissives[0].Low = 0 },
		"response":   func(l *Limits) { l.Responses[0].Within = time.Second },
		"dose":       func(l *Limits) { l.Doses[0].PerDose = 1 },
		"hour":       func(l *Limits) { l.Doses[0].Hour = 1 },
		"day":        func(l *Limits) { l.Doses[0].Day = 1 },
		"run":        func(l *Limits) { l.Doses[0].Run = 1000 }, // there was none
		"reservoir":  func(l *Limits) { l.Doses[0].Reservoir = 5 },
		"no hold":    func(l *Limits) { l.HoldMax = 0 },
		"interval":   func(l *Limits) { l.Doses[0].MinInterval = time.Hour },
	} {
		tight := wide()
		tighten(&tight)
		if err := tight.Within(&w); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := w.Within(&tight); !errors.Is(err, ErrLimits) {
			t.Errorf("%s: taken back with error %v", name, err)
		}
	}
	bare := wide() // without a bound on exposure any is tighter
	bare.Variables[0].AboveTime = 0
	bound := wide()
	bound.Variables[0].Above = 7
	if err := bound.Within(&bare); err != nil {
		t.Errorf("a first bound on exposure: %v", err)
	}
	wider := wide()
	wider.HoldMax, wider.Tick = time.Hour, time.Minute
	if err := wider.Within(&w); err == nil || !strings.Contains(err.Error(), "hold") {
		t.Errorf("the first thing that is wider is named: %v", err)
	}
	for name, change := range map[string]func(*Limits){
		"variable":   func(l *Limits) { l.Variables = append(l.Variables, l.Variables[0]) },
		"sensor":     func(l *Limits) { l.Sensors = append(l.Sensors, l.Sensors[0]) },
		"permissive": func(l *Limits) { l.Permissives = append(l.Permissives, l.Permissives[0]) },
		"response":   func(l *Limits) { l.Responses = append(l.Responses, l.Responses[0]) },
		"dose":       func(l *Limits) { l.Doses = append(l.Doses, l.Doses[0]) },
	} {
		more, fewer := wide(), wide()
		change(&more)
		if more.Within(&w) == nil || fewer.Within(&more) == nil {
			t.Errorf("one %s more, or one fewer, is taken", name)
		}
	}
	for name, change := range map[string]func(*Limits){
		"tick":          func(l *Limits) { l.Tick = time.Millisecond },
		"safe":          func(l *Limits) { l.Variables[0].Safe = 2 },
		"on_fault":      func(l *Limits) { l.Variables[0].OnFault = RestHold },
		"lease":         func(l *Limits) { l.Variables[0].Lease = 10 * time.Second },
		"not a number":  func(l *Limits) { l.Variables[0].Low = math.NaN() },
		"no slew":       func(l *Limits) { l.Variables[0].SlewUp = math.NaN() },
		"sensor range":  func(l *Limits) { l.Sensors[0].High = 0.5 },
		"max_age":       func(l *Limits) { l.Sensors[0].MaxAge = time.Millisecond },
		"other sensor":  func(l *Limits) { l.Interlocks[0].Sensor = 1 },
		"one interlock": func(l *Limits) { l.Interlocks = append(l.Interlocks, Condition{High: 1}) },
		"bypass":        func(l *Limits) { l.Bypasses = []Bypass{{Rule: RuleStale, Until: time.Hour}} },
		"no rate":       func(l *Limits) { l.Sensors[0].Rate = 0 },
		"no exposure":   func(l *Limits) { l.Variables[0].AboveTime = 0 },
	} {
		other := wide()
		change(&other)
		if err := other.Within(&w); !errors.Is(err, ErrLimits) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
