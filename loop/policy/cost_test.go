package policy

import "testing"

// Costs of a tenth and a fifth cannot be held exactly; a running difference of
// float64 leaves 41.99... of 50 and loses a play.
func TestLedgerIsExact(t *testing.T) {
	for _, n := range []int{1, 10, 1000} { // the same proportions on other scales
		l := ledger{budget: 50 * float64(n)}
		for range 40 * n {
			l.charge(0.1)
		}
		for range 20 * n {
			l.charge(0.2)
		}
		plays := 0
		for l.fits(1) {
			l.charge(1)
			plays++
		}
		if plays != 42*n {
			t.Errorf("budget %g: %d plays of cost 1, want %d", l.budget, plays, 42*n)
		}
	}
	l := ledger{budget: 1}
	l.charge(0.5)
	if l.fits(0.5001) {
		t.Error("0.5001 fits into 0.5")
	}
	if free := (ledger{}); !free.fits(1e300) {
		t.Error("no budget is no bound")
	}
}
