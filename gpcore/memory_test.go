package gpcore_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/internal/gptest"
	"github.com/labtuner/tuner/gpcore/kernels"
)

// Merged replicates give the posterior that all readings give.
func TestMemoryMergesWithoutLoss(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	k := kernels.Matern52(1, []float64{0.3, 0.3})
	all, g := gpcore.New(k, 300), gpcore.New(k, 20)
	m := gpcore.NewMemory(g, gpcore.DefaultMemoryRule())
	var settings [][]float64
	for range 12 {
		settings = append(settings, gptest.Point(rng, 2))
	}
	counts := map[int]int{}
	for range 200 {
		i := rng.IntN(len(settings))
		counts[i]++
		x := slices.Clone(settings[i])
		x[0] += 1e-12 * rng.Float64() // readback noise far below any scale
		y, noise := rng.NormFloat64(), 0.01+rng.Float64()
		if err := all.Append(x, y, noise); err != nil {
			t.Fatal(err)
		}
		c, err := m.Add(x, y, noise)
		if err != nil {
			t.Fatal(err)
		}
		if want := counts[i] > 1; (c.Kind == gpcore.Merged) != want {
			t.Fatalf("reading %d of setting %d was %v", counts[i], i, c.Kind)
		}
	}
	if g.Len() != len(counts) || m.Len() != g.Len() || m.Readings() != 200 {
		t.Fatal(g.Len(), len(counts))
	}
	total := 0
	for i := range m.Len() {
		total += m.Observation(i).Count
	}
	if total != 200 {
		t.Fatalf("observations count %d readings", total)
	}
	mean, variance := make([]float64, 1), make([]float64, 1)
	wantMean, wantVariance := make([]float64, 1), make([]float64, 1)
	for range 50 {
		x := gptest.Point(rng, 2)
		g.Predict(mean, variance, x)
		all.Predict(wantMean, wantVariance, x)
		// 1e-9: moving a setting by 1e-12 changes f by about that.
		if !gptest.Agree(mean[0], wantMean[0], 1e-9) || !gptest.Agree(variance[0], wantVariance[0], 1e-9) {
			t.Fatalf("%g, %g; want %g, %g", mean[0], variance[0], wantMean[0], wantVariance[0])
		}
	}
}

// What leaves is the older of the pair around the observation best known to the
// others, found here by brute force.
func TestMemoryDropsTheRedundant(t *testing.T) {
	for _, drift := range []bool{false, true} {
		rng := rand.New(rand.NewPCG(33, 34))
		const n = 15
		g := gpcore.New(kernels.SquaredExponential(1, []float64{0.4, 0.4}), n)
		m := gpcore.NewMemory(g, gpcore.MemoryRule{Drift: drift})
		for step := range 80 {
			want := gpcore.Observation{}
			if m.Len() == n {
				best, lowest := -1, math.Inf(1)
				for i := range n {
					c := g.Clone()
					_ = c.Remove(i)
					var mean, v [1]float64
					c.Predict(mean[:], v[:], g.X(i))
					if q := v[0] / g.NoiseVariance(i); q < lowest {
						best, lowest = i, q
					}
				}
				near, distance := -1, math.Inf(1)
				for j := range n {
					if d := -g.Kernel().Cov(g.X(j), g.X(best)); j != best && d < distance {
						near, distance = j, d
					}
				}
				want = m.Observation(best)
				if o := m.Observation(near); o.Last < want.Last {
					want = o
				}
				want.X = slices.Clone(want.X)
			}
			c, err := m.Add(gptest.Point(rng, 2), float64(step), 0.01+0.05*rng.Float64())
			if err != nil {
				t.Fatal(err)
			}
			if step < n {
				if c.Kind != gpcore.Appended || c.Index != step {
					t.Fatal(c)
				}
				continue
			}
			if c.Kind != gpcore.Replaced || c.Was.Last != want.Last || c.Was.Y != want.Y || !slices.Equal(c.Was.X, want.X) {
				t.Fatalf("step %d: %+v left, want %+v", step, c.Was, want)
			}
			if o := m.Observation(c.Index); o.Last != m.Readings() || o.Y != float64(step) {
				t.Fatalf("the reading is not where the change says: %+v", o)
			}
		}
	}
}

func TestMemoryJoinsNearWhenFull(t *testing.T) {
	g := gpcore.New(kernels.SquaredExponential(1, []float64{1}), 3)
	m := gpcore.NewMemory(g, gpcore.MemoryRule{Near: 0.1})
	for i := range 3 {
		if c, err := m.Add([]float64{float64(i)}, float64(i), 0.3); err != nil || c.Kind != gpcore.Appended {
			t.Fatal(c, err)
		}
	}
	c, err := m.Add([]float64{1.06}, 4, 0.6)
	if err != nil || c.Kind != gpcore.Merged || c.At != 1 || c.Index != 2 || c.Was.Y != 1 || c.Was.Count != 1 {
		t.Fatal(c, err)
	}
	// Weights 1/0.3 and 1/0.6: two thirds and one third.
	o := m.Observation(2)
	if math.Abs(o.X[0]-1.02) > 1e-12 || math.Abs(o.Y-2) > 1e-12 || math.Abs(o.NoiseVariance-0.2) > 1e-12 || o.Count != 2 {
		t.Fatalf("%+v", o)
	}
	if c, err = m.Add([]float64{0.5}, 4, 0.6); err != nil || c.Kind != gpcore.Replaced {
		t.Fatal(c, err)
	}
}

func TestMemoryUnderDriftKeepsReplicatesApart(t *testing.T) {
	g := gpcore.New(kernels.Drifting(kernels.SquaredExponential(1, []float64{1}), 10), 6)
	m := gpcore.NewMemory(g, gpcore.MemoryRule{Drift: true, Near: 0.1})
	for i := range 30 {
		c, err := m.Add([]float64{0.5, float64(i) / 100}, 1, 0.01)
		if err != nil || c.Kind == gpcore.Merged {
			t.Fatal(c, err)
		}
	}
	if m.Len() != 6 || m.Readings() != 30 {
		t.Fatal(m.Len())
	}
}

func TestMemoryRefuses(t *testing.T) {
	g := gpcore.New(kernels.SquaredExponential(1, []float64{1}), 2)
	m := gpcore.NewMemory(g, gpcore.MemoryRule{Drift: true})
	for i := range 2 {
		if _, err := m.Add([]float64{float64(2 * i)}, 1, 0); err != nil {
			t.Fatal(err)
		}
	}
	before := snapshot(g)
	if _, err := m.Add([]float64{math.NaN()}, 1, 0.1); err == nil {
		t.Error("NaN was taken")
	}
	// With both settings free of noise, one of them stays whichever leaves.
	if _, err := m.Add([]float64{m.Observation(1 - m.Least()).X[0]}, 1, 0); err != gpcore.ErrNotPositiveDefinite {
		t.Error(err)
	}
	if !gptest.SameBits(before, snapshot(g)) || m.Len() != 2 || m.Readings() != 2 {
		t.Error("a refused reading changed the memory")
	}
	// Without noise, two readings of one setting are their mean.
	m = gpcore.NewMemory(gpcore.New(kernels.SquaredExponential(1, []float64{1}), 2), gpcore.DefaultMemoryRule())
	for i := range 2 {
		if _, err := m.Add([]float64{1}, float64(i), 0); err != nil {
			t.Fatal(err)
		}
	}
	if o := m.Observation(0); o.Y != 0.5 || o.NoiseVariance != 0 {
		t.Errorf("%+v", o)
	}
	defer func() {
		if recover() == nil {
			t.Error("a memory of a process with observations was made")
		}
	}()
	gpcore.NewMemory(g, gpcore.DefaultMemoryRule())
}

func TestMemoryRuleInWords(t *testing.T) {
	for r, want := range map[gpcore.MemoryRule]string{
		gpcore.DefaultMemoryRule(): "within 0.1 prior standard deviations",
		{Drift: true}:              "nothing merges",
		{}:                         "merge into a weighted observation; when full",
	} {
		if !strings.Contains(r.String(), want) {
			t.Errorf("%q does not say %q", r, want)
		}
	}
}

func TestMemoryAllocatesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(35, 36))
	k := kernels.Matern52(1, []float64{0.3, 0.3})
	var x [][]float64
	for range 100 {
		x = append(x, gptest.Point(rng, 2))
	}
	for name, s := range map[string]gpcore.Store{
		"process":   gpcore.New(k, 40),
		"prior set": gpcore.NewPriorSet([]gpcore.Prior{{Kernel: k}, {Kernel: kernels.SquaredExponential(2, []float64{0.2, 0.5}), Mean: 1}}, 40),
	} {
		m := gpcore.NewMemory(s, gpcore.DefaultMemoryRule())
		i := 0
		add := func() {
			i++
			if _, err := m.Add(x[i%100], 1, 0.1); err != nil {
				t.Fatal(err)
			}
		}
		for range 300 {
			add()
		}
		if a := testing.AllocsPerRun(200, add); a != 0 {
			t.Errorf("%s: %g allocations a reading", name, a)
		}
	}
}
