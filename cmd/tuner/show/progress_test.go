package show

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestProgressFitsAnyWidth: what matters most stays longest, the bar shows its part, and no
// width is exceeded.
func TestProgressFitsAnyWidth(t *testing.T) {
	p := Progress{Head: "step 45/150", Done: 0.3, Parts: []Part{{"measuring", 3}, {"best 7.5 mJ", 1}, {"12s left", 2}}}
	for columns, want := range map[int]string{
		0: "", 5: "step ", 11: "step 45/150", 12: "step 45/150", 22: "step 45/150 [##......]",
		40: "step 45/150 [####.........]  best 7.5 mJ",
		60: "step 45/150 [####........]  measuring, best 7.5 mJ, 12s left",
		99: "step 45/150 [#########.....................]  measuring, best 7.5 mJ, 12s left",
	} {
		if got := p.Fit(columns, false); got != want {
			t.Errorf("%d columns: %q, want %q", columns, got, want)
		}
	}
	for columns := range 200 {
		for _, unicode := range []bool{false, true} {
			if got := p.Fit(columns, unicode); utf8.RuneCountInString(got) > columns {
				t.Errorf("%d columns: %q", columns, got)
			}
		}
	}
	if got, want := p.Fit(99, true), "[█████████·····················]"; !strings.Contains(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	p.Done = math.NaN()
	if got, want := p.Fit(60, false), "step 45/150  measuring, best 7.5 mJ, 12s left"; got != want {
		t.Errorf("without a bar: %q, want %q", got, want)
	}
	if got, want := p.String(), "step 45/150, measuring, best 7.5 mJ, 12s left"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
