package plan

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestPriceOfShots compares the product with adding one price after the other, and takes
// as many shots as nobody could add.
func TestPriceOfShots(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		m, n := Money(rng.Int64()>>rng.IntN(63)), rng.IntN(300)
		if rng.IntN(2) == 0 {
			m = -m
		}
		sum := Money(0)
		for range n {
			sum = sum.Plus(m)
		}
		if got := m.times(n); got != sum {
			t.Fatalf("%d times %d is %d, added one by one %d", n, m, got, sum)
		}
	}
	c := Cost{PerShot: 0.001}
	if got, want := c.stepCost(Bill{Shots: 1 << 40}), AsMoney(0.001*(1<<40)); got != want {
		t.Errorf("2^40 shots at 0.001 cost %v, want %v", got.Float(), want.Float())
	}
	if got := (&Cost{PerShot: 1e9}).stepCost(Bill{Shots: math.MaxInt}); got != math.MaxInt64 {
		t.Errorf("what does not fit is %v, want the greatest amount", got.Float())
	}
}

func TestMoneySaturates(t *testing.T) {
	c := Cost{PerStep: 9e9, PerShot: 9e9}
	if got := c.stepCost(Bill{Set: 9e9, Shots: 10}); got != math.MaxInt64 {
		t.Errorf("cost %d", got)
	}
	g := NewLedger(1)
	g.Charge(0, math.MaxInt64)
	g.Charge(0, 5)
	if g.Spent != math.MaxInt64 || g.Fits(1, 1e9) {
		t.Errorf("spent %d", g.Spent)
	}
}
