package schema

import (
	"math/rand/v2"
	"testing"
)

func TestNearest(t *testing.T) {
	words := []string{"shots", "sensor", "statistic", "timeout", "goal", "formula"}
	for word, want := range map[string]string{
		"shot": "shots", "sohts": "shots", "sensors": "sensor", "timout": "timeout", "Goal": "goal", "statistics": "statistic", "frmula": "formula",
		"zzz": "", "tick": "", "x": "", "": "",
	} {
		if got := Nearest(word, words); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
	if got := Nearest("ab", []string{"abc", "abd"}); got != "abc" {
		t.Errorf("of two equally near words, got %q", got)
	}
}

// slowDistance is the definition of optimal string alignment, by recursion.
func slowDistance(a, b string) int {
	if a == "" || b == "" {
		return len(a) + len(b)
	}
	x, y := len(a)-1, len(b)-1
	change := 1
	if a[x] == b[y] {
		change = 0
	}
	d := min(slowDistance(a[:x], b)+1, slowDistance(a, b[:y])+1, slowDistance(a[:x], b[:y])+change)
	if x > 0 && y > 0 && a[x] == b[y-1] && a[x-1] == b[y] {
		d = min(d, slowDistance(a[:x-1], b[:y-1])+1)
	}
	return d
}

func TestDistanceIsItsDefinition(t *testing.T) {
	seed := testSeed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	word := func() string {
		b := make([]byte, rng.IntN(7))
		for i := range b {
			b[i] = "abc"[rng.IntN(3)]
		}
		return string(b)
	}
	for range 500 {
		a, b := word(), word()
		if got, want := distance(a, b), slowDistance(a, b); got != want {
			t.Fatalf("distance(%q, %q) = %d, want %d", a, b, got, want)
		}
	}
}
