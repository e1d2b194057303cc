package benchmarks

import "testing"

// TestExperiments: names are unique, lengths are bounded, and every policy is one that
// can be made.
func TestExperiments(t *testing.T) {
	seen := map[string]bool{}
	for _, x := range All() {
		if seen[x.Name] {
			t.Errorf("%s is there twice", x.Name)
		}
		seen[x.Name] = true
		if x.Budget <= 0 && x.Steps <= 0 || x.Seeds < 1 || x.About == "" || x.Paper == "" || x.Figure == "" || len(x.Metrics) == 0 || len(x.Competitors) == 0 {
			t.Errorf("%s is incomplete: %+v", x.Name, x)
		}
		names := map[string]bool{}
		for _, c := range x.Competitors {
			if names[c.Name] || c.About == "" {
				t.Errorf("%s: policy %q is there twice, or says nothing", x.Name, c.Name)
			}
			names[c.Name] = true
		}
		if found, err := Find(x.Name); err != nil || found.Name != x.Name {
			t.Errorf("find %s: %v", x.Name, err)
		}
	}
	if len(seen) != len(Names()) || len(seen) < 60 {
		t.Errorf("%d experiments", len(seen))
	}
	if _, err := Find("nothing"); err == nil {
		t.Error("found nothing")
	}
}
