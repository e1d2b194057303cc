package main

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// curve is a policy's regret: mean over the seeds and standard error at each x.
type curve struct {
	name                   string
	seeds                  int
	x, mean, standardError []float64
}

// axes says what is drawn against what.
type axes struct{ x, y string }

// cheaper is the axis to draw against: cost where there is any.
func cheaper(results []result) string {
	for _, r := range results {
		for _, s := range r.Seeds {
			if s.Cost[len(s.Cost)-1] > 0 {
				return "cost"
			}
		}
	}
	return "step"
}

// curves makes a curve of each policy.
func (a axes) curves(results []result) ([]curve, error) {
	if a.x != "cost" && a.x != "step" {
		return nil, fmt.Errorf("-x %q: it is cost or step", a.x)
	}
	if a.y != "simple" && a.y != "cumulative" {
		return nil, fmt.Errorf("-y %q: it is simple or cumulative", a.y)
	}
	var out []curve
	for _, r := range results {
		var tracks []track
		for _, s := range r.Seeds {
			t := track{x: s.Cost, y: s.SimpleRegret}
			if a.y == "cumulative" {
				t.y = s.CumulativeRegret
			}
			if a.x == "step" {
				t.x = make([]float64, len(s.Cost))
				for i := range t.x {
					t.x[i] = float64(i + 1)
				}
			}
			tracks = append(tracks, t)
		}
		out = append(out, average(r.Policy, tracks))
	}
	return out, nil
}

// track is one seed's regret, a step function: y[i] holds from x[i] on, y[0] before.
type track struct{ x, y []float64 }

func (t track) at(x float64) float64 {
	i := sort.Search(len(t.x), func(i int) bool { return t.x[i] > x })
	return t.y[max(i-1, 0)]
}

// average is the mean of step functions at every x where one of them changes, with the
// standard error of the mean (zero for one seed).
func average(name string, tracks []track) curve {
	c := curve{name: name, seeds: len(tracks)}
	for _, t := range tracks {
		c.x = append(c.x, t.x...)
	}
	slices.Sort(c.x)
	c.x = slices.Compact(c.x)
	n := float64(len(tracks))
	for _, x := range c.x {
		mean, squares := 0.0, 0.0
		for k, t := range tracks { // Welford's update
			d := t.at(x) - mean
			mean += d / float64(k+1)
			squares += d * (t.at(x) - mean)
		}
		c.mean = append(c.mean, mean)
		if n > 1 {
			squares /= (n - 1) * n
		}
		c.standardError = append(c.standardError, math.Sqrt(squares))
	}
	return c
}
