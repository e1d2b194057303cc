package bench

import (
	"testing"

	"github.com/labtuner/tuner/loop/benchmarks/experiment"
)

func TestParseShard(t *testing.T) {
	for text, want := range map[string]experiment.Shard{"0/1": {Index: 0, Count: 1}, "3/4": {Index: 3, Count: 4}, "10/250": {Index: 10, Count: 250}} {
		if got, err := parseShard(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "1", "4/4", "-1/4", "0/0", "1/", "/2", "1/2/3", "a/b", "0.5/2", "1 /2"} {
		if got, err := parseShard(text); err == nil {
			t.Errorf("%q: taken as %v", text, got)
		}
	}
}

// TestFailuresAreTold: a repetition that failed is an error of the run, with its seed.
func TestFailuresAreTold(t *testing.T) {
	fine := experiment.Result{Policy: "a", Seeds: []experiment.Seed{{Seed: 1}, {Seed: 2}}}
	if err := failures([]experiment.Result{fine}); err != nil {
		t.Error(err)
	}
	bad := experiment.Result{Policy: "b", Seeds: []experiment.Seed{{Seed: 4}, {Seed: 5, Error: "singular"}, {Seed: 6, Error: "x"}}}
	err := failures([]experiment.Result{fine, bad})
	if err == nil || err.Error() != `policy "b" failed on 2 of 3 seeds, first on seed 5: singular` {
		t.Errorf("%v", err)
	}
}
