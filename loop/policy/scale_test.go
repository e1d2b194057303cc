package policy

import (
	"context"
	"github.com/labtuner/tuner/loop/policy/schedule"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/scripts/testsize"
)

// logSpecs search the same box twice: b's second variable is the exponential of a's.
func logSpecs(kind string, random bool) (a, b Spec) {
	a = Spec{Kind: kind, Seed: 3, InitialSteps: 4, Design: designSobol, Beta: 2, Schedule: schedule.None, Confidence: "constant",
		Model: model.Spec{Kernel: "matern52", Hyperparameters: "priors", Capacity: 64}, Variables: []Variable{
			{Name: "x", Low: 0, High: 1, Start: math.NaN()},
			{Name: "c", Low: 0, High: math.Log(100), Start: math.NaN(), Random: Distribution{Kind: Uniform}}},
		ControlSets: []ControlSet{{Controlled: []bool{true, true}, Cost: 1}}}
	if random {
		a.ControlSets = append(a.ControlSets, ControlSet{Controlled: []bool{true, false}, Cost: 0.5})
	}
	b = a
	b.Variables = append([]Variable(nil), a.Variables...)
	b.Variables[1].Low, b.Variables[1].High, b.Variables[1].Log = 1, 100, true
	return a, b
}

// TestLogScaleIsTheLogarithm: a policy on a logarithmic scale asks for the exponentials of what
// one asks for whose variable is the logarithm. They part by what exp and log round, which
// an observation hands on to the model; 1e-6 of the range is far below what a search is told to find.
func TestLogScaleIsTheLogarithm(t *testing.T) {
	for _, c := range []struct {
		kind   string
		random bool
	}{{"irgp-ucb", false}, {"ucb-cvs", true}, {"ei", false}, {"gp-ts", false}} {
		t.Run(c.kind, func(t *testing.T) {
			t.Parallel()
			sa, sb := logSpecs(c.kind, c.random)
			a, err := New(sa)
			if err != nil {
				t.Fatal(err)
			}
			b, err := New(sb)
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(5, 6))
			for range 9 {
				pa, err := a.Propose(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				pb, err := b.Propose(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				if pa.ControlSet != pb.ControlSet || math.IsNaN(pa.X[1]) != math.IsNaN(pb.X[1]) ||
					!math.IsNaN(pa.X[1]) && math.Abs(math.Log(pb.X[1])-pa.X[1]) > 1e-6*math.Log(100) || math.Abs(pa.X[0]-pb.X[0]) > 1e-6 {
					t.Fatalf("step %d: %v of set %d on the logarithm, %v of set %d on its scale", pa.Step, pa.X, pa.ControlSet, pb.X, pb.ControlSet)
				}
				u := []float64{pa.X[0], pa.X[1]}
				if math.IsNaN(u[1]) {
					u[1] = math.Log(100) * rng.Float64()
				}
				y := -(u[0]-0.3)*(u[0]-0.3) - (u[1]-1)*(u[1]-1) + 0.05*rng.NormFloat64()
				o := Observation{Step: pa.Step, ControlSet: pa.ControlSet, X: u, Mean: y, Variance: 0.01, Shots: 4, Valid: true}
				if err := a.Observe(o); err != nil {
					t.Fatal(err)
				}
				o.X = []float64{u[0], math.Exp(u[1])}
				if err := b.Observe(o); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestLogScaleSeparatesLevels: of levels from 1 to 100 whose effect goes with the ratio, the
// best is found with fewer steps on a logarithmic scale than on a linear one, where 1, 2 and 5
// lie within 4 % of the range.
func TestLogScaleSeparatesLevels(t *testing.T) {
	steps := func(log bool) (sum int) {
		for seed := range uint64(testsize.Of(3, 10)) {
			s := Spec{Kind: "irgp-ucb", Seed: seed + 1, InitialSteps: 3, Design: designSobol, Beta: 2,
				Model: model.Spec{Kernel: "matern52", Hyperparameters: "priors", Capacity: 64}, ControlSets: []ControlSet{{Controlled: []bool{true, true}}},
				Variables: []Variable{{Name: "x", Low: 0, High: 1, Start: math.NaN()},
					{Name: "c", Low: 1, High: 100, Levels: []float64{1, 2, 5, 10, 20, 50, 100}, Log: log, Start: math.NaN()}}}
			p, err := New(s)
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(seed, 9))
			n := 0
			for n < 40 {
				n++
				q, err := p.Propose(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				z := math.Log(q.X[1]) - math.Log(5)
				y := math.Sin(5*q.X[0]) - z*z
				o := Observation{Step: q.Step, ControlSet: 0, X: q.X, Mean: y + 0.05*rng.NormFloat64(), Variance: 0.01, Shots: 4, Valid: true}
				if err := p.Observe(o); err != nil {
					t.Fatal(err)
				}
				if q.X[1] == 5 && math.Sin(5*q.X[0]) > 0.98 {
					break
				}
			}
			sum += n
		}
		return sum
	}
	linear, logarithmic := steps(false), steps(true)
	t.Logf("steps to the best over all seeds: linear %d, logarithmic %d", linear, logarithmic)
	if logarithmic >= linear {
		t.Errorf("the logarithmic scale took %d steps in all, the linear one %d", logarithmic, linear)
	}
}

// TestLogScaleRoundTrips: the values that may be proposed are kept, and a value that has no
// logarithm has a place.
func TestLogScaleRoundTrips(t *testing.T) {
	s := Spec{Kind: "irgp-ucb", Seed: 1, InitialSteps: 3, Design: designSobol, Beta: 2,
		Model: model.Spec{Kernel: "matern52", Hyperparameters: "priors", Capacity: 64}, ControlSets: []ControlSet{{Controlled: []bool{true, true, true}}}, Variables: []Variable{
			{Name: "grid", Low: 0.5, High: 500, Resolution: 0.5, Log: true, Start: math.NaN()},
			{Name: "whole", Low: 1, High: 1000, Integer: true, Log: true, Start: math.NaN()},
			{Name: "free", Low: 1e-9, High: 1e3, Log: true, Start: math.NaN()}}}
	p, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 12 {
		q, err := p.Propose(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if g := q.X[0] / 0.5; g != math.Round(g) || q.X[1] != math.Round(q.X[1]) || q.X[2] < 1e-9 || q.X[2] > 1e3*(1+1e-12) {
			t.Fatalf("step %d proposes %v", q.Step, q.X)
		}
		o := Observation{Step: q.Step, X: append([]float64(nil), q.X...), Mean: float64(n % 3), Variance: 0.1, Shots: 4, Valid: true}
		if n == 5 {
			o.X[0] = -0.01 // a readback of an actuator that is off
		}
		if err := p.Observe(o); err != nil {
			t.Fatal(err)
		}
	}
	s.Variables[2].Low = 0
	if _, err := New(s); err == nil {
		t.Error("a logarithmic scale from 0 was taken")
	}
}
