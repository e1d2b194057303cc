package drift

import (
	"math"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
)

// Tracker follows a drifting objective in phases: a search of the whole domain, at the
// start and after each jump, and then, with hold, small steps around the incumbent. It
// is ours; kind "track" is the upper confidence bound with it and the time kernel. Its
// state is a function of the sequence of observations.
type Tracker struct {
	Hold   bool
	reach  float64 // of the hold's box, as a fraction of each range; 0: by the lengthscales
	detect bool
	length int // of a search of the whole domain, in steps at least
	// initial is the number of steps of the initial design.
	initial int

	searchStart int          // the present search covers the steps after this one
	holdStart   int          // the first step after it; 0: it goes on
	found       bool         // it has found something
	heldLevel   float64      // what was held before it, in the objective's unit; NaN: nothing was
	baseline    runningStats // readings of the design's settings in the latest search that had any
	search      int          // the value of from in that search
	// doubts counts the latest steps in a row whose readings may be the first after a jump.
	doubts  int
	checked int // the last step whose readings were looked at for a jump
	jumped  int // the step after which the latest jump was noticed; 0: none yet
	probe   *gpcore.GP
}

// SearchBeta multiplies the confidence parameter while a policy that holds searches the
// whole domain: what is right for a search without end would still explore when this one
// ends.
const SearchBeta = 0.5

// New is nil where nothing is held and no jump looked for.
// always holds whether Drift says so or not; initial is the length of the initial design.
func New(d Spec, always bool, domains []*space.Domain, initial int) *Tracker {
	if d.Hold == 0 && !d.Detect && !always {
		return nil
	}
	return &Tracker{Hold: d.Hold > 0 || always, reach: d.Hold, detect: d.Detect,
		length: searchSteps(domains, len(domains[0].Axes)), initial: initial, searchStart: initial, heldLevel: math.NaN()}
}

// searchSteps is how long a search of the whole domain takes in d variables: 10 d^2
// steps, 40 in two and 160 in four dimensions; but no longer than it takes to try every
// setting of a finite domain twice.
func searchSteps(domains []*space.Domain, d int) int {
	steps := 10 * d * d
	finite := 0
	for _, dom := range domains {
		if dom.Listed() == 0 {
			return steps
		}
		finite += 2 * dom.Listed()
	}
	return min(steps, finite)
}

// Holding reports whether a step belongs to a hold.
func (t *Tracker) Holding(step int) bool {
	return t != nil && t.Hold && t.holdStart > 0 && step >= t.holdStart
}

// doubting reports whether a hold stays where it was until its latest readings are believed. A
// decline that goes on without being a jump is one to follow.
func (t *Tracker) doubting() bool { return t.doubts > 0 && t.doubts < jumpWindow }

// Designing reports whether a step of a search that has found nothing follows the design: the
// first ones after a hold, as many as at the start, and every other one afterwards. The
// bounds of an empty model are widest at the domain's corners.
func (t *Tracker) Designing(step int) bool {
	if t == nil || t.holdStart > 0 || t.found {
		return false
	}
	return step <= t.searchStart+t.initial && t.searchStart > t.initial || step%2 == 0
}

// begin starts a search of the whole domain after a step.
func (t *Tracker) begin(step int) {
	t.searchStart, t.holdStart, t.found, t.doubts = step, 0, false, 0
}

// heldSteps is the number of steps over which a hold is judged.
const heldSteps = 20

// AbandonHold looks at a hold every heldSteps steps and gives it up for a new search if it is
// no better than the design's settings were on average:
//
//	L - m < 2 s/sqrt(n)
//
// with L and s the mean and standard deviation of its last n readings, m the mean of
// those of the design. That a model mistook noise for an optimum shows here, and that a
// hold lost what it followed.
func (t *Tracker) AbandonHold(rows []model.Row, step int) {
	if t == nil || !t.Holding(step) || (step-t.holdStart)%heldSteps != 0 || step == t.holdStart || t.baseline.n == 0 {
		return
	}
	held := t.heldReadings(rows, step)
	if held.n < heldSteps/2 {
		return
	}
	if n := float64(held.n); held.mean-t.baseline.mean < 2*math.Sqrt(held.squares/((n-1)*n)) {
		t.heldLevel = math.NaN()
		t.begin(step - 1)
	}
}

// runningStats is the mean of values and the sum of their squared distances from it.
type runningStats struct {
	n             int
	mean, squares float64
}

func (r *runningStats) add(v float64) {
	r.n++
	d := v - r.mean
	r.mean += d / float64(r.n)
	r.squares += d * (v - r.mean)
}

// Searching reports whether a search of the whole domain may end before a step.
func (t *Tracker) Searching(step int) bool { return t != nil && t.holdStart == 0 && step > t.initial }

// Incumbents is what a model that has learnt n observations says of the best of them.
type Incumbents struct {
	// Mean and SD are its mean and standard deviation of each, in the standardised unit,
	// Prior its prior mean.
	Mean, SD []float64
	Prior    float64
	// Center and Scale bring the standardised unit into the objective's.
	Center, Scale float64
}

// EndSearch ends the search before a step if it has found something and has had its time,
// or if it has found again what was held before. Something is found when one of the best
// of the n observations lies above the prior mean by more than the best of n would by
// chance,
//
//	mean - (beta + sqrt(2 log n)) sd > prior mean,
//
// else what would be held is noise, and the search goes on; what was held is found again
// when mean - sd reaches the average of its last readings.
func (t *Tracker) EndSearch(step, n int, beta float64, best Incumbents) {
	chance := beta + math.Sqrt(2*math.Log(float64(n)))
	again := false
	for i, mean := range best.Mean {
		t.found = t.found || mean-chance*best.SD[i] > best.Prior
		again = again || best.Center+best.Scale*(mean-best.SD[i]) >= t.heldLevel
	}
	if t.found && (again || step > t.searchStart+t.length) {
		t.holdStart = step
	}
}

// Learn takes a reading that is about to be learnt.
func (t *Tracker) Learn(r *model.Row) {
	if t == nil || r.Step > t.initial && !t.Designing(r.Step) {
		return
	}
	if t.search != t.searchStart {
		t.baseline, t.search = runningStats{}, t.searchStart
	}
	t.baseline.add(r.Mean)
}

// heldReadings are the last readings of a hold before a step.
func (t *Tracker) heldReadings(rows []model.Row, before int) runningStats {
	var out runningStats
	for i := len(rows) - 1; i >= 0 && out.n < heldSteps && rows[i].Step >= t.holdStart; i-- {
		if rows[i].Step < before {
			out.add(rows[i].Mean)
		}
	}
	return out
}
