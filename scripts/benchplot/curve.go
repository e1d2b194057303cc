package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"
)

// curve is a policy's regret: mean over the seeds and standard error at each x.
type curve struct {
	name                   string
	seeds                  int
	x, mean, standardError []float64
}

// axes says what is drawn against what.
type axes struct {
	x, y   string
	points int // of each curve at most, 0: all
}

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
	of, ok := quantities[a.y]
	if !ok {
		return nil, fmt.Errorf("-y %q: it is one of %s", a.y, strings.Join(slices.Sorted(maps.Keys(quantities)), ", "))
	}
	var out []curve
	for _, r := range results {
		var tracks []track
		for _, s := range r.Seeds {
			t := track{x: s.Cost, y: of.of(&s)}
			if len(t.y) != len(t.x) { // not every policy has every quantity
				continue
			}
			if a.x == "step" {
				t.x = make([]float64, len(s.Cost))
				for i := range t.x {
					t.x[i] = float64(i + 1)
				}
			}
			tracks = append(tracks, t)
		}
		if len(tracks) > 0 {
			out = append(out, average(r.Policy, tracks).thinned(a.points))
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("-y %s: no policy has it", a.y)
	}
	return out, nil
}

// quantity is something that results have a number of for each step.
type quantity struct {
	label string
	of    func(s *seed) series
}

// quantities are what may be drawn, by the word of -y.
var quantities = map[string]quantity{
	"simple":     {"simple regret", func(s *seed) series { return s.SimpleRegret }},
	"cumulative": {"cumulative regret", func(s *seed) series { return s.CumulativeRegret }},
	"weighted":   {"cost-weighted cumulative regret", weighted},
	"report":     {"regret of the report", func(s *seed) series { return s.ReportedRegret }},
	"active":     {"priors that are left", func(s *seed) series { return s.ActivePriors }},
	"entropy":    {"entropy of the priors (nats)", func(s *seed) series { return s.PriorEntropy }},
}

// weighted is the sum over steps of cost times regret.
func weighted(s *seed) series {
	out := make(series, len(s.Cost))
	sum, spent, lost := 0.0, 0.0, 0.0
	for i, c := range s.Cost {
		sum += (c - spent) * (s.CumulativeRegret[i] - lost)
		out[i], spent, lost = sum, c, s.CumulativeRegret[i]
	}
	return out
}

// thinned keeps so many points at most, the first and the last among them; 0: all.
func (c curve) thinned(points int) curve {
	n := len(c.x)
	if points < 2 || n <= points {
		return c
	}
	out := curve{name: c.name, seeds: c.seeds}
	for k := range points {
		i := k * (n - 1) / (points - 1)
		out.x, out.mean, out.standardError = append(out.x, c.x[i]), append(out.mean, c.mean[i]), append(out.standardError, c.standardError[i])
	}
	return out
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
