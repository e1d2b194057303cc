package gpcore

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The campaign on accuracy; its size is -gpcore.steps, as for TestErrorsDoNotGrow. A
// fresh factorisation of one state may be exact by luck, fifty times more than of the
// next. So errors are looked at in eight states along the way, and the worst of them is
// compared with the worst of fresh factorisations of the same states. The process is
// full all the time; each step replaces an observation and changes a noise.
func TestAccuracyAlongTheWay(t *testing.T) {
	const seed, states, most = 8, 8, 20
	for _, noise := range []float64{1e-2, 1e-6} {
		for _, clustered := range []bool{false, true} {
			t.Run(fmt.Sprintf("noise=%g/clustered=%t", noise, clustered), func(t *testing.T) {
				w := newWanderer(t, rand.New(rand.NewPCG(seed, 1)), noise, clustered)
				var held, fresh worstErrors
				var ratios []float64
				for range states {
					w.steps(t, max(*driftSteps/states, 1))
					a, b := w.errors(t)
					ratios = append(ratios, a.variance/b.variance)
					held, fresh = held.or(a), fresh.or(b)
				}
				slices.Sort(ratios)
				t.Logf("%d steps: mean %.1e, fresh %.1e, %.1f times; variance %.1e, fresh %.1e, %.1f times (state by state %.1f to %.1f)",
					*driftSteps, held.mean, fresh.mean, held.mean/fresh.mean, held.variance, fresh.variance,
					held.variance/fresh.variance, ratios[0], ratios[states-1])
				if !(held.mean <= most*fresh.mean) || !(held.variance <= most*fresh.variance) {
					t.Errorf("more than %d times the error of fresh factorisations (seed %d)", most, seed)
				}
			})
		}
	}
}

// worstErrors are the largest of a mean, absolute, and of a variance, relative.
type worstErrors struct{ mean, variance float64 }

func (w worstErrors) or(v worstErrors) worstErrors {
	return worstErrors{max(w.mean, v.mean), max(w.variance, v.variance)}
}

// wanderer is a full process that is fed without end.
type wanderer struct {
	g         *GP
	rng       *rand.Rand
	noise     float64
	clustered bool // half of the points close together
	fed       int
}

func newWanderer(t *testing.T, rng *rand.Rand, noise float64, clustered bool) *wanderer {
	const n = 96
	w := &wanderer{g: New(cube(), n), rng: rng, noise: noise, clustered: clustered}
	for range n {
		x, y := w.next()
		if err := w.g.Append(x, y, noise); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// next is a point and what a smooth function with the noise of the model says there.
func (w *wanderer) next() ([]float64, float64) {
	x := point(w.rng, 3)
	if w.fed++; w.clustered && w.fed%2 == 0 {
		for i := range x {
			x[i] = 0.5 + 0.02*w.rng.NormFloat64()
		}
	}
	return x, math.Sin(3*x[0]) + math.Sqrt(w.noise)*w.rng.NormFloat64()
}

// steps replaces the oldest and any observation by turns.
func (w *wanderer) steps(t *testing.T, count int) {
	n := w.g.Len()
	for s := range count {
		x, y := w.next()
		if err := w.g.Replace(s%2*w.rng.IntN(n), x, y, w.noise); err != nil {
			t.Fatal(err)
		}
		if err := w.g.SetNoise(w.rng.IntN(n), w.noise*(0.5+w.rng.Float64())); err != nil {
			t.Fatal(err)
		}
	}
}

// errors are those of the process and of a fresh factorisation against 160 bits, at
// points of which half are close to the data, where variances are small.
func (w *wanderer) errors(t *testing.T) (held, fresh worstErrors) {
	var x []float64
	for i := 0; i < w.g.Len(); i += 4 {
		near := slices.Clone(w.g.X(i))
		near[0] += 0.01
		x = append(append(x, near...), point(w.rng, 3)...)
	}
	again := w.g.Clone()
	if err := again.Refresh(); err != nil {
		t.Fatal(err)
	}
	o := newOracle(w.g)
	held.mean, held.variance = o.worst(w.g, x)
	fresh.mean, fresh.variance = o.worst(again, x)
	return held, fresh
}
