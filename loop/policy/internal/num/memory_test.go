package num

import "testing"

// TestMemoryTakesNothingTwice: what a call takes is zero and its own; the next call of the same size takes nothing
// from the heap, nor does one that takes more than once.
func TestMemoryTakesNothingTwice(t *testing.T) {
	var m Memory
	var points Slab[[2]float64]
	var objects Objects[[4]int]
	call := func() {
		m.Begin()
		a, b := m.Floats(5), m.Floats(7)
		p, o, other := points.Take(&m, 3), objects.Take(&m), objects.Take(&m)
		if o == other {
			t.Error("an object was given twice")
		}
		for _, v := range append(a[:5:5], b...) {
			if v != 0 {
				t.Errorf("value %g was taken, want zeros", v)
			}
		}
		for i := range a {
			a[i] = 1
		}
		for i, v := range b {
			if b[i] = 2; v != 0 {
				t.Error("two parts have the same memory")
			}
		}
		p[2][1], o[3] = 3, 3
	}
	call()
	call()                                          // the memory of the first is put together
	if n := testing.AllocsPerRun(20, call); n > 1 { // the list that the test makes
		t.Errorf("a call takes %g objects from the heap", n)
	}
	var none *Memory
	if len(none.Floats(3)) != 3 || len(points.Take(none, 2)) != 2 || objects.Take(none) == objects.Take(none) {
		t.Error("without a memory the heap is not taken")
	}
}

// TestPiecesAreForGood: no two pieces share memory.
func TestPiecesAreForGood(t *testing.T) {
	var p Pieces[float64]
	var all [][]float64
	for i := range 3 * piecesOfOne {
		x := p.Take(1 + i%3)
		for k := range x {
			x[k] = float64(i)
		}
		all = append(all, append(x, -1))
	}
	for i, x := range all {
		for _, v := range x[:len(x)-1] {
			if v != float64(i) {
				t.Fatalf("piece %d has %g", i, v)
			}
		}
	}
}
