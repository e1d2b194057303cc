package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/loop/policy/internal/num"
)

// When full, the older of the nearest pair leaves; memory stays bounded.
func TestStoreDropsTheOlderOfTheNearestPair(t *testing.T) {
	const capacity, seed = 20, 8
	rng := rand.New(rand.NewPCG(seed, 0))
	s := Store{Capacity: capacity, Dims: 2}
	for step := range 200 {
		before := append([]Row(nil), s.Rows...)
		r := Row{X: []float64{rng.Float64(), rng.Float64()}, Step: step}
		left := s.Add(r)
		if len(before) < capacity {
			if left != -1 || len(s.Rows) != len(before)+1 {
				t.Fatalf("seed %d: %d left before the store was full", seed, left)
			}
			continue
		}
		if len(s.Rows) != capacity || s.Rows[capacity-1].Step != step {
			t.Fatalf("seed %d: %d rows, the newest of step %d", seed, len(s.Rows), s.Rows[len(s.Rows)-1].Step)
		}
		// Each row that left must be the older of a pair that no other pair beats.
		nearest, mine := math.Inf(1), math.Inf(1)
		for i := range before {
			for j := range i {
				q := num.SquaredDistance(before[i].X, before[j].X)
				nearest = min(nearest, q)
				if j == left {
					mine = min(mine, q)
				}
			}
		}
		if mine != nearest {
			t.Fatalf("seed %d: row %d left with a newer neighbour at %g, the nearest pair is at %g", seed, left, mine, nearest)
		}
	}
}

func TestMoments(t *testing.T) {
	rows := []Row{{Mean: 1, Shots: 1, Variance: math.NaN()}, {Mean: 2, Shots: 1, Variance: math.NaN()}, {Mean: 6, Shots: 1, Variance: math.NaN()}}
	if m, sd := moments(rows); math.Abs(m-3) > 1e-15 || math.Abs(sd-math.Sqrt(7)) > 1e-15 {
		t.Errorf("mean %g, sd %g; want 3, sqrt 7", m, sd)
	}
	flat := []Row{{Mean: 4e9, Shots: 3, Variance: 9}, {Mean: 4e9, Shots: 5, Variance: 3}}
	if m, sd := moments(flat); m != 4e9 || math.Abs(sd-math.Sqrt(5)) > 1e-15 { // (2*9 + 4*3)/6
		t.Errorf("a constant objective: mean %g, sd %g; want the noise, sqrt 5", m, sd)
	}
	if _, sd := moments([]Row{{Mean: 4, Shots: 1, Variance: math.NaN()}}); sd != 1 {
		t.Errorf("one value: sd %g", sd)
	}
}

func TestThinnedKeepsTheNewest(t *testing.T) {
	rows := make([]Row, 1000)
	for i := range rows {
		rows[i].Step = i
	}
	got := thinned(rows, 256)
	if len(got) != 256 || got[255].Step != 999 {
		t.Fatalf("%d rows, the last of step %d", len(got), got[len(got)-1].Step)
	}
	for i := 1; i < len(got); i++ {
		if gap := got[i].Step - got[i-1].Step; gap < 3 || gap > 4 {
			t.Fatalf("gap of %d", gap)
		}
	}
}

// Of a hold's readings the oldest leave first.
func TestStoreAsAWindow(t *testing.T) {
	s := Store{Capacity: 3, Dims: 1}
	for step, x := range []float64{0.1, 0.5, 0.5, 0.9, 0.2} {
		s.Window = step >= 3
		s.Add(Row{X: []float64{x}, Step: step})
	}
	if s.Rows[0].Step != 2 || s.Rows[1].Step != 3 || s.Rows[2].Step != 4 {
		t.Errorf("steps held: %d, %d, %d, want 2, 3, 4", s.Rows[0].Step, s.Rows[1].Step, s.Rows[2].Step)
	}
}
