package gpcore_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/internal/gptest"
	"github.com/labtuner/tuner/gpcore/kernels"
)

func threePriors() []gpcore.Prior {
	l := []float64{0.3, 0.3}
	return []gpcore.Prior{
		{Kernel: kernels.SquaredExponential(1, l), NoiseVariance: 0.01},
		{Kernel: kernels.Matern32(2, l), Mean: 1, NoiseVariance: 0.02, Weight: 0.5},
		{Kernel: kernels.Linear([]float64{1, 1}), Mean: -1, NoiseVariance: 0.5},
	}
}

// While nothing leaves, the evidence is the log marginal likelihood of each member,
// and the probabilities follow by Bayes' rule.
func TestPriorSetEvidence(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	s := gpcore.NewPriorSet(threePriors(), 30)
	for range 25 {
		x := gptest.Point(rng, 2)
		if err := s.Append(x, math.Sin(6*x[0])+0.1*rng.NormFloat64(), 0.001); err != nil {
			t.Fatal(err)
		}
	}
	want := make([]float64, 3)
	for i := range want {
		ll := s.Member(i).LogLikelihood()
		if !gptest.Agree(s.LogEvidence(i), ll, 1e-10) {
			t.Fatalf("evidence %g of prior %d, likelihood %g", s.LogEvidence(i), i, ll)
		}
		want[i] = math.Exp(ll-s.LogEvidence(s.Best())) * []float64{1, 0.5, 1}[i]
	}
	sum := want[0] + want[1] + want[2]
	p := make([]float64, 3)
	s.Probabilities(p)
	for i := range p {
		if !gptest.Agree(p[i], want[i]/sum, 1e-10) {
			t.Fatalf("probabilities %v", p)
		}
	}
	if s.Best() != slices.Index(p, slices.Max(p)) {
		t.Fatal("best is not the most probable")
	}
	x := gptest.Point(rng, 2)
	var m, v, raw [1]float64
	for i := range p {
		s.Predict(i, m[:], v[:], x)
		s.Member(i).Predict(raw[:], nil, x)
		if m[0] != raw[0]+s.Prior(i).Mean {
			t.Fatal("mean not added")
		}
	}
}

// Draws follow the probabilities: 20000 draws have a standard error of at most
// 0.0035; five of them are allowed.
func TestPriorSetDraw(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 44))
	s := gpcore.NewPriorSet(threePriors(), 5)
	_ = s.Append([]float64{0.5, 0.5}, 0.2, 0.1)
	p, got := make([]float64, 3), make([]float64, 3)
	s.Probabilities(p)
	for range 20000 {
		got[s.Draw(rng)] += 1.0 / 20000
	}
	for i := range p {
		if math.Abs(got[i]-p[i]) > 0.018 {
			t.Fatalf("drawn %v, probabilities %v", got, p)
		}
	}
}

func TestPriorSetElimination(t *testing.T) {
	s := gpcore.NewPriorSet(threePriors(), 5)
	_ = s.Append([]float64{0.5, 0.5}, 0.2, 0.1)
	if err := s.Eliminate(1); err != nil || s.Alive(1) {
		t.Fatal(err)
	}
	_ = s.Append([]float64{0.1, 0.5}, 0.2, 0.1)
	if s.Member(1).Len() != 1 || s.Member(0).Len() != 2 || s.Len() != 2 {
		t.Fatal("an eliminated prior was updated")
	}
	p := make([]float64, 3)
	s.Probabilities(p)
	if p[1] != 0 || math.Abs(p[0]+p[2]-1) > 1e-15 {
		t.Fatal(p)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		if s.Draw(rng) == 1 {
			t.Fatal("an eliminated prior was drawn")
		}
	}
	_ = s.Eliminate(2)
	if err := s.Eliminate(0); err != gpcore.ErrLastPrior || s.Best() != 0 {
		t.Fatal(err)
	}
}

// A change that one member cannot make is made by none.
func TestPriorSetFailsAsAWhole(t *testing.T) {
	s := gpcore.NewPriorSet([]gpcore.Prior{
		{Kernel: kernels.Matern32(1, []float64{0.1})},
		{Kernel: kernels.SquaredExponential(1, []float64{1e9})}, // all points are one
	}, 4)
	snapshot := func() []float64 {
		return slices.Concat(snapshot(s.Member(0)), snapshot(s.Member(1)), []float64{s.LogEvidence(0), s.LogEvidence(1)})
	}
	if err := s.Append([]float64{0}, 1, 0.1); err != nil {
		t.Fatal(err)
	}
	if err := s.Append([]float64{1}, 1, 0); err != nil {
		t.Fatal(err)
	}
	before := snapshot()
	for i, err := range []error{
		s.Append([]float64{2}, 1, 0),
		s.Replace(0, []float64{2}, 1, 0),
		s.Append([]float64{math.NaN()}, 1, 1),
		s.Remove(5),
		s.Replace(-1, []float64{1}, 1, 1),
	} {
		if err == nil {
			t.Errorf("case %d succeeded", i)
		}
	}
	if !gptest.SameBits(before, snapshot()) {
		t.Error("a failed change left traces")
	}
}

// Readings of each prior's own: the same set as by its own means and noises, scored by
// the density of each target.
func TestPriorSetReadings(t *testing.T) {
	rng := rand.New(rand.NewPCG(47, 48))
	plain, own := gpcore.NewPriorSet(threePriors(), 12), gpcore.NewPriorSet(threePriors(), 12)
	for k := range 20 {
		x, y := gptest.Point(rng, 2), rng.NormFloat64()
		each := make([]gpcore.Reading, 3)
		for i := range each {
			p := own.Prior(i)
			each[i] = gpcore.Reading{y - p.Mean, 0.001 + p.NoiseVariance}
		}
		var err, want error
		if k < 12 {
			err, want = own.AppendEach(x, each), plain.Append(x, y, 0.001)
		} else {
			err, want = own.ReplaceEach(k%12, x, each), plain.Replace(k%12, x, y, 0.001)
		}
		if err != nil || want != nil {
			t.Fatal(err, want)
		}
	}
	for i := range 3 {
		if own.LogEvidence(i) != plain.LogEvidence(i) {
			t.Errorf("prior %d: evidence %g, want %g", i, own.LogEvidence(i), plain.LogEvidence(i))
		}
	}
	// The weights are K^-1 y: with FittedMeans' definition, y - noise*weight.
	g := own.Member(1)
	weights, means := make([]float64, g.Len()), make([]float64, g.Len())
	g.Weights(weights)
	g.FittedMeans(means)
	for i := range weights {
		if !gptest.Agree(means[i], g.Target(i)-g.NoiseVariance(i)*weights[i], 1e-12) {
			t.Errorf("weight %d", i)
		}
	}
	own.SetLogEvidence(1, own.LogEvidence(1)+math.Log(3))
	p, q := make([]float64, 3), make([]float64, 3)
	plain.Probabilities(p)
	own.Probabilities(q)
	if !gptest.Agree(q[1]/q[0], 3*p[1]/p[0], 1e-12) {
		t.Errorf("probabilities %v, before %v", q, p)
	}
	// A reading that one prior cannot take leaves all as they were.
	if err := own.ReplaceEach(0, []float64{0.1, 0.2}, []gpcore.Reading{{1, 1}, {math.NaN(), 1}, {1, 1}}); err == nil {
		t.Error("NaN was taken")
	}
	if g := own.Member(0); g.X(0)[0] == 0.1 || g.Len() != 12 {
		t.Error("a refused reading changed a process")
	}
}
