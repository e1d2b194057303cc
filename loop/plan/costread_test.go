package plan

import (
	"errors"
	"math"
	"testing"

	"github.com/labtuner/tuner/loop/journal"
)

// readOptions have two control sets, whose cost is what the one sensor reads.
func readOptions() *Options {
	return &Options{ControlSets: []ControlSet{{Cost: 2}, {Cost: 7}}, Objective: Objective{Shots: 2},
		Cost: Cost{Unit: "EUR", PerStep: 0.5, PerShot: 0.25, Reading: func(sensors []float64) (float64, error) {
			if math.IsNaN(sensors[0]) {
				return 0, errors.New("no data")
			}
			return sensors[0], nil
		}}}
}

func shotsOf(readings ...float64) (shots []journal.Shot) {
	for _, v := range readings {
		shots = append(shots, journal.Shot{Sensors: []float64{v}})
	}
	return shots
}

// A step is charged the mean of what its shots read; where none does, or it is negative, what the steps of its
// control set were charged so far, and before the first of them what the file says. A budget has to hold the
// most expensive step so far.
func TestReadCostsAreCharged(t *testing.T) {
	o, paid := readOptions(), NewLedger(2)
	step := Step{Set: 0}
	for _, c := range []struct {
		readings []float64
		want     float64
		unread   bool
	}{
		{nil, 2.5, true},
		{[]float64{1, 3}, 3, false},
		{[]float64{math.NaN(), 5}, 6, false},
		{[]float64{-4, 1}, 3.833333333, true}, // a third of 11.5, in billionths
		{[]float64{math.Inf(1)}, 3.833333333, true},
		{[]float64{1e250}, 3.833333333, true}, // more than the ledger holds
		{[]float64{-1, 1}, 1, false},
	} {
		got, err := step.Charge(o, shotsOf(c.readings...), &paid)
		if got != AsMoney(c.want) || c.unread != (err != nil) {
			t.Errorf("readings %v: charged %v (%v), want %v", c.readings, got.Float(), err, c.want)
		}
		paid.Charge(0, got)
	}
	if got := step.AtMost(o, 2, &paid); got != AsMoney(6) {
		t.Errorf("%v have to be left for a step, want the most expensive, 6", got.Float())
	}
	other := Step{Set: 1}
	if got := other.AtMost(o, 2, &paid); got != AsMoney(7+0.5+0.5) {
		t.Errorf("%v have to be left for a step whose cost was never read, want the file's 8", got.Float())
	}
	if got, err := (&Step{Set: -1}).Charge(o, shotsOf(3), &paid); got != 0 || err != nil {
		t.Errorf("a step in shadow mode is charged %v (%v)", got.Float(), err)
	}
}

// The policy is told what the file's cost of a control set stands for: the reading with what every step costs.
func TestPolicyIsToldOfReadCosts(t *testing.T) {
	o := readOptions()
	x := []float64{0.5}
	c := Concluded{Set: 1, Requested: x, PerShot: true, Shots: shotsOf(1, 3), Outcome: journal.Outcome{Step: 1, X: x, Cost: 3, Shots: 2, Valid: true}}
	all := o.Observations(c)
	if len(all) != 2 || all[0].SetCost != 2+0.5+2*0.25 || !math.IsNaN(all[1].SetCost) {
		t.Errorf("observations %+v", all)
	}
	c.Shots = shotsOf(math.NaN(), math.NaN())
	if got := o.Observations(c)[0].SetCost; !math.IsNaN(got) {
		t.Errorf("a cost that was not read is told as %g", got)
	}
}
