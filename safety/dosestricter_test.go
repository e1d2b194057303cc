package safety

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// charged is what an account has charged in the last hour and day at a time, from the slots
// themselves.
func charged(d DoseState, at time.Duration) (hour, day float64) {
	for back := range int64(hourSlots) {
		if k := d.HourSlot - back; k >= 0 && k > int64(at/hourSlot)-int64(hourSlots) {
			hour += d.Hour[k%int64(hourSlots)]
		}
	}
	for back := range int64(daySlots) {
		if k := d.DaySlot - back; k >= 0 && k > int64(at/daySlot)-int64(daySlots) {
			day += d.Day[k%int64(daySlots)]
		}
	}
	return hour, day
}

// someDoses is the account of doses at random times up to about at.
func someDoses(r *rand.Rand, at time.Duration) DoseState {
	d := DoseState{Open: r.IntN(3) == 0, Unknown: r.IntN(5) == 0, Granted: r.IntN(2) == 0}
	for now := max(at-time.Duration(r.Int64N(int64(40*time.Hour))), 0); now < at; now += time.Duration(r.Int64N(int64(5 * time.Hour))) {
		d.Recall(now, r.Float64())
		if r.IntN(10) == 0 {
			d.Used = 0
		}
	}
	d.Amount, d.InHour, d.InDay = r.Float64(), d.HourSlot, d.DaySlot
	return d
}

// TestStricterAllowsNoMore: of two accounts at random the stricter one has charged at least
// what each has, at any time, also once its open dose is counted as delivered.
func TestStricterAllowsNoMore(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	for n := range 20000 {
		a := someDoses(r, time.Duration(r.Int64N(int64(60*time.Hour))))
		b := someDoses(r, time.Duration(r.Int64N(int64(60*time.Hour))))
		if !a.Plausible(61*time.Hour) || !b.Plausible(61*time.Hour) {
			t.Fatalf("seed %d, pair %d: not plausible: %+v, %+v", seed, n, a, b)
		}
		both := a.Stricter(b)
		for range 20 {
			at := time.Duration(r.Int64N(int64(90 * time.Hour)))
			delivered := both
			delivered.Deliver(at)
			for _, out := range []DoseState{both, delivered} {
				hour, day := charged(out, at)
				for _, d := range []DoseState{a, b} {
					if h, dd := charged(d, at); hour < h-1e-9 || day < dd-1e-9 {
						t.Fatalf("seed %d, pair %d at %v: %v in the hour, %v in the day, and one of both has %v, %v", seed, n, at, hour, day, h, dd)
					}
					if out.Total < d.Total-1e-9 || out.Used < d.Used-1e-9 || d.Dosed && (!out.Dosed || out.LastAt < d.LastAt) || out.Number < d.Number || out.Granted {
						t.Fatalf("seed %d, pair %d: %+v of %+v and %+v", seed, n, out, a, b)
					}
				}
			}
			if both.Open != (a.Open || b.Open) || both.Unknown != (a.Unknown || b.Unknown) {
				t.Fatalf("seed %d, pair %d: %+v of %+v and %+v", seed, n, both, a, b)
			}
		}
	}
}

// TestPlausible: an account of the future, or of amounts that are none, is not believed.
func TestPlausible(t *testing.T) {
	good := DoseState{}
	good.Recall(3*time.Hour, 1)
	for what, spoil := range map[string]func(*DoseState){
		"its last dose":  func(d *DoseState) { d.LastAt = 4 * time.Hour },
		"its hour":       func(d *DoseState) { d.HourSlot += 1 << 40 },
		"its day":        func(d *DoseState) { d.DaySlot += 2 },
		"its dose":       func(d *DoseState) { d.InDay = 99 },
		"a negative sum": func(d *DoseState) { d.Total = -1 },
		"a slot":         func(d *DoseState) { d.Hour[3] = -1 },
		"a number":       func(d *DoseState) { d.Number = -1 },
		"no amount":      func(d *DoseState) { d.Used = math.NaN() },
		"no end":         func(d *DoseState) { d.Day[0] = math.Inf(1) },
	} {
		bad := good
		if spoil(&bad); bad.Plausible(3*time.Hour) || !good.Plausible(3*time.Hour) {
			t.Errorf("%s: taken for plausible, or the sound one not", what)
		}
	}
}

// TestStricterKeepsEither: that something was dosed is known where one of them knows it; of one
// dose the first account's word counts, of two the later one's.
func TestStricterKeepsEither(t *testing.T) {
	none, one := DoseState{}, DoseState{}
	one.Recall(time.Hour, 1)
	if !none.Stricter(one).Dosed || !one.Stricter(none).Dosed || none.Stricter(none).Dosed {
		t.Error("what was dosed is forgotten, or made up")
	}
	a, b := DoseState{Number: 2, Amount: 1}, DoseState{Number: 2, Amount: 3}
	if got := a.Stricter(b); got.Amount != 1 {
		t.Errorf("of one dose: %v", got.Amount)
	}
	b.Number = 3
	if x, y := a.Stricter(b), b.Stricter(a); x.Amount != 3 || y.Amount != 3 {
		t.Errorf("of two: %v and %v", x.Amount, y.Amount)
	}
}
