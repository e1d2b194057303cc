package kills

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// killTally counts what campaigns have seen.
type killTally struct {
	runs, kills, atPoint, steps, lines int
	// twins counts kills after which a process on a copy has decided, derived those after
	// which the record alone gave the same, compared those after which the run itself did.
	twins, derived, compared int
	// at counts the kills at each failpoint.
	at map[string]int
	// books are those of doses.
	books doseBooks
}

func (a *killTally) add(b killTally) {
	a.runs, a.kills, a.steps, a.lines = a.runs+b.runs, a.kills+b.kills, a.steps+b.steps, a.lines+b.lines
	a.twins, a.derived, a.compared = a.twins+b.twins, a.derived+b.derived, a.compared+b.compared
	for point, n := range b.at {
		a.die(point, n)
	}
	a.books.doses, a.books.refused, a.books.unsent = a.books.doses+b.books.doses, a.books.refused+b.books.refused, a.books.unsent+b.books.unsent
}

// die counts kills at a failpoint.
func (a *killTally) die(point string, n int) {
	if a.at == nil {
		a.at = map[string]int{}
	}
	a.at[point] += n
	a.atPoint += n
}

// places tells where the kills of a campaign struck.
func (a *killTally) places() string {
	var b strings.Builder
	for _, point := range slices.Sorted(maps.Keys(a.at)) {
		fmt.Fprintf(&b, "%d at %s, ", a.at[point], point)
	}
	fmt.Fprintf(&b, "%d at any instant", a.kills-a.atPoint)
	return b.String()
}

// enoughKills is how many kills a failpoint a campaign needs before one that it never died
// at is an error: a point is asked for by every second kill, and not always reached.
const enoughKills = 12

// checkPlaces wants a campaign that is large enough to have died at every failpoint.
func (a *killTally) checkPlaces(t *testing.T, failpoints []string) {
	t.Helper()
	t.Logf("killed: %s", a.places())
	for _, point := range failpoints {
		if a.at[point] == 0 && a.kills >= enoughKills*len(failpoints) {
			t.Errorf("%d kills, and none at %s", a.kills, point)
		}
	}
}
