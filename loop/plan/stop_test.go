package plan

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// TestStopReason: each condition ends a search where it holds and not before; the first of them
// is told; a dry run ends by its time alone; bounds count in the user's sense.
func TestStopReason(t *testing.T) {
	target := func(x float64) *float64 { return &x }
	all := Stop{Cost: 10, Steps: 20, Time: time.Hour, Target: target(5), NoImprovement: NoImprovement{Steps: 4}}
	marked := Marked{is: true, bound: 1, steps: 3, spent: AsMoney(2)}
	for name, c := range map[string]struct {
		stop     Stop
		far      Far
		minimize bool
		mode     Mode
		want     string
	}{
		"nothing":                  {all, Far{Ran: time.Hour - 1, Steps: 6, Spent: AsMoney(9.99), Bound: 4.99, Bounded: true, Marked: marked}, false, Live, ""},
		"time first":               {all, Far{Ran: time.Hour, Steps: 20, Spent: AsMoney(10)}, false, Live, StopTime},
		"steps":                    {all, Far{Steps: 20, Spent: AsMoney(10)}, false, Live, StopSteps},
		"cost":                     {all, Far{Steps: 19, Spent: AsMoney(10), Bound: 5, Bounded: true}, false, Live, StopCost},
		"target":                   {all, Far{Bound: 5, Bounded: true}, false, Live, StopTarget},
		"target of one infeasible": {all, Far{Bound: 5}, false, Live, ""},
		"no number":                {all, Far{Bound: math.NaN(), Bounded: true}, false, Live, ""},
		"target, minimized":        {all, Far{Bound: 5, Bounded: true}, true, Live, StopTarget},
		"above it, minimized":      {all, Far{Bound: 5.01, Bounded: true}, true, Live, ""},
		"a target of 0":            {Stop{Target: target(0)}, Far{Bound: 0, Bounded: true}, false, Live, StopTarget},
		"no improvement":           {all, Far{Steps: 7, Marked: marked}, false, Live, StopNoImprovement},
		"none by cost":             {Stop{NoImprovement: NoImprovement{Cost: 3}}, Far{Steps: 4, Spent: AsMoney(5), Marked: marked}, false, Live, StopNoImprovement},
		"not yet by cost":          {Stop{NoImprovement: NoImprovement{Cost: 3}}, Far{Steps: 400, Spent: AsMoney(4.99), Marked: marked}, false, Live, ""},
		"no bound yet":             {all, Far{Steps: 19}, false, Live, ""},
		"a dry run":                {all, Far{Ran: 1, Steps: 99, Spent: AsMoney(99), Bound: 9, Bounded: true, Marked: marked}, false, Shadow, ""},
		"a dry run's time":         {all, Far{Ran: time.Hour}, false, Shadow, StopTime},
	} {
		o := Options{Stop: c.stop, Mode: c.mode}
		o.Objective.Minimize = c.minimize
		if got := o.StopReason(c.far); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestNoImprovement compares the count with the whole history: the search ends at the first step
// behind which so many steps, or so much cost, have not raised the best bound by more than by. Steps of the initial
// design begin the count anew, and what is recorded at each better bound takes it up.
func TestNoImprovement(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 21))
	ended := map[bool]int{}
	for range 300 {
		n := NoImprovement{Steps: r.IntN(4) * r.IntN(20), By: float64(r.IntN(2)) / 4}
		if n.Steps == 0 || r.IntN(3) == 0 {
			n.Cost = float64(1 + r.IntN(6)*r.IntN(20))
		}
		design := r.IntN(4)
		o := Options{Stop: Stop{NoImprovement: n}, Mode: Live}
		var m Marked
		best, lastStep, lastSpent, spent := math.Inf(-1), 0, 0.0, 0.0
		over := false
		for step := 1; step <= 30 && !over; step++ {
			spent += float64(1 + r.IntN(3))
			bound := float64(r.IntN(9)) / 4
			if step <= design || bound > best+n.By {
				best, lastStep, lastSpent = math.Max(best, bound), step, spent
			}
			if mark := m.Raise(n, bound, step, AsMoney(spent), step <= design); mark != nil && r.IntN(2) == 0 {
				m = MarkedAt(mark) // as another process goes on
			}
			over = n.Steps > 0 && step-lastStep >= n.Steps || n.Cost > 0 && spent-lastSpent >= n.Cost
			got := o.StopReason(Far{Steps: step, Spent: AsMoney(spent), Marked: m})
			if want := map[bool]string{true: StopNoImprovement}[over]; got != want {
				t.Fatalf("%+v, a design of %d: after step %d %q, want %q", n, design, step, got, want)
			}
		}
		ended[over]++
	}
	if ended[true] == 0 || ended[false] == 0 {
		t.Errorf("searches that ended and did not: %v", ended)
	}
}
