package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestTiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for k := range 40 {
		const ldw = 45
		w, b := random(rng, 45*ldw), random(rng, 48*Lanes)
		out, outT := random(rng, Rows*Lanes), random(rng, Rows*Lanes)
		sum := random(rng, Lanes)
		want := append([]float64(nil), sum...)
		Tile(out, w, ldw, b, k)
		TileT(outT, w, ldw, b, k)
		TileSquares(sum, w, ldw, b, k)
		for r := range Rows {
			for j := range Lanes {
				var s, st, a, at float64
				for p := range k {
					s += w[r*ldw+p] * b[p*Lanes+j]
					a += math.Abs(w[r*ldw+p] * b[p*Lanes+j])
					st += w[p*ldw+r] * b[p*Lanes+j]
					at += math.Abs(w[p*ldw+r] * b[p*Lanes+j])
				}
				if !near(out[r*Lanes+j], s, a) || !near(outT[r*Lanes+j], st, at) {
					t.Fatalf("k=%d row %d lane %d: %g want %g; transposed %g want %g", k, r, j, out[r*Lanes+j], s, outT[r*Lanes+j], st)
				}
				if k > 0 {
					want[j] += s * s
				}
			}
		}
		for j := range Lanes {
			if !near(sum[j], want[j], 100*math.Abs(want[j])) {
				t.Fatalf("k=%d lane %d: squares %g want %g", k, j, sum[j], want[j])
			}
		}
	}
}
