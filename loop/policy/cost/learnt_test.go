package cost

import (
	"math"
	"slices"
	"testing"

	"github.com/labtuner/tuner/loop/policy/space"
)

// learning is a model of two control sets of one variable, whose costs are learnt from guesses of 2 and 5.
func learning() (*Model, []*space.Domain) {
	axes := []space.Axis{{}}
	domains := []*space.Domain{space.NewDomain(axes, []bool{true}, 0, nil), space.NewDomain(axes, []bool{true}, 1, nil)}
	c := &Model{Sets: []float64{2, 5}, Axes: axes, Ledger: &Ledger{Budget: 10}}
	c.Learn()
	return c, domains
}

// A set's guess holds until its first reading, then the mean does; decisions weigh the lower confidence bound
// of it, written down here again, and a budget has to hold the most expensive step so far.
func TestCostsAreLearnt(t *testing.T) {
	c, domains := learning()
	if got := []float64{c.Weighed(domains[0], []float64{0.5}), c.Weighed(domains[1], []float64{0.5})}; !slices.Equal(got, []float64{2, 5}) {
		t.Errorf("costs %v before the first reading, want the guesses", got)
	}
	if fits := c.AffordableSets(nil); !slices.Equal(fits, []int{0, 1}) {
		t.Errorf("sets %v fit", fits)
	}
	readings := []float64{1, 3, math.NaN(), 2} // of set 0; 9 of set 1
	for _, r := range readings {
		if c.Read(0, r, domains) == math.IsNaN(r) {
			t.Errorf("reading %g: whether it changed anything is told wrongly", r)
		}
	}
	c.Read(1, 9, domains)
	for i, want := range []float64{2, 9} {
		if got := c.Of(domains[i], []float64{0.5}); math.Abs(got-want) > 1e-12 {
			t.Errorf("control set %d is expected to cost %g, want %g", i+1, got, want)
		}
	}
	variation := math.Sqrt((1.0 + 1 + 0) / 4 / 2) // squared deviations over the squared mean, two degrees of freedom
	bounds := []float64{2 * (1 - variation*math.Sqrt(2*math.Log(4)/3)), 9 * max(0, 1-variation*math.Sqrt(2*math.Log(4)))}
	for i, want := range bounds {
		if got := c.Weighed(domains[i], []float64{0.5}); math.Abs(got-want) > 1e-12 {
			t.Errorf("control set %d counts as %g, want its lower bound %g", i+1, got, want)
		}
	}
	c.Ledger.Charge(7.5) // 2.5 are left: the mean of set 0 fits, its most expensive step does not
	if fits := c.AffordableSets(nil); len(fits) > 0 {
		t.Errorf("sets %v fit 2.5, though a step of the first has cost 3", fits)
	}
	if c.Affordable(domains[0], []float64{0.5}) || c.AffordsAll(domains[0]) || c.Penalty(domains[0], []float64{0.5}) == 0 {
		t.Error("settings of a set that does not fit are afforded")
	}
}

// Sets cost the same as far as is known: while their confidence intervals meet.
func TestAlikeCosts(t *testing.T) {
	c, domains := learning()
	for _, r := range []float64{0.9, 1.1} {
		c.Read(0, r, domains)
	}
	c.Read(1, 1.2, domains)
	if !c.Alike(0, 1) || !c.Alike(1, 0) {
		t.Error("costs of 1 and 1.2 that scatter by 14 % are told apart after three readings")
	}
	for range 100 {
		c.Read(0, 0.9, domains)
		c.Read(0, 1.1, domains)
		c.Read(1, 1.2, domains)
	}
	if c.Alike(0, 1) {
		t.Error("costs of 1 and 1.2 are not told apart after 303 readings")
	}
}

// Every set has a step of its own first, of which the cost may fail to be read.
func TestUntriedSets(t *testing.T) {
	c, domains := learning()
	for _, want := range [][]int{{0}, {1}, {0, 1}} {
		got := c.Untried([]int{0, 1})
		if !slices.Equal(got, want) {
			t.Errorf("sets %v, want %v", got, want)
		}
		c.Read(got[0], math.NaN(), domains)
	}
	given := &Model{Sets: []float64{1, 2}}
	if got := given.Untried([]int{0, 1}); len(got) != 2 {
		t.Errorf("of given costs sets %v are to be tried first", got)
	}
}
