package text

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/protocol"
)

// TestLasts: a command that says how long its value stands says the lease, rounded down,
// in its own unit; a minute where nobody has said anything, and never nothing.
func TestLasts(t *testing.T) {
	for _, c := range []struct {
		out, unit string
		stands    time.Duration
		want      string
	}{
		{"DC,%.2f,%*.3f", "min", 10 * time.Second, "DC,1.50,0.166"},
		{"DC,%.2f,%*d", "min", 119 * time.Second, "DC,1.50,1"},
		{"DC,%.2f,%*d", "min", 0, "DC,1.50,1"},
		{"DC,%.2f,%*d", "min", 59 * time.Second, ""},
		{"P %*d %f", "ms", 2500 * time.Millisecond, "P 2500 1.500000"},
		{"P %f FOR %*.1f", "s", 2590 * time.Millisecond, "P 1.500000 FOR 2.5"},
		{"P %f FOR %*.1f", "s", 0, "P 1.500000 FOR 60.0"},
	} {
		lines := &Protocol{Dialect: Dialect{MaxLine: 1024}.Filled(false)}
		w, err := lines.parseCommand(&WriteKeys{Out: c.out, Lasts: c.unit}, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		ch := &protocol.Channel{Stands: c.stands, Scaled: drivers.Scaled{Scale: 1, Channel: drivers.Channel{Min: math.NaN(), Max: math.NaN()}}}
		got, err := lines.compose(ch, w, 1.5)
		if got != c.want || (c.want == "") != errors.Is(err, drivers.ErrRefused) {
			t.Errorf("%q for %v: %q, %v; want %q", c.out, c.stands, got, err, c.want)
		}
	}
	for _, w := range []WriteKeys{{Out: "DC,%f,%*f"}, {Out: "DC,%f", Lasts: "s"}, {Out: "DC,%f,%*f", Lasts: "h"}} {
		if _, err := (&Protocol{Dialect: Dialect{MaxLine: 1024}.Filled(false)}).parseCommand(&w, time.Second); err == nil {
			t.Errorf("%+v was taken", w)
		}
	}
}
