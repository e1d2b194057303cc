package exclusion

import (
	"math"
	"testing"
)

// One failure closes a ball around a setting; a valid step shrinks it; far away
// nothing changes.
func TestExclusionExcludesABall(t *testing.T) {
	r := New(2, 100)
	at := func(dx float64) []float64 { return []float64{0.5 + dx, 0.5} }
	if r.Penalty(at(0)) != 0 {
		t.Error("nothing failed, but there is a penalty")
	}
	r.Add(at(0), false, 1)
	r.Decide(2)
	radius := 0.1 * math.Sqrt2
	if r.Penalty(at(0)) == 0 || r.Penalty(at(0.99*radius)) == 0 {
		t.Error("the failed setting may be proposed")
	}
	if r.Penalty(at(1.01*radius)) != 0 {
		t.Error("one failure excludes too much")
	}
	if r.Penalty(at(0.01*radius)) <= r.Penalty(at(0.5*radius)) {
		t.Error("where all is excluded, the farther setting must win")
	}
	// A valid step at 0.09: points twice as near to it as to the failure are open,
	// those from 0.06 on.
	r.Add(at(0.09), true, 2)
	if r.Penalty(at(0.061)) != 0 || r.Penalty(at(0.09)) != 0 || r.Penalty(at(0.059)) == 0 {
		t.Error("a valid step nearby opens what is twice as near to it")
	}
	r.Add(at(0), true, 2)
	if r.Penalty(at(0)) != 0 {
		t.Error("a setting that also gave data is excluded")
	}
}

// The exclusion lapses, four times later for each failure at the same place.
func TestExclusionLapses(t *testing.T) {
	r := New(1, 100)
	x := []float64{0.3}
	step := 10
	for _, wait := range []int{50, 200, 800} {
		r.Add(x, false, step)
		r.Decide(step + wait)
		if r.Penalty(x) == 0 {
			t.Errorf("open again after %d steps", wait)
		}
		r.Decide(step + wait + 1)
		if r.Penalty(x) != 0 {
			t.Errorf("still closed after %d steps", wait+1)
		}
		step += wait + 1
	}
}

func TestExclusionIsBoundedAndCounts(t *testing.T) {
	r := New(2, 100)
	x := []float64{0.9, 0.1}
	for i := range 500 {
		r.Add(x, false, i)
		r.Add(x, i%2 == 0, i)
	}
	if len(r.failed) != 200 || len(r.failedAt) != 100 || len(r.valid) != 200 || r.failedAt[99] != 499 {
		t.Errorf("kept %d failures, %d steps, %d valid", len(r.failed)/2, len(r.failedAt), len(r.valid)/2)
	}
	if r.Unreliable(x) {
		t.Error("as many valid as failed steps are kept: not unreliable")
	}
	r.Add([]float64{0.1, 0.1}, false, 1)
	if !r.Unreliable([]float64{0.1, 0.1}) || r.Unreliable([]float64{0.5, 0.5}) {
		t.Error("unreliable is where more steps failed")
	}
}
