package show

import (
	"math"
	"testing"
	"time"
)

func TestNumber(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 1: "1", -2.5: "-2.5", 12345: "12345", 123456: "123460", 1.0000001: "1", 0.00012345678: "0.00012346",
		1e-5: "1e-05", 2.5e9: "2.5e+09", 1e6: "1000000", math.Inf(1): "+Inf",
	} {
		if got := Number(x); got != want {
			t.Errorf("number(%v) = %q, want %q", x, got, want)
		}
	}
	if got := Quantity(math.NaN(), "mJ"); got != "unknown" {
		t.Errorf("a number that is not known reads %q", got)
	}
	if got := Quantity(3, "1") + ", " + Quantity(3, "") + ", " + Quantity(3, "mJ"); got != "3, 3, 3 mJ" {
		t.Errorf("units: %q", got)
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 1: "1ns", 1000: "1µs", 200 * time.Microsecond: "200µs", 1234567: "1.2ms", 9999999: "10ms", 12345678: "12ms", 50 * time.Millisecond: "50ms", 1260 * time.Millisecond: "1.3s", 10 * time.Second: "10s",
		10 * time.Minute: "10m", 10*time.Minute + 30*time.Second: "10m30s", 90 * time.Minute: "1h30m", 8 * time.Hour: "8h",
		20 * time.Hour: "20h", 99*time.Hour + 59*time.Minute: "99h59m", 336 * time.Hour: "14 days",
	} {
		if got := Duration(d); got != want {
			t.Errorf("duration(%v) = %q, want %q", int64(d), got, want)
		}
	}
}
