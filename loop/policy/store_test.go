package policy

import (
	"math"
	"math/rand/v2"
	"testing"
)

// When full, the older of the nearest pair leaves; memory stays bounded.
func TestStoreDropsTheOlderOfTheNearestPair(t *testing.T) {
	const capacity, seed = 20, 8
	rng := rand.New(rand.NewPCG(seed, 0))
	s := store{capacity: capacity, dims: 2}
	for step := range 200 {
		before := append([]row(nil), s.rows...)
		r := row{x: []float64{rng.Float64(), rng.Float64()}, step: step}
		left := s.add(r)
		if len(before) < capacity {
			if left != -1 || len(s.rows) != len(before)+1 {
				t.Fatalf("seed %d: %d left before the store was full", seed, left)
			}
			continue
		}
		if len(s.rows) != capacity || s.rows[capacity-1].step != step {
			t.Fatalf("seed %d: %d rows, the newest of step %d", seed, len(s.rows), s.rows[len(s.rows)-1].step)
		}
		// Each row that left must be the older of a pair that no other pair beats.
		nearest, mine := math.Inf(1), math.Inf(1)
		for i := range before {
			for j := range i {
				q := squaredDistance(before[i].x, before[j].x)
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
	rows := []row{{mean: 1, shots: 1, variance: math.NaN()}, {mean: 2, shots: 1, variance: math.NaN()}, {mean: 6, shots: 1, variance: math.NaN()}}
	if m, sd := moments(rows); math.Abs(m-3) > 1e-15 || math.Abs(sd-math.Sqrt(7)) > 1e-15 {
		t.Errorf("mean %g, sd %g; want 3, sqrt 7", m, sd)
	}
	flat := []row{{mean: 4e9, shots: 3, variance: 9}, {mean: 4e9, shots: 5, variance: 3}}
	if m, sd := moments(flat); m != 4e9 || math.Abs(sd-math.Sqrt(5)) > 1e-15 { // (2*9 + 4*3)/6
		t.Errorf("a constant objective: mean %g, sd %g; want the noise, sqrt 5", m, sd)
	}
	if _, sd := moments([]row{{mean: 4, shots: 1, variance: math.NaN()}}); sd != 1 {
		t.Errorf("one value: sd %g", sd)
	}
}

func TestThinnedKeepsTheNewest(t *testing.T) {
	rows := make([]row, 1000)
	for i := range rows {
		rows[i].step = i
	}
	got := thinned(rows, 256)
	if len(got) != 256 || got[255].step != 999 {
		t.Fatalf("%d rows, the last of step %d", len(got), got[len(got)-1].step)
	}
	for i := 1; i < len(got); i++ {
		if gap := got[i].step - got[i-1].step; gap < 3 || gap > 4 {
			t.Fatalf("gap of %d", gap)
		}
	}
}

// Of a hold's readings the oldest leave first.
func TestStoreAsAWindow(t *testing.T) {
	s := store{capacity: 3, dims: 1}
	for step, x := range []float64{0.1, 0.5, 0.5, 0.9, 0.2} {
		s.window = step >= 3
		s.add(row{x: []float64{x}, step: step})
	}
	if s.rows[0].step != 2 || s.rows[1].step != 3 || s.rows[2].step != 4 {
		t.Errorf("steps held: %d, %d, %d, want 2, 3, 4", s.rows[0].step, s.rows[1].step, s.rows[2].step)
	}
}
