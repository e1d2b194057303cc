package controlstate

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/labtuner/tuner/loop/journal/journaltest"
)

// A control state of which one copy was damaged anywhere is the other copy's or its own
// whole content, of which both were damaged is lost and said to be; no third state ever
// comes of it.
func TestGarbledControl(t *testing.T) {
	r := journaltest.Seed(t)
	lost, older, newest := 0, 0, 0
	kinds := journaltest.Outcomes{}
	for range journaltest.Rounds(t, 2000) {
		m := &memory{files: map[string][]byte{}}
		c := &File{path: "x", files: m}
		writes := 1 + r.IntN(6)
		written := map[uint64]State{}
		for n := range writes {
			if err := c.Write(controlOf(r.IntN(1000))); err != nil {
				t.Fatal(err)
			}
			written[uint64(n+1)] = c.State()
		}
		how, harmed := "", []string{}
		for _, name := range slices.Sorted(maps.Keys(m.files)) {
			if r.IntN(3) > 0 {
				bad, what := journaltest.Garble(r, m.files[name])
				m.files[name], how, harmed = bad, how+name+": "+what+"; ", append(harmed, what)
			}
		}
		outcome := "the newest state"
		again := &File{path: "x", files: m}
		err := again.load()
		got := again.State()
		switch {
		case errors.Is(err, ErrLost):
			lost++
			outcome = "lost, and said to be"
			if !reflect.DeepEqual(got, State{}) {
				t.Errorf("%s: lost, and yet %+v", how, got)
			}
		case err != nil:
			t.Errorf("%s: %v", how, err)
		case !reflect.DeepEqual(got, written[got.Generation]):
			t.Errorf("%s: %+v is no state that was written", how, got)
		case got.Generation == uint64(writes):
			newest++
		default:
			older++
			outcome = "the older copy stands in, and it is said"
			if len(again.Notices()) == 0 {
				t.Errorf("%s: generation %d stands in for %d, and nothing is said", how, got.Generation, writes)
			}
		}
		for _, what := range harmed {
			kinds.Add(fmt.Sprintf("%s, in %s of %s", what, journaltest.Spell[len(harmed)], journaltest.Spell[len(m.files)]), outcome)
		}
	}
	kinds.Log(t)
	t.Logf("%d lost and said to be, %d by the older copy, %d newest", lost, older, newest)
	if lost == 0 || older == 0 || newest == 0 {
		t.Error("the damage was too strong or too weak to show anything")
	}
}
