package cvs

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/labtuner/tuner/loop/benchmarks/experiment"
	"github.com/labtuner/tuner/loop/benchmarks/landscape"
	"github.com/labtuner/tuner/loop/policy"
)

// ReadExperiments are those of variance 0.02 with costs that are random and read after each step, in the setting of
// Hoang, Nguyen and Tran, "Bayesian Optimization for Unknown Cost-Varying Variable Subsets with No-Regret Costs"
// (arXiv 2412.15863): a step costs 0.5 to 1.5 times its control set's cost, uniformly. Policies are told the
// mean costs, or that every set costs 1, and read them. The paper's own algorithm and constants are not repeated.
func ReadExperiments() []*experiment.Experiment {
	var out []*experiment.Experiment
	for _, f := range []Family{GPSample(), Hartmann()} {
		for _, c := range costs {
			x := f.experiment(c.name, c.costs, landscape.Truncated{SD: sdOfFiftieth}, 0.02)
			x.Name += "-read"
			x.About += ", of which the costs are random"
			x.Paper, x.Figure = "ours, after Hoang et al., arXiv 2412.15863", "none"
			draw := x.Draw
			x.Draw = func(seed uint64) (*experiment.Problem, error) {
				p, err := draw(seed)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", x.Name, err)
				}
				p.DrawCost = func(rng *rand.Rand, set int) float64 { return p.ControlSets[set].Cost * (0.5 + rng.Float64()) }
				return p, nil
			}
			x.Competitors = readers()
			x.Metrics = append(x.Metrics, experiment.CostRegret)
			out = append(out, x)
		}
	}
	return out
}

// readers are schedules that are told the mean costs, and ones that read them.
func readers() []experiment.Competitor {
	var out []experiment.Competitor
	for _, c := range competitors() {
		if !slices.Contains([]string{"ucb-cvs-etc-ada", "ucb-cvs-epsilon", "ucb-cvs-auto"}, c.Name) {
			continue
		}
		told := c
		read := c
		read.Name, read.About = c.Name+"-read", c.About+"; costs are read"
		read.Set = func(s *policy.Spec, p *experiment.Problem) {
			if c.Set != nil {
				c.Set(s, p)
			}
			s.CostsRead, s.ControlSets = true, slices.Clone(s.ControlSets)
			for i := range s.ControlSets {
				s.ControlSets[i].Cost = 1
			}
		}
		out = append(out, told, read)
	}
	return out
}
