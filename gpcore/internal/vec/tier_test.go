package vec

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/labtuner/tuner/scripts/testsize"
)

// Every function, on every tier this processor has, against the reference: the
// same bits, for every length of the rows, at every alignment, for ordinary, tiny,
// huge and subnormal numbers and both zeros, with nothing touched outside.

// flavour is a kind of numbers.
type flavour int

const (
	ordinary flavour = iota
	wide             // exponents of -40 to 40
	tiny             // subnormal numbers and products that underflow
	huge             // products that overflow
	zeros            // half of them zero, of both signs
	special          // infinities and NaN among them
	flavours
)

func (f flavour) number(rng *rand.Rand) float64 {
	v := rng.NormFloat64()
	switch f {
	case wide:
		return math.Ldexp(v, rng.IntN(80)-40)
	case tiny:
		return math.Ldexp(v, -rng.IntN(1100))
	case huge:
		return math.Ldexp(v, rng.IntN(1022))
	case zeros:
		if rng.IntN(2) == 0 {
			return math.Copysign(0, v)
		}
	case special:
		switch rng.IntN(12) {
		case 0:
			return math.Copysign(math.Inf(1), v)
		case 1:
			return math.NaN()
		}
	}
	return v
}

// trial makes the arguments of one call. Tiers get the same numbers from the same
// seed, in memory of their own.
type trial struct {
	t       testing.TB
	rng     *rand.Rand
	flavour flavour
	fence   bool
	slices  [][]float64 // with a margin of canaries before and after
}

const (
	margin = 3
	canary = 0x7ff8dead0000beef // a NaN that no operation makes
)

// slice is n random numbers at a random alignment, amid canaries, or before a
// fence. No reslicing gets at what follows.
func (c *trial) slice(n int) []float64 {
	before, after := c.rng.IntN(8), margin
	if c.fence {
		after = 0
	}
	total := margin + before + n + after
	var s []float64
	if c.fence {
		s = fenced(c.t, total)
	} else {
		s = make([]float64, total)
	}
	for i := range s {
		s[i] = math.Float64frombits(canary)
	}
	body := s[margin+before : margin+before+n : margin+before+n]
	for i := range body {
		body[i] = c.flavour.number(c.rng)
	}
	c.slices = append(c.slices, s)
	return body
}

// matrix is the storage of n rows of width elements that stand ld apart.
func (c *trial) matrix(n, width, ld int) []float64 {
	if n <= 0 || width <= 0 {
		return nil
	}
	return c.slice((n-1)*ld + width)
}

// calls are all functions with arguments of two sizes, n and m. What they return
// is kept as a slice of its own.
var calls = map[string]func(c *trial, n, m int){
	"Tile": func(c *trial, n, m int) {
		Tile(c.slice(Rows*Lanes), c.matrix(Rows, n, n+m), n+m, c.slice(n*Lanes), n)
	},
	"TileSquares": func(c *trial, n, m int) {
		TileSquares(c.slice(Lanes), c.matrix(Rows, n, n+m), n+m, c.slice(n*Lanes), n)
	},
	"TileT": func(c *trial, n, m int) {
		TileT(c.slice(Rows*Lanes), c.matrix(n, Rows, Rows+m), Rows+m, c.slice(n*Lanes), n)
	},
	"Combine": func(c *trial, n, _ int) { Combine(c.slice(Lanes), c.slice(n), c.slice(n*Lanes)) },
	"SumSquares": func(c *trial, n, _ int) {
		SumSquares(c.slice(Lanes), c.slice(n*Lanes), n)
	},
	"Multiply": func(c *trial, n, m int) { Multiply(c.slice(n), c.slice(n+m)) },
	"Moments": func(c *trial, n, m int) {
		p := &Pairs{Rows: c.slice(n * m), Lanes: c.slice(m * Lanes), N: n, D: m}
		Moments(c.slice(m*Lanes), c.slice(n*Lanes), p)
	},
	"Dot": func(c *trial, n, m int) {
		c.slices = append(c.slices, []float64{Dot(c.slice(n), c.slice(n+m))})
	},
	"Dot of one": func(c *trial, n, _ int) {
		x := c.slice(n)
		c.slices = append(c.slices, []float64{Dot(x, x)})
	},
	"Dots8":  func(c *trial, n, m int) { Dots8(c.slice(Rows), c.matrix(Rows, n, n+m), n+m, c.slice(n)) },
	"Axpy":   func(c *trial, n, m int) { Axpy(c.slice(n), c.flavour.number(c.rng), c.slice(n+m)) },
	"Axpys8": func(c *trial, n, m int) { Axpys8(c.slice(n), c.matrix(Rows, n, n+m), n+m, c.slice(Rows)) },
	"Rotate": func(c *trial, n, m int) {
		Rotate(c.slice(n), c.matrix(m, n, n+1), c.matrix(m, n, n+1), n+1, c.slice(2*m))
	},
	"Rotate in place": func(c *trial, n, m int) {
		s := c.matrix(m+1, n, n+2)
		if m > 0 && n > 0 {
			Rotate(c.slice(n), s, s[n+2:], n+2, c.slice(2*m))
		}
	},
	"Rotate to the left": func(c *trial, n, m int) {
		s := c.matrix(m+1, n+1, n+5)
		if m > 0 && n > 0 {
			Rotate(c.slice(n), s, s[n+6:], n+5, c.slice(2*m))
		}
	},
	"RankOne": func(c *trial, n, m int) { RankOne(c.slice(n), c.matrix(m, n, n+m), n+m, c.slice(3*m)) },
	"Waves": func(c *trial, n, m int) {
		w := &Waves{Omega: c.slice(n * m), Shift: c.slice(n), Weight: c.slice(n), N: n, D: m}
		w.Prepare()
		w.Sum(c.slice(Lanes), c.slice(m*Lanes))
		w.Each(c.slice(n*Lanes), c.slice(m*Lanes))
	},
	"Gaussian":    pairs(Gaussian),
	"Matern52":    pairs(Matern52),
	"Matern32":    pairs(Matern32),
	"Exponential": pairs(Exponential),
	"Distances":   pairs(Distances),
	"Inner":       pairs(Inner),
}

func pairs(fill func(*Pairs)) func(c *trial, n, m int) {
	return func(c *trial, n, m int) {
		p := &Pairs{
			Rows: c.slice(n * m), Lanes: c.slice(m * Lanes), N: n, D: m,
			Variance: c.flavour.number(c.rng), Out: c.slice(n * Lanes),
		}
		if c.rng.IntN(3) > 0 {
			p.Weights, p.Sum = c.slice(n), c.slice(Lanes)
		}
		fill(p)
	}
}

// setting is one call, to be repeated on every tier.
type setting struct {
	name    string
	n, m    int
	seed    uint64
	flavour flavour
	fence   bool
}

func (s setting) run(t testing.TB, tier Tier) [][]float64 {
	defer Use(tier)()
	c := &trial{t: t, rng: rand.New(rand.NewPCG(s.seed, uint64(s.flavour))), flavour: s.flavour, fence: s.fence}
	calls[s.name](c, s.n, s.m)
	return c.slices
}

// same compares bits; all NaN are one, since processors make different ones.
func same(a, b float64) bool {
	if math.IsNaN(a) && math.IsNaN(b) {
		return (math.Float64bits(a) == canary) == (math.Float64bits(b) == canary)
	}
	return math.Float64bits(a) == math.Float64bits(b)
}

func (s setting) check(t testing.TB) {
	want := s.run(t, Reference)
	for _, tier := range Tiers() {
		if tier == Reference {
			continue
		}
		got := s.run(t, tier)
		for i := range want {
			for j := range want[i] {
				if !same(got[i][j], want[i][j]) {
					t.Fatalf("%s: %+v: slice %d element %d is %x, the reference has %x",
						tier, s, i, j, got[i][j], want[i][j])
				}
			}
		}
	}
}

func TestTiersGiveTheSameBits(t *testing.T) {
	const seed = 2024
	for name := range calls {
		t.Run(name, func(t *testing.T) {
			lengths, others := 27, 6 // every tail of two vectors and a remainder
			if testsize.Whole() {
				lengths, others = 70, 10
			}
			for n := range lengths {
				for m := range others {
					for f := range flavours {
						setting{name, n, m, seed + uint64(n*10+m), f, false}.check(t)
					}
				}
			}
			for _, n := range []int{127, 128, 255, 513, 1021} {
				for f := range flavours {
					setting{name, n, n % 7, seed, f, false}.check(t)
				}
			}
		})
	}
}

func TestTiersStayInside(t *testing.T) {
	for name := range calls {
		t.Run(name, func(t *testing.T) {
			for n := range 19 {
				for m := range 6 {
					setting{name, n, m, uint64(n), ordinary, true}.check(t)
				}
			}
		})
	}
}

func FuzzTiers(f *testing.F) {
	names := slices.Sorted(maps.Keys(calls))
	for i := range names {
		f.Add(i, uint16(i), uint8(i%5), uint64(i), uint8(i%int(flavours)))
	}
	f.Fuzz(func(t *testing.T, which int, n uint16, m uint8, seed uint64, kind uint8) {
		s := setting{n: int(n % 300), m: int(m % 20), seed: seed, flavour: flavour(kind) % flavours}
		s.name = names[int(uint(which)%uint(len(names)))]
		s.check(t)
	})
}

// Arguments of the exponential where rounding, clamping and scaling change over.
func TestTiersAtTheEdges(t *testing.T) {
	var q []float64
	for _, e := range []float64{0, 0.5, 1, 1.5, 693, 999.5, 1000, 1000.5, 1e4, 1e300, math.MaxFloat64} {
		q = append(q, e, math.Nextafter(e, 0), math.Nextafter(e, math.Inf(1)))
	}
	for f := gaussian; f <= distances; f++ {
		for _, v := range q {
			var want [Lanes]float64
			for _, tier := range Tiers() {
				var got [Lanes]float64
				lanes := make([]float64, Lanes)
				for j := range lanes {
					lanes[j] = math.Sqrt(v) * (1 + float64(j%5-2)*0x1p-52)
				}
				restore := Use(tier)
				p := &Pairs{Rows: []float64{0}, Lanes: lanes, N: 1, D: 1, Variance: 1, Out: got[:]}
				p.fill(f)
				restore()
				if tier == Reference {
					want = got
				}
				for j := range Lanes {
					if !same(got[j], want[j]) {
						t.Errorf("%v: function %d at %g lane %d: %x, the reference has %x", tier, f, v, j, got[j], want[j])
					}
				}
			}
		}
	}
}

func TestUse(t *testing.T) {
	before := Active()
	if got, want := fastest(), Tiers()[len(Tiers())-1]; got != want {
		t.Errorf("the fastest tier is %v, want %v", got, want)
	}
	restore := Use(Reference)
	if Active() != Reference {
		t.Error("Use did not switch")
	}
	restore()
	if Active() != before {
		t.Error("the restore function did not switch back")
	}
}

// The tests do run on the tier asked for; see the test of this name in gpcore.
func TestTierIsTheOneAskedFor(t *testing.T) {
	if name := os.Getenv("TUNER_VEC_TIER"); name != "" && name != Active().String() {
		t.Errorf("the tests run on %v, not on %s", Active(), name)
	}
}

// Every tier is found by its name where the processor has it, and refused by name where
// it has not.
func TestNamed(t *testing.T) {
	names := map[string]bool{}
	for _, tier := range []Tier{Reference, AVX2, AVX512, NEON, VFPv4} {
		names[fmt.Sprint(tier)] = true
		got, err := Named(tier.String())
		if has := slices.Contains(Tiers(), tier); has != (err == nil) || has && got != tier {
			t.Errorf("%v: %v, %v, and the processor has %v", tier, got, err, Tiers())
		}
	}
	if len(names) != 5 {
		t.Errorf("names of the tiers: %v", names)
	}
	for _, name := range []string{"", "AVX2", "sse"} {
		if _, err := Named(name); err == nil {
			t.Errorf("%q was taken for a tier", name)
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	const n, d = 20, 3
	f := func(k int) []float64 { return make([]float64, k) }
	w, panel, tile, x, y, l, sum := f(40*40), f(n*Lanes), f(Rows*Lanes), f(n), f(n), f(3*Rows), f(Lanes)
	p := &Pairs{Rows: f(n * d), Lanes: f(d * Lanes), N: n, D: d, Out: f(n * Lanes)}
	waves := &Waves{Omega: f(n * d), Shift: f(n), Weight: f(n), N: n, D: d}
	waves.Prepare()
	for _, tier := range Tiers() {
		restore := Use(tier)
		if a := testing.AllocsPerRun(10, func() {
			Tile(tile, w, 40, panel, n)
			TileT(tile, w, 40, panel, n)
			TileSquares(sum, w, 40, panel, n)
			Combine(sum, x, panel)
			SumSquares(sum, panel, n)
			Moments(p.Lanes, panel, p)
			Multiply(x, y)
			Dots8(l, w, 40, x)
			Axpys8(y, w, 40, l)
			Axpy(y, Dot(x, y), x)
			Rotate(x, w, w[40:], 40, l[:10])
			waves.Sum(sum, p.Lanes)
			RankOne(x, w, 40, l[:15])
			for f := gaussian; f <= inner; f++ {
				p.fill(f)
			}
		}); a != 0 {
			t.Errorf("%v: %g allocations", tier, a)
		}
		restore()
	}
}
