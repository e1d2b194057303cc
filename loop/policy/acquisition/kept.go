package acquisition

import (
	"slices"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/loop/policy/cost"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
)

// RenewEvery is how many steps a search is kept: at steps that it divides everything that is
// kept begins anew. So a decision depends on the recorded ones since then alone, and whoever
// derives decisions anew begins at such a step.
const RenewEvery = 100

const (
	// trackedProcesses is the greatest number of processes whose posterior at the screening points
	// is kept, each with memory of its own: the objective's and that of its noise. limitingProcesses is how many more may be
	// followed there, with a quarter of that memory: those of constraints.
	trackedProcesses  = 2
	limitingProcesses = 16
	// keepParts: where the function to maximise differs little from that of the step before, a search
	// looks at an eighth of its screening points in turn, and at as many that were the best.
	keepParts = 8
)

// Kept is what one decision leaves to the next: its searches, with their screening points and
// what was found there, and the objective of a control set that holds every variable, whose posterior at
// those points an observation changes by terms of rank one. The zero value keeps nothing yet.
type Kept struct {
	objective *expectations.Expected
	processes int
	set       int
	searches  [maxSearches]*keptSearch
	*slabs
}

// slabs are what decisions take from the memory of their calls, by type.
type slabs struct {
	options    num.Slab[Option]
	terms      num.Slab[expectations.Term]
	inputs     num.Slab[expectations.Inputs]
	expected   num.Slab[*expectations.Expected]
	lists      num.Slab[[]float64]
	problems   num.Slab[search.Problem]
	optima     num.Slab[Optimum]
	groups     num.Slab[[]Optimum]
	components num.Slab[model.Component]

	pathLists num.Slab[*expectedPath]

	adjusted        num.Objects[space.Adjusted]
	transformations num.Objects[transformation]
	prices          num.Objects[cost.Price]
	ratios          num.Objects[InformationRatio]
	tails           num.Objects[termTail]
	improvements    num.Objects[positive]
	exceedances     num.Objects[positive]
	entropies       num.Objects[jointEntropy]
	indices         num.Objects[gittins]
	informations    num.Objects[informationOfGroup]
	generators      num.Objects[num.Generator]
	samples         num.Objects[Sample]
	expectedPaths   num.Objects[expectedPath]

	paths map[*gpcore.GP]*num.Objects[pathIn]
}

// slabs are those of a decision.
func (d *Decision) slabs() *slabs {
	if d.Kept.slabs == nil {
		d.Kept.slabs = &slabs{}
	}
	return d.Kept.slabs
}

// The searches of a decision that are kept: over control sets for the peak of a bound, and for what is
// maximised then, and over all variables for the maxima of samples.
const (
	forMaxima = iota + 2
	maxSearches

	// targetSet stands for all variables where the search is for a sample's maximum.
	targetSet = -1
)

// keptSearch is a search with what it was made for.
type keptSearch struct {
	*search.Search
	sets    []int
	steady  bool
	objects []search.Objective
	renewed int // the step, over RenewEvery, that it was made for
	share   float64
}

// How much of its points and climbs a search takes on after decisions that were cut: half of what it did, and from then on a
// twentieth more from decision to decision. One that is complete with fewer points finds more than one that is cut
// before it climbs.
const (
	cutShare   = 0.5
	shareGrows = 1.05
	leastShare = 1.0 / 64
)

// adapt decides how much the next run takes on, by whether the last was cut.
func (s *keptSearch) adapt() {
	if s.Cut() {
		s.share = max(cutShare*s.share, leastShare)
	} else {
		s.share = min(shareGrows*s.share, 1)
	}
	s.SetShare(s.share)
}

// Forget has everything begin anew.
func (k *Kept) Forget() { *k = Kept{slabs: k.slabs} }

// expectation is the objective of terms over the settings of all variables: the kept one
// where its processes are the same.
func (k *Kept) expectation(terms []expectations.Term, set int, in expectations.Inputs) (*expectations.Expected, error) {
	if k.objective != nil && k.set == set && k.objective.SetTerms(terms) {
		return k.objective, nil
	}
	made, err := expectations.New(terms, in)
	if err != nil {
		return nil, err
	}
	k.objective, k.processes, k.set = made, len(terms), set
	return made, nil
}

// A Use says what a decision searches for, by which the search of the decision before is found.
type Use struct {
	Which  int   // of the decision's searches
	Sets   []int // those of the problems
	Steady bool  // the objectives differ little from those of the step before
	Slack  float64
	Step   int
	Seed   uint64
}

// Search is a search over the whole domains of control sets: that of the decision before, where it
// was one for the same use.
func (k *Kept) Search(problems []search.Problem, u Use) (*search.Search, error) {
	at := u.Step / RenewEvery
	if u.Which < maxSearches {
		if s := k.searches[u.Which]; s != nil && s.renewed == at && s.steady == u.Steady && slices.Equal(s.sets, u.Sets) {
			s.adapt()
			s.SetSlack(u.Slack)
			s.take(problems)
			return s.Search, nil
		}
	}
	for i := range problems {
		p := &problems[i]
		if k.objective != nil && space.Core(p.Objective) == search.Objective(k.objective) && k.processes <= trackedProcesses {
			p.Track = k.processes + limitingProcesses
		}
		if u.Steady {
			p.Keep = keepParts
		}
	}
	made, err := search.New(problems, search.Options{Seed: num.Stream(u.Seed+num.Mix(uint64(u.Which)), num.ForScreening, at*RenewEvery).Uint64(), Slack: u.Slack})
	if err != nil || u.Which >= maxSearches {
		return made, err
	}
	s := &keptSearch{Search: made, sets: slices.Clone(u.Sets), steady: u.Steady, renewed: at, share: 1}
	s.remember(problems)
	k.searches[u.Which] = s
	return made, nil
}

// take gives the search the problems' objectives, unless it has them: expectations follow what becomes of them, of
// others it has copies.
func (s *keptSearch) take(problems []search.Problem) {
	has := func(o search.Objective, p search.Problem) bool {
		_, follows := o.(*expectations.Expected)
		return follows && o == p.Objective
	}
	if !slices.EqualFunc(s.objects, problems, has) {
		s.remember(problems)
		s.SetObjectives(s.objects)
	}
}

func (s *keptSearch) remember(problems []search.Problem) {
	s.objects = s.objects[:0]
	for _, p := range problems {
		s.objects = append(s.objects, p.Objective)
	}
}

// objectiveValues are those of a criterion that changes by coefficients from step to step, for
// the decision's control sets.
func (d *Decision) objectiveValues(terms []expectations.Term) ([]*expectations.Expected, error) {
	if len(terms) > trackedProcesses || !d.leavesNothing() {
		return d.Expectations(terms)
	}
	o, err := d.Kept.expectation(terms, d.Sets[0], d.inputs(d.Sets[0]))
	out := d.slabs().expected.Take(d.memory(), 1)
	out[0] = o
	return out, err
}

// leavesNothing reports whether there is one view and one control set, which leaves no variable random.
func (d *Decision) leavesNothing() bool {
	if len(d.Views) != 1 || len(d.Sets) != 1 {
		return false
	}
	in := d.inputs(d.Sets[0])
	return in.Random == nil && in.Nodes == nil
}
