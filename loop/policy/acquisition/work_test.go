package acquisition

import (
	"context"
	"testing"

	"github.com/labtuner/tuner/gpcore/search"
)

// Work outside of searches is counted and cut like theirs: one unit is always done, and a decision that was
// cut after so many units is cut at the same place where it is limited to them.
func TestWorkOutsideOfSearches(t *testing.T) {
	pieces := func(m *Meter, ends func(piece int)) (done int) {
		for i := range 20 {
			ends(i)
			if !m.afford(search.UnitCost / 4) {
				return i
			}
		}
		return 20
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cut := &Meter{Ctx: ctx}
	came := pieces(cut, func(i int) {
		if i == 6 {
			cancel()
		}
	})
	// Units end with the fourth and the eighth piece; the second is not begun any more.
	if came != 7 || cut.Done != 1 || !cut.Cut {
		t.Errorf("cut after %d pieces and %d units, want 7 and 1", came, cut.Done)
	}
	again := &Meter{Ctx: context.Background(), Limit: cut.Done}
	if got := pieces(again, func(int) {}); got != came || again.Done != cut.Done || !again.Cut {
		t.Errorf("limited: %d pieces and %d units, want %d and %d", got, again.Done, came, cut.Done)
	}
	first := &Meter{Ctx: ctx} // has ended
	if got := pieces(first, func(int) {}); got != 7 || first.Done != 1 {
		t.Errorf("ended from the start: %d pieces and %d units, want 7 and 1", got, first.Done)
	}
}
