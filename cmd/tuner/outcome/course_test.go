package outcome

import (
	"math"
	"testing"
	"unicode/utf8"

	"github.com/labtuner/tuner/cmd/tuner/show"
)

// However long a run is, its course stays bounded, and shows what happened when.
func TestCourseIsBounded(t *testing.T) {
	var c course
	const steps = 100_000
	for n := range steps {
		y := float64(n)
		if n%10 == 0 {
			y = math.NaN()
		}
		c.add(y)
		if len(c.means) >= courseMax {
			t.Fatalf("%d entries after %d steps", len(c.means), n+1)
		}
	}
	for i, m := range c.means {
		// The mean of a ramp over a span is its middle; a tenth is missing, evenly.
		if want := (float64(i) + 0.5) * float64(c.span); math.Abs(m-want) > 10 {
			t.Fatalf("entry %d of spans of %d steps is %v, want %v", i, c.span, m, want)
		}
	}
	drawn := show.Sparkline(columns(c.means, 40), show.UnicodeLevels)
	if n := utf8.RuneCountInString(drawn); n != 40 || []rune(drawn)[0] != '▁' || []rune(drawn)[39] != '█' {
		t.Errorf("%q", drawn)
	}
}
