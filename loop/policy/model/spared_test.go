package model

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Members without hope are revised at every eighth row only. Between two of them what they weigh stays beside nothing, as it
// does where all rows are loaded anew, also where a reading triples the spread of the data, and so the unit of all
// evidence; a member that is revised has the evidence of all rows, whatever it was spared.
func TestMembersWithoutHopeAreSpared(t *testing.T) {
	for name, variance := range map[string]float64{"noise is estimated": math.NaN(), "noise is learnt": 5e-4} {
		m, err := New(&Rules{Dims: 2, Learnt: variance > 0, Spec: Spec{Kernel: "matern52", Hyperparameters: HyperPriors, Capacity: 128}})
		if err != nil {
			t.Fatal(name, err)
		}
		rng := rand.New(rand.NewPCG(14, 3))
		var rows []Row
		spared, all, tolerance := 0, 1.0, 1e-6 // sums of 60 terms of some ten, conditions up to 1e5
		if variance > 0 {
			tolerance = 0.02 // noise in a member's unit is by its unit of the revision before, and anew by a later one
		}
		for step := 1; step <= 60; step++ {
			x := []float64{rng.Float64(), rng.Float64()}
			r := Row{X: x, Mean: (1 + float64(step)/50) * (math.Sin(3*x[0]) + x[1] + 0.01*rng.NormFloat64()), Variance: variance * rng.ExpFloat64(), Shots: 5, Step: step}
			if step == 43 {
				r.Mean += 9
			}
			rows = append(rows, r)
			foretold, scale := densities(m, r), m.Priors.scale
			m.Observe(r)
			if !slices.Contains(m.Priors.spare, true) {
				all = scale
			} else if math.Abs(scale-all) > 0.05*all {
				t.Errorf("%s, row %d: members are spared, and the spread of the data has become %g, from %g when all were revised", name, step, scale, all)
			}
			got := evidences(m)
			kept := slices.Clone(m.Priors.spare)
			anew, err := New(m.Rules)
			if err != nil {
				t.Fatal(name, err)
			}
			for _, r := range rows {
				anew.Observe(r)
			}
			anew.Priors.Broken = true
			if err := anew.Refresh(); err != nil {
				t.Fatal(name, err)
			}
			want := evidences(anew)
			for i := range got {
				if now := got[i] - float64(step)*math.Log(m.Priors.scale); kept[i] && math.IsNaN(variance) && math.Abs(now-foretold[i]) > 1e-7*math.Abs(now) {
					t.Errorf("%s, row %d, member %d was spared: log density of the readings %g, want %g", name, step, i, now, foretold[i])
				}
				if b := &m.Priors.members[i]; !kept[i] && b.unit == 0 && b.amplitude > 0 && m.Priors.units[i] != b.amplitude {
					t.Errorf("%s, row %d, member %d: unit %g, it is to be %g", name, step, i, m.Priors.units[i], b.amplitude)
				}
				switch difference := math.Abs(got[i] - want[i]); {
				case !kept[i] && difference > tolerance && want[i] > slices.Max(want)-20:
					t.Errorf("%s, row %d, member %d: log evidence %g, anew %g", name, step, i, got[i], want[i])
				case kept[i] && difference > 0.5 && max(got[i], want[i]) > slices.Max(want)-9: // it was below 1e-6, and is above 1e-4
					t.Errorf("%s, row %d, member %d was spared: log evidence %g, anew %g, the best %g", name, step, i, got[i], want[i], slices.Max(want))
				case kept[i]:
					spared++
				}
			}
		}
		t.Logf("%s: %d of %d revisions spared", name, spared, 60*len(m.Priors.members))
		if spared < 40 {
			t.Errorf("%s: %d revisions spared", name, spared)
		}
	}
}

// Where single shots teach the noise, nobody is spared: TestRiskWithoutFullSet, whole, has a case that sparing spoils.
func TestNobodyIsSparedWhereSinglesTeach(t *testing.T) {
	m, err := New(&Rules{Dims: 2, Learnt: true, Singles: true, Spec: Spec{Kernel: "matern52", Hyperparameters: HyperPriors, Capacity: 64}})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(14, 4))
	for step := 1; step <= 60; step++ {
		x := []float64{rng.Float64(), rng.Float64()}
		m.Observe(Row{X: x, Mean: math.Sin(3*x[0]) + x[1] + 0.01*rng.NormFloat64(), Variance: math.NaN(), Shots: 1, Step: step})
		if slices.Contains(m.Priors.spare, true) {
			t.Fatalf("row %d spares members", step)
		}
	}
}

func evidences(m *Model) []float64 {
	var out []float64
	for i := range m.Priors.members {
		out = append(out, m.Priors.set.LogEvidence(i))
	}
	return out
}

// densities foretells the log density of all readings, in the objective's unit, by each member as it is, when r is told.
func densities(m *Model, r Row) []float64 {
	c, before := m.Priors, len(m.Data.Rows)
	out := evidences(m)
	for i := range out {
		var mean, variance [1]float64
		c.set.Member(i).Predict(mean[:], variance[:], r.X)
		unit := c.units[i] * c.scale
		z := (r.Mean-c.center-c.scale*c.means[i])/unit - mean[0]
		v := variance[0] + max(c.members[i].ratio/float64(r.Shots), MinNoise)
		out[i] += -float64(before)*math.Log(c.scale) - z*z/(2*v) - math.Log(2*math.Pi*v)/2 - math.Log(unit)
	}
	return out
}
