package outcome

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/loop/plan"
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
	if got := c.steps(); got != steps/c.span*c.span {
		t.Errorf("%d steps in the entries of %d", got, steps)
	}
	drawn := show.Sparkline(columns(c.means, 40), show.UnicodeLevels)
	if n := utf8.RuneCountInString(drawn); n != 40 || []rune(drawn)[0] != '▁' || []rune(drawn)[39] != '█' {
		t.Errorf("%q", drawn)
	}
}

// The heading of the course says what a mark is: of more steps than columns, the mean of some.
func TestCourseSaysWhatAMarkIs(t *testing.T) {
	w := &setup.Setup{Options: plan.Options{Objective: plan.Objective{Unit: "mJ"}}}
	for steps, want := range map[int]string{
		20:  "measured, first to last step (lowest 0 mJ, highest 1 mJ):",
		120: "measured, first to last step, each mark the mean of about 2 steps (lowest 0.5 mJ, highest 0.5 mJ):",
	} {
		var f Finale
		f.Tally, f.Levels = &Tally{}, show.ASCIILevels
		for n := range steps {
			f.Tally.Course.add(float64(n % 2))
		}
		var b strings.Builder
		reportCourse(w, &b, f)
		if got := strings.Split(b.String(), "\n")[1]; got != want {
			t.Errorf("%d steps: %q, want %q", steps, got, want)
		}
	}
}
