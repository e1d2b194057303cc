package plan

import (
	"math"
	"strings"
	"testing"

	"github.com/labtuner/tuner/safety"
)

// TestTrySetting: the cheapest control set that holds what is named is played; what is measured only,
// unknown, or outside its range is refused, and so is what no set holds together.
func TestTrySetting(t *testing.T) {
	o := &Options{Variables: []Variable{{Name: "a", Unit: "V", Actuated: true}, {Name: "b", Actuated: true}, {Name: "c", Actuated: true}, {Name: "d"}},
		ControlSets: []ControlSet{{Variables: []int{0, 1, 2}, Cost: 5}, {Variables: []int{0, 1}, Cost: 2}, {Variables: []int{1, 2}, Cost: 1}}}
	inside := func(int) (float64, float64) { return 0, 10 }
	nan := math.NaN()
	for _, c := range []struct {
		named map[string]float64
		set   int
		x     []float64
		err   string
	}{
		{map[string]float64{"a": 3}, 1, []float64{3, nan, nan, nan}, ""},
		{map[string]float64{"b": 0}, 2, []float64{nan, 0, nan, nan}, ""},
		{map[string]float64{"a": 10, "c": 1}, 0, []float64{10, nan, 1, nan}, ""},
		{map[string]float64{"a": 10.5}, 0, nil, "a = 10.5 V is outside its range, 0 to 10 V"},
		{map[string]float64{"a": nan}, 0, nil, "outside its range"},
		{map[string]float64{"d": 1}, 0, nil, "d is measured only"},
		{map[string]float64{"e": 1, "a": 2}, 0, nil, `there is no variable "e"; there are a, b, c, d`},
	} {
		x, set, err := o.TrySetting(c.named, inside)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%v: %v, want %q", c.named, err, c.err)
			}
			continue
		}
		if err != nil || set != c.set {
			t.Errorf("%v: set %d, %v; want %d", c.named, set, err, c.set)
			continue
		}
		for i := range x {
			if x[i] != c.x[i] && !(math.IsNaN(x[i]) && math.IsNaN(c.x[i])) {
				t.Errorf("%v: x %v, want %v", c.named, x, c.x)
			}
		}
	}
	o.ControlSets = o.ControlSets[1:]
	if _, _, err := o.TrySetting(map[string]float64{"a": 1, "c": 1}, inside); err == nil || !strings.Contains(err.Error(), "no control set holds a and c together") {
		t.Errorf("no set has both: %v", err)
	}
}

// TestCompleteTry: the rest comes from the first that knows it, inside the range; what nobody knows is to
// be named.
func TestCompleteTry(t *testing.T) {
	nan := math.NaN()
	o := &Options{Variables: []Variable{{Name: "a"}, {Name: "b"}, {Name: "c"}}, ControlSets: []ControlSet{{Variables: []int{0, 1}}, {Variables: []int{0, 1, 2}}}}
	inside := func(int) (float64, float64) { return 0, 10 }
	best, present := []float64{nan, 7, nan}, []float64{12, 1, nan}
	rests := []func(int) float64{func(i int) float64 { return best[i] }, func(i int) float64 { return present[i] }}
	x := []float64{nan, nan, nan}
	if err := o.CompleteTry(x, 0, inside, rests...); err != nil || x[0] != 10 || x[1] != 7 || !math.IsNaN(x[2]) {
		t.Errorf("%v, %v", x, err)
	}
	if err := o.CompleteTry([]float64{nan, nan, nan}, 1, inside, rests...); err == nil || !strings.Contains(err.Error(), "where c stands is not known") {
		t.Errorf("nobody knows c: %v", err)
	}
}

// TestTryOfLevels: a person's value is at a level, or a whole number, or refused; what is not named goes
// to the nearest that is allowed.
func TestTryOfLevels(t *testing.T) {
	nan := math.NaN()
	o := &Options{Variables: []Variable{{Name: "range", Unit: "uA", Actuated: true, Levels: []float64{1, 2, 5, 10}, Low: 1, High: 10, Limits: safety.VariableLimits{Low: 0, High: 8}},
		{Name: "count", Actuated: true, Integer: true, Resolution: 1, High: 9, Limits: safety.VariableLimits{Low: -5, High: 20}}, {Name: "feed", Actuated: true, Dose: true, High: 3}},
		ControlSets: []ControlSet{{Variables: []int{0, 1, 2}}}}
	for _, c := range []struct {
		named map[string]float64
		err   string
	}{
		{map[string]float64{"range": 5, "count": 3, "feed": 0.5}, ""},
		{map[string]float64{"range": 1.7}, "range = 1.7 uA is none of its levels, 1, 2, 5, 10"},
		{map[string]float64{"range": 10}, "range = 10 uA is outside its range, 1 to 8 uA"}, // beyond hard
		{map[string]float64{"count": 2.6}, "count = 2.6 is no whole number"},
		{map[string]float64{"count": -1}, "count = -1 is outside its range, 0 to 9"},
		{map[string]float64{"feed": -0.1}, "feed = -0.1 is outside its range, 0 to 3"},
	} {
		_, _, err := o.TrySetting(c.named, o.Allowed)
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%v: %v, want %q", c.named, err, c.err)
		}
	}
	x := []float64{nan, nan, 0}
	if err := o.CompleteTry(x, 0, o.Allowed, func(i int) float64 { return []float64{3.6, 2.4, 0}[i] }); err != nil || x[0] != 5 || x[1] != 2 {
		t.Errorf("completed to %v, %v", x, err)
	}
	if o.Gives(x) || !o.Gives([]float64{1, 1, 0.5}) || o.Gives([]float64{1, 1, nan}) {
		t.Error("what gives a dose is not told")
	}
}
