package search

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/labtuner/tuner/gpcore/internal/check"
)

// Problem is one function with its domain.
type Problem struct {
	Objective Objective
	// Axes has one element per coordinate. Nil where List is set.
	Axes []Axis
	// List holds the points that may be chosen, rows of Dim coordinates, instead of
	// Axes.
	List []float64
	// Track, where positive, keeps what the fixed screening points know of so many processes at most from search to
	// search and updates it by rank-one terms, O(n) a point instead of O(n^2). It takes
	// effect for a [Watchable] objective: an expectation that controls every coordinate, of no more processes. It pays
	// where between two searches few observations change, and takes memory: 8 Cap bytes a
	// screening point that is looked at and process, up to 32 MiB a process.
	Track int
	// Keep, where positive, is for an objective that differs little from that of the run before.
	// A run then looks at one in Keep of the screening points in turn, and at as many of those
	// that were best when they were last looked at. The first run looks at all. It has no effect
	// where Track has, or for a List.
	Keep int
	// Screen is the number of points screened in a box and Climbs the number of starts
	// that are climbed; 0: by the number of coordinates and the objective's scales.
	Screen, Climbs int
}

// Options are common to the problems of a search.
type Options struct {
	// Seed scrambles the screening points.
	Seed uint64
	// Workers is the number of goroutines, 0: as many as the process may use, at most
	// 8. It has no influence on the result.
	Workers int
	// Slack says how much of a problem's maximum below the best of all is of interest:
	// a problem that cannot come within Slack of the best is given up. Infinity finds
	// every problem's own maximum, zero only the best of all.
	Slack float64
}

// Maximum is what a search found for one problem.
type Maximum struct {
	// X is the best point found. It aliases the search's memory and is valid until the
	// next run.
	X []float64
	// Value is the objective at X, minus infinity where the search was cut before it
	// came to this problem.
	Value float64
	// Complete is false where the search was cut, or where the problem was given up
	// because of Slack; then Value is only a lower bound.
	Complete bool
}

// Defaults of a search.
const (
	maxSearchWorkers = 8
	// screenUnit is the number of points screened in one unit of work: 10 panels.
	screenUnit = 240
	// stepwise separates discrete coordinates, which are moved from value to value, from
	// those with more values, which are climbed like continuous ones and rounded.
	stepwise  = 64
	maxFactor = 4
)

// screenSizes and climbSizes are the defaults by the number of coordinates, for
// functions that vary over 0.3 of the range; maxFactor is by how much they grow at most
// for others.
var (
	screenSizes = [...]int{0, 48, 144, 408, 1008, 2016, 4032}
	climbSizes  = [...]int{0, 6, 7, 7, 12, 16, 24}
)

func byDimension(sizes []int, d int) int { return sizes[min(d, len(sizes)-1)] }

func (o Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return min(runtime.GOMAXPROCS(0), maxSearchWorkers)
}

// check says what is wrong with a problem.
func (p *Problem) check() error {
	if p.Objective == nil {
		return errors.New("gpcore: a problem needs an objective")
	}
	d := p.Objective.Dim()
	if d <= 0 {
		return fmt.Errorf("gpcore: an objective of %d coordinates cannot be maximised", d)
	}
	if p.Screen < 0 || p.Climbs < 0 {
		return fmt.Errorf("gpcore: numbers of points to screen (%d) and to climb (%d) must not be negative", p.Screen, p.Climbs)
	}
	if p.List != nil {
		if len(p.Axes) > 0 || len(p.List) == 0 || len(p.List)%d != 0 {
			return fmt.Errorf("gpcore: a list needs rows of %d coordinates, and no axes beside it", d)
		}
		return check.Finite("list", p.List)
	}
	if len(p.Axes) != d {
		return fmt.Errorf("gpcore: %d coordinates need as many axes, not %d", d, len(p.Axes))
	}
	for i := range p.Axes {
		if err := p.Axes[i].check(); err != nil {
			return fmt.Errorf("axis %d: %w", i, err)
		}
	}
	return nil
}
