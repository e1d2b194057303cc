package commands

import (
	"slices"
	"testing"
)

// TestRunAndWords: what names the run may be left out where the words say that they are words.
func TestRunAndWords(t *testing.T) {
	for _, c := range []struct {
		args   []string
		isWord func(string) bool
		run    string
		words  []string
	}{
		{nil, isPair, "", nil},
		{[]string{"x=1,y=3"}, isPair, "", []string{"x=1,y=3"}},
		{[]string{"laser", "x=1", "y=3"}, isPair, "laser", []string{"x=1", "y=3"}},
		{[]string{"laser"}, isPair, "laser", nil},
		{[]string{"41,57"}, isSteps, "", []string{"41,57"}},
		{[]string{"41-57", "60"}, isSteps, "", []string{"41-57", "60"}},
		{[]string{"laser.db", "41"}, isSteps, "laser.db", []string{"41"}},
		{[]string{"grating"}, nil, "", []string{"grating"}},
		{[]string{"laser", "grating"}, nil, "laser", []string{"grating"}},
	} {
		run, words := runAndWords(c.args, c.isWord)
		if run != c.run || !slices.Equal(words, c.words) {
			t.Errorf("%q: run %q, words %q", c.args, run, words)
		}
	}
}
