package main

import (
	"math"
	"testing"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/plan"
)

func TestNumber(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 1: "1", -2.5: "-2.5", 12345: "12345", 123456: "123460", 1.0000001: "1", 0.00012345678: "0.00012346",
		1e-5: "1e-05", 2.5e9: "2.5e+09", 1e6: "1000000", math.Inf(1): "+Inf",
	} {
		if got := number(x); got != want {
			t.Errorf("number(%v) = %q, want %q", x, got, want)
		}
	}
	if got := quantity(math.NaN(), "mJ"); got != "unknown" {
		t.Errorf("a number that is not known reads %q", got)
	}
	if got := quantity(3, "1") + ", " + quantity(3, "") + ", " + quantity(3, "mJ"); got != "3, 3, 3 mJ" {
		t.Errorf("units: %q", got)
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 1234567: "1ms", 50 * time.Millisecond: "50ms", 1260 * time.Millisecond: "1.3s", 10 * time.Second: "10s",
		10 * time.Minute: "10m", 10*time.Minute + 30*time.Second: "10m30s", 90 * time.Minute: "1h30m", 8 * time.Hour: "8h",
		20 * time.Hour: "20h", 99*time.Hour + 59*time.Minute: "99h59m", 336 * time.Hour: "14 days",
	} {
		if got := duration(d); got != want {
			t.Errorf("duration(%v) = %q, want %q", int64(d), got, want)
		}
	}
}

func TestProgressLine(t *testing.T) {
	w := &wiring{opt: plan.Options{Objective: plan.Objective{Unit: "mJ"}, Cost: plan.Cost{Unit: "EUR"}}}
	p := control.Progress{Step: 12, Phase: "measuring", LowerBound: 1.90456, Spent: 4.3, Left: 192 * time.Second}
	if got, want := w.progressLine(p, 1), "step 12, measuring, best at least 1.905 mJ, spent 4.3 EUR, 3m12s left"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	// A simulation that is a hundred times faster ends a hundred times sooner.
	w.opt.Objective.Minimize = true
	if got, want := w.progressLine(p, 0.01), "step 12, measuring, best at most 1.905 mJ, spent 4.3 EUR, 1.9s left"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := w.progressLine(control.Progress{Phase: "opening", LowerBound: math.NaN(), Left: -1}, 1), "step 0, opening, spent 0 EUR"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
