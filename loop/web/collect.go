package web

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"strconv"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
)

// recentSteps is how many of its last valid steps show what a control set brings.
const recentSteps = 10

// collector turns steps into a document, one after the other.
type collector struct {
	d     *Document
	run   journal.Run
	rules map[[2]string]int
	// recent holds the last valid means of each control set.
	recent [][]float64
}

func newCollector(d *Document, run journal.Run) *collector {
	for _, set := range run.ControlSets {
		d.Sets = append(d.Sets, SetPart{Variables: set.Variables, Cost: journal.Number(set.Cost), Mean: none, SE: none})
	}
	return &collector{d: d, run: run, rules: map[[2]string]int{}, recent: make([][]float64, len(run.ControlSets))}
}

// addStep adds a step.
func (c *collector) addStep(s journal.Step) {
	for _, r := range s.Decision.Reasons {
		c.rules[[2]string{r.Variable, r.Rule}]++
	}
	if set := s.Decision.ControlSet; set >= 0 && set < len(c.d.Sets) {
		c.count(set, s)
	}
	c.d.Total++
	if s.Decision.Cut {
		c.d.Cut++
	}
	c.d.Steps = append(c.d.Steps, c.part(s))
	if len(c.d.Steps) > shownSteps {
		c.thin()
	}
}

// firstSteps are shown however long a run becomes, where they are of the initial design:
// later ones are compared with them.
const firstSteps = 200

// thin shows every Stride-th of the older steps, and doubles Stride where that is not enough.
func (c *collector) thin() {
	newest := c.d.Steps[len(c.d.Steps)-shownSteps/4].N
	for {
		c.d.Steps = slices.DeleteFunc(c.d.Steps, func(s StepPart) bool { return s.N < newest && s.N%c.d.Stride != 0 && !(s.Initial && s.N <= firstSteps) })
		if len(c.d.Steps) <= shownSteps*3/4 {
			return
		}
		c.d.Stride *= 2
	}
}

// count adds a step to what its control set cost and brought.
func (c *collector) count(set int, s journal.Step) {
	p := &c.d.Sets[set]
	if p.Steps == 0 {
		p.FirstStep = s.Decision.Step
	}
	p.Steps++
	if !s.Concluded {
		return
	}
	p.Spent += journal.Number(s.Outcome.Cost)
	if s.Outcome.Valid {
		r := append(c.recent[set], s.Outcome.Mean)
		c.recent[set] = r[max(len(r)-recentSteps, 0):]
	}
}

// part is the step as it is shown.
func (c *collector) part(s journal.Step) StepPart {
	d, o := &s.Decision, &s.Outcome
	shown := control.StepOf(c.run, *d, *o)
	p := StepPart{N: shown.N, Set: d.ControlSet, Initial: d.Initial, Valid: s.Concluded && shown.Valid, Problem: shown.Problem,
		Mean: shown.Mean, SD: journal.Number(math.Sqrt(float64(shown.Variance))), SE: shown.StandardError, Shots: shown.Shots,
		Cost: shown.Cost, Spent: shown.Spent, TookMS: shown.DecisionMS, Wall: wallMS(o.At),
		Requested: journal.Numbers(d.Requested), Applied: journal.Numbers(d.Applied), X: journal.Numbers(o.X), Clamped: control.ChangedBy(d.Reasons), Because: control.Because(d)}
	if !s.Concluded {
		p.Problem = "not concluded"
	}
	if !p.Valid {
		p.Mean = none
	}
	c.explain(&p, d)
	if by, ok := d.Person(); ok {
		p.By = by.Who
	}
	return p
}

// explain adds what the policy said of its decision.
func (c *collector) explain(p *StepPart, d *journal.Decision) {
	f, sign := control.ForeseenOf(d), journal.Number(c.d.sign())
	p.Predicted, p.PredictedSD, p.Risk, p.Value, p.BestThen = sign*f.Mean, f.SD, f.Risk, f.Value, sign*f.Best
	p.NoiseSD = journal.Number(math.Sqrt(float64(f.NoiseVariance)))
	p.Explore = f.Beta * f.SD
}

// sum brings up to date what is made of all steps.
func (c *collector) sum() {
	for i, r := range c.recent {
		if len(r) == 0 {
			continue
		}
		m, sd := moments(r)
		c.d.Sets[i].Mean = journal.Number(m)
		c.d.Sets[i].SE = journal.Number(sd / math.Sqrt(float64(len(r))))
	}
	c.d.Rules = countRules(c.rules)
}

// moments gives mean and sample standard deviation, NaN for a single value.
func moments(x []float64) (mean, sd float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sd += (v - mean) * (v - mean) / float64(len(x)-1)
	}
	return mean, math.Sqrt(sd)
}

func uintText(n uint64) string { return strconv.FormatUint(n, 10) }

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
