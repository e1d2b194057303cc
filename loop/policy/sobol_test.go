package policy

import (
	"math"
	"testing"
)

// Any 2^k consecutive points from the start have exactly one point in each of the
// 2^k equal intervals of every axis, scrambled or not; independent points do not.
func TestScrambledSobolStaysANet(t *testing.T) {
	const k, seed = 7, 12
	s := newSobol(sobolMax, stream(seed, forScreening, 3))
	p := make([]float64, sobolMax)
	var count [sobolMax][1 << k]int
	// The (0,k,2)-net property of the first two dimensions: elementary intervals.
	var cells [16][8]int
	for i := range 1 << k {
		s.point(p, i)
		for j, x := range p {
			if !(x > 0 && x < 1) {
				t.Fatalf("seed %d: coordinate %g", seed, x)
			}
			count[j][int(x*(1<<k))]++
		}
		cells[int(p[0]*16)][int(p[1]*8)]++
	}
	for j := range count {
		for _, c := range count[j] {
			if c != 1 {
				t.Fatalf("seed %d: dimension %d is not stratified", seed, j)
			}
		}
	}
	for _, row := range cells {
		for _, c := range row {
			if c != 1 {
				t.Fatalf("seed %d: the first two dimensions are not a net: %v", seed, cells)
			}
		}
	}
}

// Over scrambles, a point is uniform: mean 1/2 and variance 1/12 within five
// standard errors.
func TestScrambleIsUniform(t *testing.T) {
	const n = 4000
	sum, square := 0.0, 0.0
	for seed := range n {
		var p [3]float64
		newSobol(3, stream(uint64(seed), forNodes, 0)).point(p[:], 5)
		sum += p[2]
		square += (p[2] - 0.5) * (p[2] - 0.5)
	}
	if z := (sum/n - 0.5) / math.Sqrt(1.0/12/n); math.Abs(z) > 5 {
		t.Errorf("mean is off by %.1f standard errors", z)
	}
	// The variance of (x-1/2)^2 for uniform x is 1/180.
	if z := (square/n - 1.0/12) / math.Sqrt(1.0/180/n); math.Abs(z) > 5 {
		t.Errorf("variance is off by %.1f standard errors", z)
	}
}

// Streams of different purposes, steps and seeds have nothing in common.
func TestStreamsDiffer(t *testing.T) {
	seen := map[uint64]bool{}
	for seed := range uint64(20) {
		for p := forDesign; p <= forSets; p++ {
			for step := range 20 {
				v := stream(seed, p, step).Uint64()
				if seen[v] {
					t.Fatalf("seed %d, purpose %d, step %d repeats another stream", seed, p, step)
				}
				seen[v] = true
			}
		}
	}
}
