package vec

import (
	"math"
	"math/bits"
	"strings"
	"testing"
)

func TestCovers(t *testing.T) {
	const half = 1 << (bits.UintSize / 2) // its square overflows
	s := make([]float64, 100)
	for _, c := range []struct {
		n, width, ld int
		want         bool
	}{
		{0, 200, 1, true}, {3, 0, math.MaxInt, true}, {-1, 1, 1, true}, {1, 100, -1, false},
		{1, 100, math.MaxInt, true}, {1, 101, 0, false}, {2, 50, 50, true}, {2, 50, 51, false},
		{10, 10, 10, true}, {10, 11, 10, false}, {11, 10, 10, false}, {100, 1, 1, true}, {5, 3, 0, true},
		{2, 1, math.MaxInt, false}, {math.MaxInt, 1, math.MaxInt, false}, {half + 1, 1, half, false},
		{math.MaxInt, 1, 2, false},
	} {
		if got := covers(s, c.n, c.width, c.ld); got != c.want {
			t.Errorf("covers(100 elements, %d rows of %d, stride %d) = %v", c.n, c.width, c.ld, got)
		}
	}
}

// Each call has one slice that is one element too short.
func TestShortSlicesPanic(t *testing.T) {
	const n, d, ld = 5, 2, 9
	f := func(k int) []float64 { return make([]float64, k) }
	panel, rows := n*Lanes, 7*ld+n
	pair := func(change func(p *Pairs)) func() {
		return func() {
			p := &Pairs{Rows: f(n * d), Lanes: f(d * Lanes), N: n, D: d, Out: f(panel), Weights: f(n), Sum: f(Lanes)}
			change(p)
			Gaussian(p)
		}
	}
	good := &Pairs{Rows: f(n * d), Lanes: f(d * Lanes), N: n, D: d}
	for name, call := range map[string]func(){
		"Tile out":        func() { Tile(f(191), f(rows), ld, f(panel), n) },
		"Tile w":          func() { Tile(f(192), f(rows-1), ld, f(panel), n) },
		"Tile b":          func() { Tile(f(192), f(rows), ld, f(panel-1), n) },
		"Tile stride":     func() { Tile(f(192), f(rows), -1, f(panel), n) },
		"TileSquares sum": func() { TileSquares(f(23), f(rows), ld, f(panel), n) },
		"TileSquares w":   func() { TileSquares(f(24), f(rows-1), ld, f(panel), n) },
		"TileSquares b":   func() { TileSquares(f(24), f(rows), ld, f(panel-1), n) },
		"TileT out":       func() { TileT(f(191), f(4*ld+8), ld, f(panel), n) },
		"TileT w":         func() { TileT(f(192), f(4*ld+7), ld, f(panel), n) },
		"TileT b":         func() { TileT(f(192), f(4*ld+8), ld, f(panel-1), n) },
		"Dot":             func() { Dot(f(n), f(n-1)) },
		"Dots8 l":         func() { Dots8(f(7), f(rows), ld, f(n)) },
		"Dots8 w":         func() { Dots8(f(8), f(rows-1), ld, f(n)) },
		"Axpy":            func() { Axpy(f(n), 1, f(n-1)) },
		"Axpys8 l":        func() { Axpys8(f(n), f(rows), ld, f(7)) },
		"Axpys8 w":        func() { Axpys8(f(n), f(rows-1), ld, f(8)) },
		"Rotate dst":      func() { Rotate(f(n), f(ld+n-1), f(ld+n), ld, f(4)) },
		"Rotate src":      func() { Rotate(f(n), f(ld+n), f(ld+n-1), ld, f(4)) },
		"Rotate stride":   func() { Rotate(f(n), f(100), f(100), n-1, f(4)) },
		"RankOne w":       func() { RankOne(f(n), f(ld+n-1), ld, f(6)) },
		"RankOne stride":  func() { RankOne(f(n), f(100), n-1, f(6)) },
		"Combine sum":     func() { Combine(f(23), f(n), f(panel)) },
		"Combine panel":   func() { Combine(f(24), f(n), f(panel-1)) },
		"SumSquares sum":  func() { SumSquares(f(23), f(panel), n) },
		"SumSquares":      func() { SumSquares(f(24), f(panel-1), n) },
		"Multiply":        func() { Multiply(f(n), f(n-1)) },
		"Moments g":       func() { Moments(f(d*Lanes-1), f(panel), good) },
		"Moments s":       func() { Moments(f(d*Lanes), f(panel-1), good) },
		"Pairs rows":      pair(func(p *Pairs) { p.Rows = p.Rows[1:] }),
		"Pairs lanes":     pair(func(p *Pairs) { p.Lanes = p.Lanes[1:] }),
		"Pairs out":       pair(func(p *Pairs) { p.Out = p.Out[1:] }),
		"Pairs weights":   pair(func(p *Pairs) { p.Weights = p.Weights[1:] }),
		"Pairs sum":       pair(func(p *Pairs) { p.Sum = p.Sum[1:] }),
	} {
		func() {
			defer func() {
				s, ok := recover().(string)
				if !ok || !strings.HasPrefix(s, "vec: ") {
					t.Errorf("%s: panic value %q, want a string of this package", name, s)
				}
			}()
			call()
			t.Errorf("%s: no panic", name)
		}()
	}
}
