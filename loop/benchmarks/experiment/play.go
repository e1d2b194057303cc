package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/labtuner/tuner/loop/policy"
)

// game is one policy at work on one seed's problem.
type game struct {
	experiment *Experiment
	problem    *Problem
	policy     policy.Policy
	uncounted  int // steps before the first that counts
	seed       uint64
	limit      int // counted steps at most, 0: no bound

	step      int // the last step, as the policy counts them
	counted   int
	spent     float64
	least     float64 // regret
	sum       float64 // of regrets
	record    *Seed
	judge     policy.Policy // sees what the policy sees, and reports; nil: there is none
	reported  float64       // regret of what was reported last
	heldSum   float64
	heldCount int
	choices   []int // decisions of each prior, where there are several
}

// play lets a competitor solve a seed's problem. What goes wrong in the policy is part
// of the result; the error is the end of the context, or a specification that is
// refused.
func play(ctx context.Context, x *Experiment, c Competitor, p *Problem, of seedOf) (Seed, error) {
	made, err := makePolicy(x, c, p, of)
	if err != nil {
		return Seed{}, err
	}
	g := &game{experiment: x, problem: p, policy: made, seed: of.seed, limit: x.Steps, least: math.Inf(1),
		record: &Seed{Seed: of.seed}}
	if g.judge, err = makeJudge(x, p, of.seed); err != nil {
		return Seed{}, err
	}
	if !x.CountInitial {
		g.uncounted = len(p.Given) + x.Initial + c.Additional
	}
	if of.steps > 0 && (g.limit == 0 || of.steps < g.limit) {
		g.limit = of.steps
	}
	if err := g.run(ctx); err != nil {
		if ctx.Err() != nil {
			return Seed{}, ctx.Err()
		}
		g.record.Error = err.Error()
	}
	return *g.record, nil
}

// makePolicy makes a competitor for a seed's problem.
func makePolicy(x *Experiment, c Competitor, p *Problem, of seedOf) (policy.Policy, error) {
	s := x.Spec(c, p, of.seed)
	s.WorkUnits = of.units
	made, err := policy.New(s)
	if err != nil {
		return nil, fmt.Errorf("experiment %q, policy %q: %w", x.Name, c.Name, err)
	}
	return made, nil
}

// makeJudge makes the policy whose rule reports all competitors; nil where there is none.
func makeJudge(x *Experiment, p *Problem, seed uint64) (policy.Policy, error) {
	if x.Judge == nil {
		return nil, nil
	}
	s := x.common(p, seed)
	s.Budget = 0
	x.Judge(&s, p)
	made, err := policy.New(s)
	if err != nil {
		return nil, fmt.Errorf("experiment %q, the judge: %w", x.Name, err)
	}
	return made, nil
}

// seedOf says which seed is played, for how many counted steps at most and with how many units of work a
// decision; 0: as many as the experiment has, and as it needs.
type seedOf struct {
	seed         uint64
	steps, units int
}

func (g *game) run(ctx context.Context) error {
	for _, x := range g.problem.Given {
		g.step++
		if err := g.observe(policy.Proposal{Step: g.step, ControlSet: -1, X: slices.Clone(x)}, 0); err != nil {
			return err
		}
	}
	for g.limit == 0 || g.counted < g.limit {
		proposal, err := g.policy.Propose(ctx)
		if errors.Is(err, policy.ErrBudget) {
			break
		}
		if err != nil {
			return fmt.Errorf("propose step %d: %w", g.step+1, err)
		}
		if proposal.Cut { // only the context's end does that: the result would depend on time
			return context.Cause(ctx)
		}
		g.step = proposal.Step
		counts := g.step > g.uncounted
		cost := 0.0
		if counts {
			cost = g.problem.charge(g.seed, g.step, proposal.ControlSet, proposal.X)
			if b := g.experiment.Budget; b > 0 && spend(g.spent, cost) > b {
				break
			}
		}
		if proposal.Jump {
			g.record.Jumps = append(g.record.Jumps, g.step)
		}
		worth := g.problem.WorthOf(g.step, proposal.ControlSet, proposal.X)
		if err := g.observe(proposal, cost); err != nil {
			return err
		}
		if !counts {
			continue
		}
		g.count(worth, cost)
		g.exceed(proposal.ControlSet, worth)
		g.choose(proposal.Prior)
		g.doubt()
		g.visit(proposal.X)
		if err := g.hold(); err != nil {
			return err
		}
		if err := g.reportAtMark(); err != nil {
			return err
		}
	}
	return g.recommend()
}

// spend adds a cost to what was spent. Costs are decimal numbers such as 0.1 that
// binary ones only approximate; sums are rounded to a billionth, so that 40 of 0.1, 20
// of 0.2 and 42 of 1 are exactly 50.
func spend(spent, cost float64) float64 { return math.Round((spent+cost)*1e9) / 1e9 }

// observe measures a proposal and tells the policy.
func (g *game) observe(p policy.Proposal, cost float64) error {
	whole := policy.Observation{Step: p.Step, ControlSet: p.ControlSet, X: slices.Clone(p.X), Requested: p.X, Shots: g.problem.Shots, Cost: cost, SetCost: math.NaN(), Valid: true}
	if p.ControlSet >= 0 && g.problem.DrawCost != nil {
		whole.SetCost = cost
	}
	if !g.problem.PerShot || !slices.ContainsFunc(p.X, math.IsNaN) {
		whole.Mean, whole.Variance = g.problem.Measure(g.seed, p.Step, p.Step, whole.X)
		return g.tell(whole)
	}
	at, readings := g.problem.measureShots(g.seed, p.Step, p.Step, p.X)
	for k, y := range readings {
		one := whole
		one.X, one.Mean, one.Variance, one.Shots = at[k], y, math.NaN(), 1
		if k > 0 {
			one.Cost, one.SetCost = 0, math.NaN()
		}
		if err := g.tell(one); err != nil {
			return err
		}
	}
	return nil
}

// tell gives the policy an observation.
func (g *game) tell(o policy.Observation) error {
	if err := g.policy.Observe(o); err != nil {
		return fmt.Errorf("observe step %d: %w", o.Step, err)
	}
	if g.judge == nil {
		return nil
	}
	if err := g.judge.Observe(o); err != nil {
		return fmt.Errorf("the judge observes step %d: %w", o.Step, err)
	}
	return nil
}

// count adds a step to the record.
func (g *game) count(worth, cost float64) {
	regret := g.problem.Best(g.step) - worth
	g.counted++
	g.spent = spend(g.spent, cost)
	g.least = min(g.least, regret)
	g.sum += regret
	r := g.record
	r.Cost = append(r.Cost, g.spent)
	r.CumulativeRegret = append(r.CumulativeRegret, g.sum)
	r.SimpleRegret = append(r.SimpleRegret, g.least)
}

// exceed adds to the cost regret.
func (g *game) exceed(set int, worth float64) {
	if g.problem.Excess == nil {
		return
	}
	if g.record.CostRegret == nil {
		g.record.CostRegret = new(float64)
	}
	*g.record.CostRegret += g.problem.Excess(set, worth)
}

// hold judges the setting that the policy would have held now.
func (g *game) hold() error {
	h := g.experiment.Hold
	if h.Every == 0 || g.counted < h.From || (g.counted-h.From)%h.Every != 0 {
		return nil
	}
	r, err := g.policy.Recommend()
	if err != nil {
		return fmt.Errorf("recommend after step %d: %w", g.step, err)
	}
	g.heldSum += g.problem.Best(g.step) - g.problem.WorthOf(g.step, r.ControlSet, r.X)
	g.heldCount++
	mean := g.heldSum / float64(g.heldCount)
	g.record.HeldRegret = &mean
	return nil
}

// visit counts a step by the place that it was nearest to.
func (g *game) visit(x []float64) {
	if len(g.problem.Places) == 0 {
		return
	}
	if g.record.Visits == nil {
		g.record.Visits = map[string]int{}
	}
	g.record.Visits[g.problem.nearest(x)]++
}

// choose counts a decision by the prior that made it, -1 where none did alone.
func (g *game) choose(prior int) {
	if g.problem.Priors < 2 || prior < 0 {
		return
	}
	if g.choices == nil {
		g.choices = make([]int, g.problem.Priors)
	}
	g.choices[prior]++
}

// doubt records how sure the policy is of the priors, where it keeps all of the problem's.
func (g *game) doubt() {
	r := g.priors()
	if r == nil || g.problem.Priors < 2 || len(r.Eliminated) != g.problem.Priors {
		return
	}
	active, entropy := 0, 0.0
	for i, out := range r.Eliminated {
		if !out {
			active++
		}
		if p := r.Probability[i]; p > 0 {
			entropy -= p * math.Log(p)
		}
	}
	g.record.ActivePriors = append(g.record.ActivePriors, float64(active))
	g.record.PriorEntropy = append(g.record.PriorEntropy, entropy)
}

// priors is the policy's report of them; nil: it has none.
func (g *game) priors() *policy.PriorReport {
	if r, ok := g.policy.(policy.PriorReporter); ok {
		return r.Priors()
	}
	return nil
}

// closePriors sums up what the priors did, where the policy decides by one at a time.
func (g *game) closePriors() {
	if g.choices == nil {
		return
	}
	sum := 0
	for _, n := range g.choices {
		sum += n
	}
	g.record.Choices = g.choices
	if g.problem.Prior >= 0 {
		share := float64(g.choices[g.problem.Prior]) / float64(sum)
		g.record.TruePrior, g.record.Prior = &share, &g.problem.Prior
	}
	if r := g.priors(); r != nil {
		out := 0
		for _, v := range r.Eliminated {
			if v {
				out++
			}
		}
		g.record.Eliminated = &out
	}
}

// recommend closes the record with the policy's recommendation.
func (g *game) recommend() error {
	g.closePriors()
	out, err := g.recommended(g.policy)
	if err != nil {
		return err
	}
	g.record.Recommended = out
	if g.judge == nil {
		return nil
	}
	g.record.Reported, err = g.report()
	return err
}

// report is what the judge recommends from what the policy has seen.
func (g *game) report() (*Recommended, error) {
	out, err := g.recommended(g.judge)
	if err != nil {
		return nil, fmt.Errorf("the judge: %w", err)
	}
	out.Worth = g.problem.Best(g.step) - out.Regret
	return out, nil
}

// reportAtMark adds to the course of the report's regret: in the first counted step and after every
// so many it is looked at, and holds until the next.
func (g *game) reportAtMark() error {
	every := g.experiment.ReportEvery
	if g.judge == nil || every == 0 {
		return nil
	}
	if g.counted == 1 || g.counted%every == 0 {
		out, err := g.report()
		if err != nil {
			return err
		}
		g.reported = out.Regret
	}
	g.record.ReportedRegret = append(g.record.ReportedRegret, g.reported)
	return nil
}

// recommended is what a policy recommends, and what that is worth.
func (g *game) recommended(by policy.Policy) (*Recommended, error) {
	r, err := by.Recommend()
	if err != nil {
		return nil, fmt.Errorf("recommend: %w", err)
	}
	out := &Recommended{ControlSet: r.ControlSet, Setting: map[string]float64{},
		Mean: Number(r.Mean), LowerBound: Number(r.LowerBound),
		Regret: g.problem.Best(g.step) - g.problem.WorthOf(g.step, r.ControlSet, r.X)}
	for i, v := range g.problem.Variables {
		if !math.IsNaN(r.X[i]) {
			out.Setting[v.Name] = r.X[i]
		}
	}
	if len(g.problem.Places) > 0 {
		out.Nearest = g.problem.nearest(r.X)
	}
	return out, nil
}
