package exec

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/labtuner/tuner/drivers"
)

// corpusLines adds the lines of a file under testdata to a fuzzer's corpus.
func corpusLines(f *testing.F, name string) {
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		f.Add([]byte(strings.TrimSuffix(line, "\n")))
	}
}

// FuzzHello checks that what passes is fit to be declared.
func FuzzHello(f *testing.F) {
	corpusLines(f, "hellos.jsonl")
	f.Fuzz(func(t *testing.T, line []byte) {
		h, err := parseHello(line)
		if err != nil {
			return
		}
		if h.name == "" || len(h.channels) == 0 {
			t.Fatalf("%q gives %+v", line, h)
		}
		seen := map[string]bool{}
		for _, c := range h.channels {
			if c.Name == "" || c.Unit == "" || seen[c.Name] || c.Min >= c.Max || c.Safe < c.Min || c.Safe > c.Max ||
				math.IsInf(c.Min, 0) || math.IsInf(c.Max, 0) || math.IsInf(c.Safe, 0) ||
				(c.CanRelease && c.Access != drivers.ReadWrite) {
				t.Errorf("%q gives the channel %+v", line, c)
			}
			seen[c.Name] = true
		}
		if _, err := h.rename(nil); err != nil {
			t.Errorf("%q: no new names: %v", line, err)
		}
	})
}

// FuzzAnswer checks that only finite numbers pass, and only for the right id.
func FuzzAnswer(f *testing.F) {
	corpusLines(f, "answers.jsonl")
	f.Fuzz(func(t *testing.T, line []byte) {
		a, err := parseAnswer(line, 7)
		if err != nil {
			return
		}
		if a.refusal != nil && (a.refusal.Code == "" || a.values != nil) {
			t.Errorf("%q gives %+v", line, a)
		}
		for name, v := range a.values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%q gives %v for %q", line, v, name)
			}
		}
		if _, err := parseAnswer(line, 8); err == nil {
			t.Errorf("%q passes as the answer to 7 and to 8", line)
		}
	})
}
