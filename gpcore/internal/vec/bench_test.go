package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/labtuner/tuner/gpcore/internal/vec/peak"
)

// The machine may be shared and its clock may change, so every figure is a median,
// and every ratio the median of ratios of neighbouring samples in one process.

// atLeast is how long a sample takes.
const atLeast = 20 * time.Microsecond

// sampler times a piece of work beside a yardstick.
type sampler struct {
	work, yard     func()
	workN, yardN   int // repetitions that make a sample
	seconds, ratio []float64
}

func newSampler(work, yard func()) *sampler {
	s := &sampler{work: work, yard: yard, workN: repetitions(work)}
	if yard != nil {
		s.yardN = repetitions(yard)
	}
	return s
}

func clock(f func(), n int) float64 {
	start := time.Now()
	for range n {
		f()
	}
	return time.Since(start).Seconds() / float64(n)
}

func repetitions(f func()) int {
	n := 1
	for clock(f, n)*float64(n) < atLeast.Seconds() {
		n *= 2
	}
	return n
}

// loop samples as long as the benchmark runs, and returns the median seconds of
// the work and of the work over the yardstick.
func (s *sampler) loop(b *testing.B) (seconds, ratio float64) {
	for b.Loop() {
		t := clock(s.work, s.workN)
		s.seconds = append(s.seconds, t)
		if s.yard != nil {
			s.ratio = append(s.ratio, t/clock(s.yard, s.yardN))
		}
	}
	b.ReportMetric(0, "ns/op") // would count the yardstick
	if s.yard == nil {
		return median(s.seconds), 0
	}
	return median(s.seconds), median(s.ratio)
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// eachTier runs a benchmark on every tier.
func eachTier(b *testing.B, f func(b *testing.B, tier Tier)) {
	for _, tier := range Tiers() {
		b.Run(tier.String(), func(b *testing.B) {
			defer Use(tier)()
			f(b, tier)
		})
	}
}

// againstPeak reports work of so many operations beside the loop of
// multiply-adds between registers.
func againstPeak(b *testing.B, tier Tier, flops float64, work func()) {
	const rounds = 1000
	loop, ok := peak.For(tier.String())
	var yard func()
	if ok {
		yard = func() { loop.Run(rounds) }
	}
	seconds, ratio := newSampler(work, yard).loop(b)
	b.ReportMetric(flops/seconds*1e-9, "GF/s")
	if ok {
		b.ReportMetric(100*flops/(rounds*loop.Flops)/ratio, "%peak")
	}
}

func BenchmarkPeak(b *testing.B) {
	for _, tier := range Tiers() {
		loop, ok := peak.For(tier.String())
		if !ok {
			continue
		}
		b.Run(tier.String(), func(b *testing.B) {
			seconds, _ := newSampler(func() { loop.Run(1000) }, nil).loop(b)
			b.ReportMetric(1000*loop.Flops/seconds*1e-9, "GF/s")
		})
	}
}

// matrices of the sizes that the factor has
type bench struct {
	n, ld    int
	w, panel []float64
	out      []float64
}

func newBench(n int) *bench {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	ld := n + 64
	if ld%512 == 0 {
		ld += 8
	}
	return &bench{
		n: n, ld: ld, w: random(rng, (n+8)*ld), panel: random(rng, n*Lanes), out: make([]float64, n*Lanes),
	}
}

var benchSizes = []int{64, 128, 256, 512, 1024}

// eachSize runs a benchmark for every tier and number of rows.
func eachSize(b *testing.B, f func(b *testing.B, tier Tier, m *bench)) {
	eachTier(b, func(b *testing.B, tier Tier) {
		for _, n := range benchSizes {
			b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) { f(b, tier, newBench(n)) })
		}
	})
}

// The batched quadratic form: squared norms of W times a panel, n^2 operations a
// lane. The zeros that complete the diagonal tiles are not counted: at n = 64 they
// alone take 11 % of the time.
func BenchmarkQuadraticForm(b *testing.B) {
	eachSize(b, func(b *testing.B, tier Tier, m *bench) {
		flops := float64(m.n) * float64(m.n) * Lanes
		againstPeak(b, tier, flops, func() {
			for r := 0; r < m.n; r += Rows {
				TileSquares(m.out, m.w[r*m.ld:], m.ld, m.panel, r+Rows)
			}
		})
	})
}

// W^T times a panel, n^2 operations a lane.
func BenchmarkTransposed(b *testing.B) {
	eachSize(b, func(b *testing.B, tier Tier, m *bench) {
		flops := float64(m.n) * float64(m.n) * Lanes
		againstPeak(b, tier, flops, func() {
			for r := 0; r < m.n; r += Rows {
				TileT(m.out[r*Lanes:], m.w[r*m.ld+r:], m.ld, m.panel[r*Lanes:], m.n-r)
			}
		})
	})
}

// sink keeps the compiler from dropping the work of a yardstick.
var sink float64

// Covariance panels in three dimensions with weights, beside math.Exp on the same
// exponents.
func BenchmarkPanel(b *testing.B) {
	const n, d = 256, 3
	rng := rand.New(rand.NewPCG(2, 2))
	p := &Pairs{
		Rows: random(rng, n*d), Lanes: random(rng, d*Lanes), N: n, D: d, Variance: 1,
		Out: make([]float64, n*Lanes), Weights: random(rng, n), Sum: make([]float64, Lanes),
	}
	x := make([]float64, n*Lanes)
	Distances(p)
	for i, q := range p.Out {
		x[i] = -math.Ln2 * q
	}
	yard := func() {
		s := 0.0
		for _, v := range x {
			s += math.Exp(v)
		}
		sink = s
	}
	for name, fill := range map[string]func(*Pairs){
		"Gaussian": Gaussian, "Matern52": Matern52, "Matern32": Matern32, "Exponential": Exponential,
		"Distances": Distances, "Inner": Inner,
	} {
		b.Run(name, func(b *testing.B) {
			eachTier(b, func(b *testing.B, _ Tier) {
				seconds, ratio := newSampler(func() { fill(p) }, yard).loop(b)
				b.ReportMetric(seconds/(n*Lanes)*1e9, "ns/pair")
				b.ReportMetric(1/ratio, "x-math.Exp")
			})
		})
	}
}

// stream reports the traffic of a pass over the n x n matrix in bytes read and
// written.
func stream(b *testing.B, bytes float64, work func()) {
	seconds, _ := newSampler(work, nil).loop(b)
	b.ReportMetric(bytes/seconds*1e-9, "GB/s")
}

func BenchmarkStreamDots(b *testing.B) {
	eachSize(b, func(b *testing.B, _ Tier, m *bench) {
		stream(b, 8*float64(m.n*m.n), func() {
			for r := 0; r < m.n; r += Rows {
				Dots8(m.out[:Rows], m.w[r*m.ld:], m.ld, m.panel[:m.n])
			}
		})
	})
}

func BenchmarkStreamAxpys(b *testing.B) {
	eachSize(b, func(b *testing.B, _ Tier, m *bench) {
		stream(b, 8*float64(m.n*m.n), func() {
			for r := 0; r < m.n; r += Rows {
				Axpys8(m.out[:m.n], m.w[r*m.ld:], m.ld, m.panel[:Rows])
			}
		})
	})
}

// Rows move up by one while they are rotated, as in the removal of a point.
func BenchmarkStreamRotate(b *testing.B) {
	eachSize(b, func(b *testing.B, _ Tier, m *bench) {
		cs := make([]float64, 8)
		for r := range 4 {
			cs[2*r], cs[2*r+1] = math.Sincos(0.3 + float64(r))
		}
		stream(b, 16*float64(m.n*m.n), func() {
			for r := 0; r < m.n; r += 4 {
				Rotate(m.out[:m.n], m.w[r*m.ld:], m.w[(r+1)*m.ld+1:], m.ld, cs)
			}
		})
	})
}

func BenchmarkStreamRankOne(b *testing.B) {
	eachSize(b, func(b *testing.B, _ Tier, m *bench) {
		abg := make([]float64, 12)
		for r := range 4 {
			abg[3*r], abg[3*r+1], abg[3*r+2] = 1, 1e-9, 1e-9
		}
		stream(b, 16*float64(m.n*m.n), func() {
			for r := 0; r < m.n; r += 4 {
				RankOne(m.out[:m.n], m.w[r*m.ld:], m.ld, abg)
			}
		})
	})
}

func BenchmarkStreamDot(b *testing.B) {
	eachSize(b, func(b *testing.B, _ Tier, m *bench) {
		stream(b, 16*float64(m.n), func() { sink = Dot(m.w[:m.n], m.panel[:m.n]) })
	})
}
