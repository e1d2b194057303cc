package gpcore_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/labtuner/tuner/gpcore/internal/factor"
	"github.com/labtuner/tuner/gpcore/internal/gptest"
	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/internal/vec/peak"
)

// BenchmarkBeside is one half of scripts/compare: the jobs of this package and of
// its comparators in Go, named job/party/n=.... Run alone it shows the figures of
// this process; scripts/compare/run takes them in turn with those of the programs
// in other languages, and makes the ratios.
//
// A figure is the fastest execution in the benchmark's time by [stopwatch]: on a shared
// machine the others say more about the neighbours. Decisions differ in their work, since
// each has other data; their figure is the median of the processor time. Covariance matrices are those of random
// points in three dimensions, squared exponential, lengthscale 0.3, noise 0.01.
func BenchmarkBeside(b *testing.B) {
	for _, job := range []struct {
		name  string
		sizes []int
		party map[string]func(b *testing.B, n int)
	}{
		{"quadratic", []int{256, 512, 1024}, quadraticParties()},
		{"refactorise", []int{256, 512, 1024, 2048}, map[string]func(*testing.B, int){"ours": besideRefactorise}},
		{"replacing", []int{256, 512, 1024, 2048}, map[string]func(*testing.B, int){
			"ours": besideReplace, "givens": besideGivens, "givens-factor": besideGivensFactor}},
		{"appending", []int{256, 512, 1024}, map[string]func(*testing.B, int){
			"ours": besideAppend, "gonum": besideExtend}},
		{"deciding", []int{100, 150, 500, 1000}, map[string]func(*testing.B, int){
			"ucb":          besideUCB,
			"cvs-d=3":      func(b *testing.B, n int) { besideCVS(b, 3, n) },
			"cvs-d=5":      func(b *testing.B, n int) { besideCVS(b, 5, n) },
			"rahbo":        func(b *testing.B, n int) { besideRAHBO(b, n, false) },
			"rahbo-noises": func(b *testing.B, n int) { besideRAHBO(b, n, true) }}},
		{"pairs", []int{256}, map[string]func(*testing.B, int){"ours": besidePairs, "math": besideExp}},
	} {
		b.Run(job.name, func(b *testing.B) {
			for _, name := range slices.Sorted(maps.Keys(job.party)) {
				b.Run(name, func(b *testing.B) {
					for _, n := range job.sizes {
						b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) { job.party[name](b, n) })
					}
				})
			}
		})
	}
}

// besideCandidates is the number of right-hand sides of the batched quadratic form: 21
// panels.
const besideCandidates = 21 * vec.Lanes

// task is a piece of work to time. What prepares it, where not nil, is not timed.
type task struct{ prepare, run func() }

// fastest runs the tasks in turn as long as the benchmark runs, and returns the
// fastest execution of each in seconds. Tasks without preparation are repeated until
// they fill 20 us, so that the clock does not count.
func fastest(b *testing.B, tasks ...task) []float64 {
	const atLeast = 20 * time.Microsecond
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	repeat, best := make([]int, len(tasks)), make([]float64, len(tasks))
	once := func(i int) time.Duration {
		if tasks[i].prepare != nil {
			tasks[i].prepare()
		}
		watch := startStopwatch()
		for range repeat[i] {
			tasks[i].run()
		}
		return watch.elapsed()
	}
	for i := range tasks {
		repeat[i], best[i] = 1, math.Inf(1)
		for tasks[i].prepare == nil && once(i) < atLeast {
			repeat[i] *= 2
		}
	}
	for b.Loop() {
		for i := range tasks {
			best[i] = min(best[i], once(i).Seconds()/float64(repeat[i]))
		}
	}
	b.ReportMetric(0, "ns/op") // a mean, and of all tasks
	return best
}

// inMicroseconds times one task.
func inMicroseconds(b *testing.B, t task) float64 {
	us := 1e6 * fastest(b, t)[0]
	b.ReportMetric(us, "us")
	return us
}

// medianMicroseconds times work that differs from execution to execution.
func medianMicroseconds(b *testing.B, run func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var took []time.Duration
	for b.Loop() {
		watch := startStopwatch()
		run()
		took = append(took, watch.busy())
	}
	slices.Sort(took)
	b.ReportMetric(1e6*took[len(took)/2].Seconds(), "us")
	b.ReportMetric(0, "ns/op") // a mean of all that the machine did
}

func quadraticParties() map[string]func(*testing.B, int) {
	parties := map[string]func(*testing.B, int){"gonum": besideTrsm}
	for _, tier := range vec.Tiers()[1:] {
		parties[tier.String()] = func(b *testing.B, n int) { besideQuadratic(b, tier, n) }
	}
	return parties
}

// The squared norms of W times 504 columns, in turn with the loop of nothing but
// multiply-adds between registers. Operations are counted as n^2 a column; zeros
// that complete diagonal tiles do not count.
func besideQuadratic(b *testing.B, tier vec.Tier, n int) {
	defer vec.Use(tier)()
	rng := rand.New(rand.NewPCG(3, uint64(n)))
	f := factor.New(n)
	f.N = n
	for k := range n {
		for j := range k + 1 {
			f.W[k*f.Stride+j] = rng.NormFloat64()
		}
	}
	panels := make([]float64, n*besideCandidates)
	for i := range panels {
		panels[i] = rng.NormFloat64()
	}
	q := make([]float64, vec.Lanes)
	loop, ok := peak.For(tier.String())
	if !ok {
		b.Fatalf("no loop for the peak of %v", tier)
	}
	const rounds = 4000
	best := fastest(b, task{run: func() {
		for p := 0; p < len(panels); p += n * vec.Lanes {
			f.Squares(q, panels[p:p+n*vec.Lanes])
		}
	}}, task{run: func() { loop.Run(rounds) }})
	rate := float64(n) * float64(n) * besideCandidates / best[0]
	limit := rounds * loop.Flops / best[1]
	b.ReportMetric(1e6*best[0], "us")
	b.ReportMetric(1e-9*rate, "GF/s")
	b.ReportMetric(1e-9*limit, "peak-GF/s")
	b.ReportMetric(100*rate/limit, "%peak")
}

// besideCovariance is a covariance matrix with its noise.
func besideCovariance(n int) *mat.SymDense {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	x, k := make([][]float64, n), gptest.Cube()
	for i := range x {
		x[i] = gptest.Point(rng, 3)
	}
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			s.SetSym(i, j, k.Cov(x[i], x[j]))
		}
		s.SetSym(i, i, s.At(i, i)+0.01)
	}
	return s
}

// The same quadratic form by gonum: a triangular solve of 504 right-hand sides. Their
// squared norms are left out.
func besideTrsm(b *testing.B, n int) {
	var c mat.Cholesky
	if !c.Factorize(besideCovariance(n)) {
		b.Fatal("not positive definite")
	}
	var l mat.TriDense
	c.LTo(&l)
	rng := rand.New(rand.NewPCG(3, uint64(n)))
	from := make([]float64, n*besideCandidates)
	for i := range from {
		from[i] = rng.NormFloat64()
	}
	to := make([]float64, len(from))
	inMicroseconds(b, task{func() { copy(to, from) }, func() {
		blas64.Trsm(blas.Left, blas.NoTrans, 1, l.RawTriangular(),
			blas64.General{Rows: n, Cols: besideCandidates, Data: to, Stride: besideCandidates})
	}})
}

// W, b and alpha from the points, covariances included.
func besideRefactorise(b *testing.B, n int) {
	g, _ := full(b, gptest.Cube(), n)
	inMicroseconds(b, task{run: func() {
		if err := g.Refresh(); err != nil {
			b.Fatal(err)
		}
	}})
}

// Replacing the oldest is the worst case: every row is rotated.
func besideReplace(b *testing.B, n int) {
	g, x := full(b, gptest.Cube(), n)
	i := 0
	inMicroseconds(b, task{run: func() {
		i++
		if err := g.Replace(0, x[i%len(x)], 1, 0.01); err != nil {
			b.Fatal(err)
		}
	}})
}

// The last observation leaves, O(n), and another comes.
func besideAppend(b *testing.B, n int) {
	g, x := full(b, gptest.Cube(), n+1)
	i := 0
	inMicroseconds(b, task{func() { _ = g.Remove(n) }, func() {
		i++
		if err := g.Append(x[i%len(x)], 1, 0.01); err != nil {
			b.Fatal(err)
		}
	}})
}

// gonum's append to a Cholesky factor. It gets the covariances for nothing, and makes
// neither W nor alpha.
func besideExtend(b *testing.B, n int) {
	s := besideCovariance(n + 1)
	row := mat.NewVecDense(n+1, nil)
	for j := range n + 1 {
		row.SetVec(j, s.At(n, j))
	}
	var c mat.Cholesky
	if !c.Factorize(s.SliceSym(0, n)) {
		b.Fatal("not positive definite")
	}
	inMicroseconds(b, task{run: func() {
		var longer mat.Cholesky
		if !longer.ExtendVecSym(&c, row) {
			b.Fatal("not positive definite")
		}
	}})
}

func besidePairData(n int) *vec.Pairs {
	const d = 3
	rng := rand.New(rand.NewPCG(2, 2))
	normal := func(k int) []float64 {
		s := make([]float64, k)
		for i := range s {
			s[i] = rng.NormFloat64()
		}
		return s
	}
	return &vec.Pairs{Rows: normal(n * d), Lanes: normal(d * vec.Lanes), N: n, D: d, Variance: 1,
		Out: make([]float64, n*vec.Lanes), Weights: normal(n), Sum: make([]float64, vec.Lanes)}
}

// Covariances of n points with 24 candidates, d = 3, and the candidates' means.
func besidePairs(b *testing.B, n int) {
	p := besidePairData(n)
	us := inMicroseconds(b, task{run: func() { vec.Gaussian(p) }})
	b.ReportMetric(1000*us/float64(n*vec.Lanes), "ns/pair")
}

var besideSink float64 // keeps the compiler from dropping the exponentials

// math.Exp alone of as many exponents: neither distances nor means.
func besideExp(b *testing.B, n int) {
	p := besidePairData(n)
	vec.Distances(p)
	x := make([]float64, len(p.Out))
	for i, q := range p.Out {
		x[i] = -math.Ln2 * q
	}
	us := inMicroseconds(b, task{run: func() {
		s := 0.0
		for _, v := range x {
			s += math.Exp(v)
		}
		besideSink = s
	}})
	b.ReportMetric(1000*us/float64(n*vec.Lanes), "ns/pair")
}
