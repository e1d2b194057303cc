package main

import (
	"math"
	"testing"
	"unicode/utf8"
)

func TestSparkline(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		values []float64
		levels string
		want   string
	}{
		{nil, asciiLevels, ""},
		{[]float64{0, 1, 2, 3, 4, 5, 6, 7}, unicodeLevels, "▁▂▃▄▅▆▇█"},
		{[]float64{0, 1, 2, 3, 4, 5, 6, 7}, asciiLevels, "_.:-=+*#"},
		{[]float64{-5, nan, 5}, asciiLevels, "_ #"},
		{[]float64{3, 3}, asciiLevels, "=="},
		{[]float64{nan}, asciiLevels, " "},
		{[]float64{-math.MaxFloat64, math.MaxFloat64, 0}, asciiLevels, "_#="},
	} {
		if got := sparkline(c.values, c.levels); got != c.want {
			t.Errorf("%v: %q, want %q", c.values, got, c.want)
		}
	}
}

func TestSparkLevelsFollowTheLocale(t *testing.T) {
	for _, c := range []struct {
		locale map[string]string
		want   string
	}{
		{nil, asciiLevels},
		{map[string]string{"LANG": "de_DE.UTF-8"}, unicodeLevels},
		{map[string]string{"LANG": "C.utf8"}, unicodeLevels},
		{map[string]string{"LANG": "de_DE.UTF-8", "LC_ALL": "C"}, asciiLevels},
		{map[string]string{"LC_ALL": "", "LC_CTYPE": "en_US.UTF-8", "LANG": "C"}, unicodeLevels},
	} {
		e := &env{lookup: func(name string) (string, bool) { v, ok := c.locale[name]; return v, ok }}
		if got := e.sparkLevels(); got != c.want {
			t.Errorf("%v: %q", c.locale, got)
		}
	}
}

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
	drawn := sparkline(columns(c.means, 40), unicodeLevels)
	if n := utf8.RuneCountInString(drawn); n != 40 || []rune(drawn)[0] != '▁' || []rune(drawn)[39] != '█' {
		t.Errorf("%q", drawn)
	}
}
