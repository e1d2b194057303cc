package sobol

import (
	_ "embed"
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
)

// scipyJSON is the output of scripts/sobol_oracle.py.
//
//go:embed testdata/scipy.json
var scipyJSON []byte

func TestAgainstScipy(t *testing.T) {
	var o struct{ First, From1000 [][]float64 }
	if err := json.Unmarshal(scipyJSON, &o); err != nil {
		t.Fatal(err)
	}
	s := New(Dims)
	check := func(i int, want []float64) {
		got := make([]float64, Dims)
		s.Point(got, i)
		for j := range got {
			// Ours are the middles of cells of width 2^-32, scipy's the low ends.
			if d := got[j] - want[j]; math.Abs(d-0x1p-33) > 0x1p-40 {
				t.Fatalf("point %d dimension %d: %.12f, want %.12f", i, j, got[j], want[j])
			}
		}
	}
	if len(o.First) < 2 || len(o.From1000) < 2 {
		t.Fatal("no numbers to compare with")
	}
	for i, want := range o.First {
		check(i, want)
	}
	for i, want := range o.From1000 {
		check(1000+i, want)
	}
}

// scrambled are the two scramblings.
var scrambled = map[string]func(dim int, seed uint64) interface{ Point([]float64, int) }{
	"linear": func(dim int, seed uint64) interface{ Point([]float64, int) } {
		return NewScrambled(dim, rand.New(rand.NewPCG(seed, 0)))
	},
	"owen": func(dim int, seed uint64) interface{ Point([]float64, int) } { return NewOwen(dim, seed) },
}

// Any 2^k consecutive points from the start have exactly one point in each of the
// 2^k equal intervals of every axis; independent points do not. The first two
// dimensions are a (0, k, 2)-net: elementary intervals hold one point each.
func TestScrambledStaysANet(t *testing.T) {
	const k, seed = 7, 12
	for name, scramble := range scrambled {
		s := scramble(Dims, seed)
		p := make([]float64, Dims)
		var count [Dims][1 << k]int
		var cells [16][8]int
		for i := range 1 << k {
			s.Point(p, i)
			for j, x := range p {
				if !(x > 0 && x < 1) {
					t.Fatalf("%s, seed %d: coordinate %g", name, seed, x)
				}
				count[j][int(x*(1<<k))]++
			}
			cells[int(p[0]*16)][int(p[1]*8)]++
		}
		for j := range count {
			for _, c := range count[j] {
				if c != 1 {
					t.Fatalf("%s, seed %d: dimension %d is not stratified", name, seed, j)
				}
			}
		}
		for _, row := range cells {
			for _, c := range row {
				if c != 1 {
					t.Fatalf("%s, seed %d: the first two dimensions are not a net: %v", name, seed, cells)
				}
			}
		}
	}
}

// Over scrambles, a point is uniform: mean 1/2 and variance 1/12 within five
// standard errors; so, over the points, is a coordinate beyond the table of Owen's.
func TestScrambleIsUniform(t *testing.T) {
	const n = 4000
	uniform := func(name string, draw func(seed uint64) float64) {
		sum, square := 0.0, 0.0
		for seed := range uint64(n) {
			x := draw(seed)
			sum += x
			square += (x - 0.5) * (x - 0.5)
		}
		if z := (sum/n - 0.5) / math.Sqrt(1.0/12/n); math.Abs(z) > 5 {
			t.Errorf("%s: mean is off by %.1f standard errors", name, z)
		}
		// The variance of (x-1/2)^2 for uniform x is 1/180.
		if z := (square/n - 1.0/12) / math.Sqrt(1.0/180/n); math.Abs(z) > 5 {
			t.Errorf("%s: variance is off by %.1f standard errors", name, z)
		}
	}
	for name, scramble := range scrambled {
		uniform(name, func(seed uint64) float64 {
			var p [3]float64
			scramble(3, seed).Point(p[:], 5)
			return p[2]
		})
	}
	beyond, p := NewOwen(Dims+2, 7), make([]float64, Dims+2) // seed 7
	uniform("beyond the table", func(i uint64) float64 {
		beyond.Point(p, int(i))
		return p[Dims+1]
	})
}
