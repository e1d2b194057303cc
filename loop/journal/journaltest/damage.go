package journaltest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"testing"
)

// Rounds is the number of rounds of a campaign: JOURNAL_ROUNDS, or a few.
func Rounds(t *testing.T, few int) int {
	if s := os.Getenv("JOURNAL_ROUNDS"); s != "" {
		if _, err := fmt.Sscan(s, &few); err != nil {
			t.Fatalf("JOURNAL_ROUNDS: %v", err)
		}
	}
	return few
}

// Outcomes counts what came of damage, by its kind.
type Outcomes map[string]map[string]int

// Add counts one: how is the damage with its places, which are no part of its kind.
func (o Outcomes) Add(how, outcome string) {
	kind := digits.ReplaceAllString(how, "N")
	if o[kind] == nil {
		o[kind] = map[string]int{}
	}
	o[kind][outcome]++
}

// Log tells all of them.
func (o Outcomes) Log(t *testing.T) {
	for _, kind := range slices.Sorted(maps.Keys(o)) {
		t.Logf("%s: %v", kind, o[kind])
	}
}

// Seed gives the seed of a random test: JOURNAL_SEED, or a new one, which it logs.
func Seed(t testing.TB) *rand.Rand {
	n := rand.Uint64()
	if s := os.Getenv("JOURNAL_SEED"); s != "" {
		if _, err := fmt.Sscan(s, &n); err != nil {
			t.Fatalf("JOURNAL_SEED: %v", err)
		}
	}
	t.Logf("JOURNAL_SEED=%d", n)
	return rand.New(rand.NewPCG(n, 0))
}

var digits = regexp.MustCompile(`0x[0-9a-f]+|[0-9]+`)
