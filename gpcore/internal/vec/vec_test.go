package vec

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// The definition against plain mathematics. Tolerances are a few roundings of the
// sum of absolute values.

func random(rng *rand.Rand, n int) []float64 {
	s := make([]float64, n)
	for i := range s {
		s[i] = rng.NormFloat64()
	}
	return s
}

// near says whether got is want to within rounding of terms summing to scale.
func near(got, want, scale float64) bool {
	return math.Abs(got-want) <= 1e-14*(1+scale)
}

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

func TestDotsAndAxpys(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for n := range 40 {
		const ldw = 41
		w, x, y, c := random(rng, Rows*ldw), random(rng, n), random(rng, n), random(rng, Rows)
		l, was := make([]float64, Rows), append([]float64(nil), y...)
		Dots8(l, w, ldw, x)
		Axpys8(y, w, ldw, c)
		for r := range Rows {
			s, a := 0.0, 0.0
			for j := range n {
				s += w[r*ldw+j] * x[j]
				a += math.Abs(w[r*ldw+j] * x[j])
			}
			if !near(l[r], s, a) || l[r] != Dot(x, w[r*ldw:]) {
				t.Fatalf("n=%d row %d: %g want %g", n, r, l[r], s)
			}
		}
		for j := range n {
			s, a := was[j], 0.0
			for r := range Rows {
				s += c[r] * w[r*ldw+j]
				a += math.Abs(c[r] * w[r*ldw+j])
			}
			if !near(y[j], s, a) {
				t.Fatalf("n=%d column %d: %g want %g", n, j, y[j], s)
			}
		}
		Axpy(was, 0.5, x)
		for j := range n {
			if !near(was[j], was[j]-0.5*x[j]+0.5*x[j], 1) {
				t.Fatal("axpy")
			}
		}
	}
}

func TestRotateIsOrthogonal(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for n := range 20 {
		for rows := range 6 {
			for shift := range 2 {
				const ld = 25
				m := random(rng, 8*ld)
				carry := random(rng, n)
				old, oldT := append([]float64(nil), m...), append([]float64(nil), carry...)
				cs := make([]float64, 2*rows)
				for r := range rows {
					s, c := math.Sincos(rng.Float64())
					cs[2*r], cs[2*r+1] = c, s
				}
				Rotate(carry, m, m[ld+shift:], ld, cs)
				for j := range n {
					v := oldT[j]
					for r := range rows {
						w := old[(r+1)*ld+j+shift]
						out := cs[2*r+1]*w - cs[2*r]*v
						v = cs[2*r+1]*v + cs[2*r]*w
						if !near(m[r*ld+j], out, 2) {
							t.Fatalf("n=%d row %d column %d: %g want %g", n, r, j, m[r*ld+j], out)
						}
					}
					if !near(carry[j], v, 2) {
						t.Fatalf("n=%d carried %d: %g want %g", n, j, carry[j], v)
					}
				}
			}
		}
	}
}

func TestRankOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for n := range 20 {
		for rows := range 6 {
			const ld = 25
			w, z, abg := random(rng, 6*ld), random(rng, n), random(rng, 3*rows)
			old, oldZ := append([]float64(nil), w...), append([]float64(nil), z...)
			RankOne(z, w, ld, abg)
			for j := range n {
				v, scale := oldZ[j], 1.0
				for r := range rows {
					o := old[r*ld+j]
					want := abg[3*r]*o + abg[3*r+1]*v
					scale += math.Abs(abg[3*r]*o) + math.Abs(abg[3*r+1]*v) + math.Abs(abg[3*r+2]*o)
					if !near(w[r*ld+j], want, scale) {
						t.Fatalf("n=%d row %d column %d: %g want %g", n, r, j, w[r*ld+j], want)
					}
					v += abg[3*r+2] * o
				}
				if !near(z[j], v, scale) {
					t.Fatalf("n=%d carried %d: %g want %g", n, j, z[j], v)
				}
			}
		}
	}
}

// ulps is the distance of got from 2^x in units in the last place of 2^x. The
// reference is a Taylor series in 200 bits.
func ulps(got, x float64) float64 {
	const prec = 200
	f := math.Floor(x)
	r := new(big.Float).SetPrec(prec).SetFloat64(x - f)
	ln2, _, err := big.ParseFloat("0.69314718055994530941723212145817656807550013436025525412068000949339362196969472", 10, prec, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	r.Mul(r, ln2)
	sum, term := big.NewFloat(1).SetPrec(prec), big.NewFloat(1).SetPrec(prec)
	for i := 1; i < 60; i++ {
		term.Mul(term, r)
		term.Quo(term, big.NewFloat(float64(i)).SetPrec(prec))
		sum.Add(sum, term)
	}
	sum.SetMantExp(sum, int(f))
	ulp := math.Ldexp(1, int(f)-52)
	d := new(big.Float).SetPrec(prec).SetFloat64(got)
	d.Sub(d, sum)
	v, _ := d.Float64()
	return math.Abs(v) / ulp
}

func TestExp2(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	worst := 0.0
	for i := range 20000 {
		x := -60 * rng.Float64()
		switch i % 4 {
		case 1:
			x = -1000 * rng.Float64()
		case 2:
			x = rng.NormFloat64()
		case 3:
			x = -rng.ExpFloat64() * 1e-3
		}
		worst = max(worst, ulps(Exp2(x), x))
	}
	t.Logf("largest error %.3f ulp", worst)
	// One rounding of a Horner chain whose last step adds 1 to at most 0.42.
	if worst > 1 {
		t.Errorf("largest error %.3f ulp, want at most 1", worst)
	}
	for x, want := range map[float64]float64{0: 1, 1: 2, -3: 0.125, 2000: 0x1p1000, -2000: 0x1p-1000, math.Inf(-1): 0x1p-1000} {
		if got := Exp2(x); got != want {
			t.Errorf("Exp2(%g) = %g, want %g", x, got, want)
		}
	}
}

func TestKernels(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for _, c := range []struct {
		name string
		fill func(*Pairs)
		want func(q, inner float64) float64
	}{
		{"gaussian", Gaussian, func(q, _ float64) float64 { return math.Exp2(-q) }},
		{"matern 5/2", Matern52, func(q, _ float64) float64 { return (1 + math.Sqrt(q) + q/3) * math.Exp(-math.Sqrt(q)) }},
		{"matern 3/2", Matern32, func(q, _ float64) float64 { return (1 + math.Sqrt(q)) * math.Exp(-math.Sqrt(q)) }},
		{"exponential", Exponential, func(q, _ float64) float64 { return math.Exp(-math.Sqrt(q)) }},
		{"distances", Distances, func(q, _ float64) float64 { return q }},
		{"inner", Inner, func(_, p float64) float64 { return p }},
	} {
		for d := range 5 {
			for n := range 6 {
				p := &Pairs{
					Rows: random(rng, n*d), Lanes: random(rng, d*Lanes), N: n, D: d,
					Variance: 1.7, Out: random(rng, n*Lanes), Weights: random(rng, n), Sum: random(rng, Lanes),
				}
				c.fill(p)
				for j := range Lanes {
					sum := 0.0
					for k := range n {
						q, in := 0.0, 0.0
						for i := range d {
							a, b := p.Rows[k*d+i], p.Lanes[i*Lanes+j]
							q += (a - b) * (a - b)
							in += a * b
						}
						want := 1.7 * c.want(q, in)
						if !near(p.Out[k*Lanes+j], want, math.Abs(want)+math.Abs(in)) {
							t.Fatalf("%s d=%d: %g want %g", c.name, d, p.Out[k*Lanes+j], want)
						}
						sum += want * p.Weights[k]
					}
					if !near(p.Sum[j], sum, 50) {
						t.Fatalf("%s d=%d n=%d: sum %g want %g", c.name, d, n, p.Sum[j], sum)
					}
				}
			}
		}
	}
}

func TestPanels(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for n := range 7 {
		const d = 2
		p := &Pairs{Rows: random(rng, n*d), Lanes: random(rng, d*Lanes), N: n, D: d}
		s, weights, sum, squares := random(rng, n*Lanes), random(rng, n), random(rng, Lanes), random(rng, Lanes)
		g := random(rng, d*Lanes)
		was := append([]float64(nil), g...)
		Combine(sum, weights, s)
		SumSquares(squares, s, n)
		Moments(g, s, p)
		for j := range Lanes {
			a, q := 0.0, 0.0
			m := [d]float64{was[j], was[Lanes+j]}
			for k := range n {
				v := s[k*Lanes+j]
				a += weights[k] * v
				q += v * v
				for i := range d {
					m[i] += v * (p.Lanes[i*Lanes+j] - p.Rows[k*d+i])
				}
			}
			if !near(sum[j], a, 20) || !near(squares[j], q, q) || !near(g[j], m[0], 50) || !near(g[Lanes+j], m[1], 50) {
				t.Fatalf("n=%d lane %d", n, j)
			}
		}
		a := append([]float64(nil), s...)
		Multiply(a, s)
		for i := range a {
			if a[i] != s[i]*s[i] {
				t.Fatal("multiply")
			}
		}
	}
}
