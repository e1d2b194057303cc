package experiment

import (
	"fmt"
	"slices"

	"github.com/labtuner/tuner/loop/policy"
)

// Experiment is one figure's worth of a paper, as data.
type Experiment struct {
	// Name as on the command line: the family, a slash, the problem.
	Name string
	// Paper and Figure say where it comes from; About says what it is in one line.
	Paper, Figure, About string

	// Budget bounds what the steps cost together, Steps their number after the
	// initial design; 0 is no bound, and one of them is set.
	Budget float64
	Steps  int
	// Initial is the number of steps of the policies' own initial design, and Design
	// its kind.
	Initial int
	Design  string
	// CountInitial says that steps of the initial design are counted and charged.
	CountInitial bool
	// Seeds is the number of repetitions that a run makes unless told otherwise: the
	// paper's where it says one.
	Seeds int

	// Hold, where not zero, asks for the recommended setting after every Hold.Every
	// steps from Hold.From on, and counts its regret then.
	Hold Hold

	// Draw makes the problem of a seed.
	Draw func(seed uint64) (*Problem, error)
	// Common is the specification that all policies share, beside what the problem and
	// this experiment say already.
	Common func(p *Problem) policy.Spec
	// Judge, where not nil, completes the common specification of the policy whose rule reports
	// all competitors, each from its own observations: Seed.Reported.
	Judge func(s *policy.Spec, p *Problem)
	// ReportEvery, where not zero, follows the regret of the report over time: in the first counted
	// step and after every so many.
	ReportEvery int
	// Competitors are the policies, the ones that matter most first.
	Competitors []Competitor
	// Metrics are what a summary shows of each policy, the one to look at first first.
	Metrics []Metric
}

// Hold says when held settings are judged.
type Hold struct{ From, Every int }

// Competitor is one policy of an experiment.
type Competitor struct {
	// Name as on the command line; About in one line.
	Name, About string
	// Kind is the policy's, as [policy.Kinds] lists them.
	Kind string
	// Additional steps after the initial design are neither counted nor charged: what the paper
	// grants this policy beside the others' steps.
	Additional int
	// Set completes the common specification; nil: it is complete.
	Set func(s *policy.Spec, p *Problem)
}

// Spec is what the competitor asks [policy.New] for.
func (x *Experiment) Spec(c Competitor, p *Problem, seed uint64) policy.Spec {
	s := x.common(p, seed)
	s.Kind = c.Kind
	if c.Set != nil {
		c.Set(&s, p)
	}
	return s
}

// common is what all policies are told.
func (x *Experiment) common(p *Problem, seed uint64) policy.Spec {
	s := x.Common(p)
	s.Variables, s.ControlSets, s.Candidates = p.Variables, p.ControlSets, p.Candidates
	s.Budget, s.InitialSteps, s.Design, s.Seed = x.Budget, x.Initial, x.Design, seed
	return s
}

// Competitor finds a policy by name.
func (x *Experiment) Competitor(name string) (Competitor, error) {
	i := slices.IndexFunc(x.Competitors, func(c Competitor) bool { return c.Name == name })
	if i < 0 {
		return Competitor{}, fmt.Errorf("experiment %q has no policy %q", x.Name, name)
	}
	return x.Competitors[i], nil
}

// CompetitorNames lists the policies in order.
func (x *Experiment) CompetitorNames() []string {
	names := make([]string, len(x.Competitors))
	for i, c := range x.Competitors {
		names[i] = c.Name
	}
	return names
}
