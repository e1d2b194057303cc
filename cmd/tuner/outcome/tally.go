package outcome

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/loop/journal"
)

// Tally counts what a report tells of the steps.
type Tally struct {
	// FirstStep is, per control set, the step that played it first; 0: none did.
	FirstStep []int
	// failed counts steps without valid data; problems counts why, in the order
	// of the first time.
	failed   int
	problems []problem
	clamped  []clamp
	// cut counts the decisions that the deadline cut.
	cut int
	// Course is the objective over the steps of the search.
	Course course
}

// clamp is what one safety rule did to one variable over the run.
type clamp struct {
	variable, rule string
	count          int
}

// problem is why steps had no valid data.
type problem struct {
	text  string
	count int
}

// mainProblem is the most frequent reason of failed steps, the first among
// equals.
func (t *Tally) mainProblem() string {
	var most problem
	for _, p := range t.problems {
		if p.count > most.count {
			most = p
		}
	}
	return most.text
}

// Add counts one step.
func (t *Tally) Add(d journal.Decision, o journal.Outcome) {
	compared := d.Compared.Comparison > 0
	if d.Cut {
		t.cut++
	}
	if y := o.Mean; !compared {
		if !o.Valid {
			y = math.NaN()
		}
		t.Course.add(y)
	}
	if !compared && d.ControlSet >= 0 && d.ControlSet < len(t.FirstStep) && t.FirstStep[d.ControlSet] == 0 {
		t.FirstStep[d.ControlSet] = d.Step
	}
	if !o.Valid && !compared && !slices.Contains([]string{journal.ProblemInterrupted, journal.ProblemTimeOver, journal.ProblemUnknown}, o.Problem) {
		t.failed++
		t.addProblem(o.Problem)
	}
	for _, r := range d.Reasons {
		i := slices.IndexFunc(t.clamped, func(c clamp) bool { return c.variable == r.Variable && c.rule == r.Rule })
		if i < 0 {
			i = len(t.clamped)
			t.clamped = append(t.clamped, clamp{variable: r.Variable, rule: r.Rule})
		}
		t.clamped[i].count++
	}
}

// addProblem counts a reason.
func (t *Tally) addProblem(text string) {
	for i := range t.problems {
		if t.problems[i].text == text {
			t.problems[i].count++
			return
		}
	}
	t.problems = append(t.problems, problem{text, 1})
}

// setsByFirstUse lists the control sets that were played, in the order of their
// first use.
func (t *Tally) setsByFirstUse() []int {
	var sets []int
	for i, first := range t.FirstStep {
		if first > 0 {
			sets = append(sets, i)
		}
	}
	slices.SortFunc(sets, func(a, b int) int { return t.FirstStep[a] - t.FirstStep[b] })
	return sets
}

// course is the objective over the steps, in bounded memory: when it is full, neighbours
// are averaged.
type course struct {
	// means has one entry for each span steps, NaN where none of them had valid data; sum
	// and valid are those of the entry that is not full yet, of count steps.
	means []float64
	span  int
	sum   float64
	valid int
	count int
}

// add takes the next step's value, NaN for one without valid data.
func (c *course) add(y float64) {
	c.span = max(c.span, 1)
	c.count++
	if !math.IsNaN(y) {
		c.sum += y
		c.valid++
	}
	if c.count < c.span {
		return
	}
	c.means = append(c.means, c.sum/float64(c.valid)) // of none: NaN
	c.sum, c.valid, c.count = 0, 0, 0
	if len(c.means) == courseMax {
		c.means, c.span = columns(c.means, courseMax/2), 2*c.span
	}
}

// steps counts the steps that the entries are made of.
func (c *course) steps() int { return len(c.means) * c.span }

// columns averages values into so many columns, evenly; fewer values stay as they are.
func columns(values []float64, n int) []float64 {
	if len(values) <= n {
		return values
	}
	out := make([]float64, n)
	for i := range out {
		sum, valid := 0.0, 0
		for _, v := range values[i*len(values)/n : (i+1)*len(values)/n] {
			if !math.IsNaN(v) {
				sum += v
				valid++
			}
		}
		out[i] = sum / float64(valid)
	}
	return out
}

// courseMax bounds the entries; it is even.
const courseMax = 512
