package gpcore

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A rebuild ends in the same process as a refactorisation of what is then held,
// whatever happens to the observations meanwhile.
func TestRebuildFollowsChanges(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 5))
		const capacity = 90
		g := New(SquaredExponential(1, []float64{0.3, 0.3}), capacity)
		noise := func() float64 { return 0.01 + 0.1*rng.Float64() }
		for range 70 {
			if err := g.Append(point(rng, 2), rng.NormFloat64(), noise()); err != nil {
				t.Fatal(err)
			}
		}
		k := Drifting(Matern32(0.8, []float64{0.5}), 0.7)
		var noises []float64
		if seed%2 == 0 {
			for range g.Len() {
				noises = append(noises, noise())
			}
		}
		if err := g.StartRebuild(k, noises); err != nil {
			t.Fatal(err)
		}
		// expect is the list of noises that the rebuilt process must have.
		expect := slices.Clone(g.f.noise[:g.Len()])
		if noises != nil {
			copy(expect, noises)
		}
		r := g.Reader()
		steps := 0
		for done := false; !done; steps++ {
			before := g.LogLikelihood()
			var err error
			if done, err = g.Rebuild(1 + rng.IntN(24)); err != nil {
				t.Fatal(err)
			}
			if done {
				break
			}
			if a, b := g.Rebuilding(); a == 0 || b != g.Len() {
				t.Fatal(a, b)
			}
			if g.LogLikelihood() != before {
				t.Fatal("an unfinished rebuild changed the process")
			}
			switch rng.IntN(5) {
			case 0:
				i, v := rng.IntN(g.Len()), noise()
				err = g.Replace(i, point(rng, 2), rng.NormFloat64(), v)
				expect = append(slices.Delete(expect, i, i+1), v)
			case 1:
				i := rng.IntN(g.Len())
				err = g.Remove(i)
				expect = slices.Delete(expect, i, i+1)
			case 2:
				if g.Len() < capacity {
					v := noise()
					err = g.Append(point(rng, 2), rng.NormFloat64(), v)
					expect = append(expect, v)
				}
			case 3:
				i, v := rng.IntN(g.Len()), 1e3*noise()
				err = g.SetNoise(i, v)
				expect[i] = v
			case 4:
				err = g.SetTarget(rng.IntN(g.Len()), rng.NormFloat64())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if steps < 3 {
			t.Fatalf("rebuilt in %d steps", steps)
		}
		if !slices.Equal(expect, g.f.noise[:g.Len()]) {
			t.Fatal("noises after the rebuild are not the expected ones")
		}
		if g.Kernel() != k {
			t.Fatal("the kernel was not taken over")
		}
		compare(t, g, rng)
		checkPadding(t, g.f)
		mean, want := make([]float64, 1), make([]float64, 1)
		r.Predict(mean, nil, []float64{0.4, 0.6})
		g.Predict(want, nil, []float64{0.4, 0.6})
		if mean[0] != want[0] {
			t.Fatal("a reader did not follow the rebuild")
		}
	}
}

func TestRebuildFails(t *testing.T) {
	g := New(SquaredExponential(1, []float64{0.3}), 40)
	for i := range 40 {
		if err := g.Append([]float64{float64(i)}, 1, 0.01); err != nil {
			t.Fatal(err)
		}
	}
	before := state(g)
	// With this lengthscale and no noise all points are one.
	if err := g.StartRebuild(SquaredExponential(1, []float64{1e9}), make([]float64, 40)); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Rebuild(24); err != ErrNotPositiveDefinite {
		t.Fatal(err)
	}
	if a, b := g.Rebuilding(); a != 0 || b != 0 {
		t.Fatal("a failed rebuild goes on")
	}
	if !sameBits(before, state(g)) {
		t.Fatal("a failed rebuild changed the process")
	}
	if done, err := g.Rebuild(24); !done || err != nil {
		t.Fatal("without a rebuild there is nothing to do")
	}
	if err := g.StartRebuild(Constant(1, 2), nil); err != ErrShape {
		t.Fatal(err)
	}
	if err := g.StartRebuild(Constant(1, 1), []float64{1}); err != ErrShape {
		t.Fatal(err)
	}
}
