package cost

import "testing"

// Costs of a tenth and a fifth cannot be held exactly; a running difference of
// float64 leaves 41.99... of 50 and loses a play.
func TestLedgerIsExact(t *testing.T) {
	for _, n := range []int{1, 10, 1000} { // the same proportions on other scales
		l := Ledger{Budget: 50 * float64(n)}
		for range 40 * n {
			l.Charge(0.1)
		}
		for range 20 * n {
			l.Charge(0.2)
		}
		plays := 0
		for l.Fits(1) {
			l.Charge(1)
			plays++
		}
		if plays != 42*n {
			t.Errorf("budget %g: %d plays of cost 1, want %d", l.Budget, plays, 42*n)
		}
	}
	l := Ledger{Budget: 1}
	l.Charge(0.5)
	if l.Fits(0.5001) {
		t.Error("0.5001 fits into 0.5")
	}
	if free := (Ledger{}); !free.Fits(1e300) {
		t.Error("no budget is no bound")
	}
}
