package journaltest

import (
	"bytes"
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

// Garble damages a small file at random and says how.
func Garble(r *rand.Rand, b []byte) (bad []byte, how string) {
	bad = bytes.Clone(b)
	at := r.IntN(len(b))
	if r.IntN(2) == 0 {
		at = r.IntN(min(len(b), 16)) // the frame, where a byte says most
	}
	switch r.IntN(5) {
	case 0:
		bad[at] ^= 1 << r.IntN(8)
		return bad, fmt.Sprintf("a bit of byte %d was flipped", at)
	case 1:
		return bad[:at], fmt.Sprintf("it was cut at %d", at)
	case 2:
		for i := at; i < len(bad) && i < at+1+r.IntN(200); i++ {
			bad[i] = byte(r.IntN(256))
		}
		return bad, fmt.Sprintf("noise from byte %d", at)
	case 3:
		return append(bad, bad[:at]...), fmt.Sprintf("%d bytes more", at)
	default:
		clear(bad[at:])
		return bad, fmt.Sprintf("zero from byte %d", at)
	}
}

// Spell writes the numbers that are part of a kind of damage.
var Spell = []string{"none", "one", "two"}

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
