package num

import "testing"

// Streams of different purposes, steps and seeds have nothing in common.
func TestStreamsDiffer(t *testing.T) {
	seen := map[uint64]bool{}
	for seed := range uint64(20) {
		for p := ForDesign; p <= ForSets; p++ {
			for step := range 20 {
				v := Stream(seed, p, step).Uint64()
				if seen[v] {
					t.Fatalf("seed %d, purpose %d, step %d repeats another stream", seed, p, step)
				}
				seen[v] = true
			}
		}
	}
}
