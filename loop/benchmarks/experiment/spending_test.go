package experiment

import "testing"

func TestSpend(t *testing.T) {
	spent := 0.0
	for range 40 {
		spent = spend(spent, 0.1)
	}
	for range 20 {
		spent = spend(spent, 0.2)
	}
	if spent != 8 {
		t.Errorf("spent %v", spent)
	}
}
