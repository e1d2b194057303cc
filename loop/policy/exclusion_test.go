package policy

import (
	"math"
	"testing"
)

// One failure closes a ball around a setting; a valid step shrinks it; far away
// nothing changes.
func TestExclusionExcludesABall(t *testing.T) {
	v := newExclusion(2, 100)
	at := func(dx float64) []float64 { return []float64{0.5 + dx, 0.5} }
	if v.penalty(at(0)) != 0 {
		t.Error("nothing failed, but there is a penalty")
	}
	v.add(at(0), false, 1)
	v.decide(2)
	r := 0.1 * math.Sqrt2
	if v.penalty(at(0)) == 0 || v.penalty(at(0.99*r)) == 0 {
		t.Error("the failed setting may be proposed")
	}
	if v.penalty(at(1.01*r)) != 0 {
		t.Error("one failure excludes too much")
	}
	if v.penalty(at(0.01*r)) <= v.penalty(at(0.5*r)) {
		t.Error("where all is excluded, the farther setting must win")
	}
	// A valid step at 0.09: points twice as near to it as to the failure are open,
	// those from 0.06 on.
	v.add(at(0.09), true, 2)
	if v.penalty(at(0.061)) != 0 || v.penalty(at(0.09)) != 0 || v.penalty(at(0.059)) == 0 {
		t.Error("a valid step nearby opens what is twice as near to it")
	}
	v.add(at(0), true, 2)
	if v.penalty(at(0)) != 0 {
		t.Error("a setting that also gave data is excluded")
	}
}

// The exclusion lapses, four times later for each failure at the same place.
func TestExclusionLapses(t *testing.T) {
	v := newExclusion(1, 100)
	x := []float64{0.3}
	step := 10
	for _, wait := range []int{50, 200, 800} {
		v.add(x, false, step)
		v.decide(step + wait)
		if v.penalty(x) == 0 {
			t.Errorf("open again after %d steps", wait)
		}
		v.decide(step + wait + 1)
		if v.penalty(x) != 0 {
			t.Errorf("still closed after %d steps", wait+1)
		}
		step += wait + 1
	}
}

func TestExclusionIsBoundedAndCounts(t *testing.T) {
	v := newExclusion(2, 100)
	x := []float64{0.9, 0.1}
	for i := range 500 {
		v.add(x, false, i)
		v.add(x, i%2 == 0, i)
	}
	if len(v.failed) != 200 || len(v.failedAt) != 100 || len(v.valid) != 200 || v.failedAt[99] != 499 {
		t.Errorf("kept %d failures, %d steps, %d valid", len(v.failed)/2, len(v.failedAt), len(v.valid)/2)
	}
	if v.unreliable(x) {
		t.Error("as many valid as failed steps are kept: not unreliable")
	}
	v.add([]float64{0.1, 0.1}, false, 1)
	if !v.unreliable([]float64{0.1, 0.1}) || v.unreliable([]float64{0.5, 0.5}) {
		t.Error("unreliable is where more steps failed")
	}
}
