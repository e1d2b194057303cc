package benchmarks

import (
	"fmt"
	"slices"

	"github.com/labtuner/tuner/loop/benchmarks/costids"
	"github.com/labtuner/tuner/loop/benchmarks/cvs"
	"github.com/labtuner/tuner/loop/benchmarks/experiment"
	"github.com/labtuner/tuner/loop/benchmarks/irgp"
	"github.com/labtuner/tuner/loop/benchmarks/priors"
	"github.com/labtuner/tuner/loop/benchmarks/rahbo"
	"github.com/labtuner/tuner/loop/benchmarks/tracking"
	"github.com/labtuner/tuner/loop/policy"
)

// All lists every experiment, family by family.
func All() []*experiment.Experiment {
	all := slices.Concat(cvs.Experiments(), cvs.ReadExperiments(), cvs.RiskExperiments(), rahbo.Experiments(), irgp.Experiments(), priors.Experiments(),
		costids.Experiments(), tracking.Experiments())
	kinds := policy.Kinds()
	for _, x := range all {
		x.Competitors = slices.DeleteFunc(x.Competitors, func(c experiment.Competitor) bool { return !slices.Contains(kinds, c.Kind) })
	}
	return all
}

// Names lists the names of all experiments.
func Names() []string {
	var names []string
	for _, x := range All() {
		names = append(names, x.Name)
	}
	return names
}

// Find returns the experiment with this name.
func Find(name string) (*experiment.Experiment, error) {
	for _, x := range All() {
		if x.Name == name {
			return x, nil
		}
	}
	return nil, fmt.Errorf("there is no experiment %q", name)
}
