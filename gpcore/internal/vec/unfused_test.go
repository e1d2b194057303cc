package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestUnfused: the bits of the library's, for numbers of all kinds, sums that cancel all but the last
// bits of the product, and summands about half a unit in the last place of it.
func TestUnfused(t *testing.T) {
	const seed = 11
	rng := rand.New(rand.NewPCG(seed, seed))
	check := func(x, y, z float64) {
		t.Helper()
		got, want := unfused(x, y, z), math.FMA(x, y, z)
		if math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Fatalf("seed %d: %x * %x + %x is %x, want %x", seed, x, y, z, got, want)
		}
	}
	for range 300000 {
		f := flavour(rng.IntN(int(flavours)))
		x, y, z := f.number(rng), f.number(rng), f.number(rng)
		check(x, y, z)
		check(x, y, -x*y)
		check(x, y, math.Nextafter(-x*y, z))
		check(x, y, math.Ldexp(x*y, -50-rng.IntN(10)))
		check(x, y, math.Ldexp(x*y, 50+rng.IntN(60)))
		short := func(v float64, n int) float64 { return math.Float64frombits(math.Float64bits(v) &^ (1<<n - 1)) }
		check(short(x, 30), short(y, 26), math.Ldexp(short(x*y, 40), -40-rng.IntN(20))) // ties
		e := 470 + rng.IntN(20)
		check(math.Ldexp(x, e), math.Ldexp(y, e), math.Ldexp(z, 2*e))
		check(math.Ldexp(x, -e), math.Ldexp(y, -e), math.Ldexp(z, -1000-rng.IntN(60)))
		check(x, math.Ldexp(y, e), math.Ldexp(z, 960+rng.IntN(60)))
	}
}
