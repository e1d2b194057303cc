package policy

import (
	"math"

	"github.com/labtuner/tuner/gpcore"
)

// tracker follows a drifting objective in phases: a search of the whole domain, at the
// start and after each jump, and then, with hold, small steps around the incumbent. It
// is ours; kind "track" is the upper confidence bound with it and the time kernel. Its
// state is a function of the sequence of observations.
type tracker struct {
	hold   bool
	reach  float64 // of the hold's box, as a fraction of each range; 0: by the lengthscales
	detect bool
	length int // of a search of the whole domain, in steps at least

	from    int     // the present search covers the steps after this one
	since   int     // the first step after it; 0: it goes on
	sighted bool    // it has found something
	level   float64 // what was held before it, in the objective's unit; NaN: nothing was
	// doubt says that the latest readings may be the first after a jump: before they are
	// believed the hold stays where it was.
	doubt   bool
	checked int // the last step whose readings were looked at for a jump
	jumped  int // the step after which the latest jump was noticed; 0: none yet
	probe   *gpcore.GP
}

// searchBeta multiplies the confidence parameter while a policy that holds searches the
// whole domain: what is right for a search without end would still explore when this one
// ends.
const searchBeta = 0.5

// newTracker is nil where nothing is held and no jump looked for.
func newTracker(s *Spec, always bool, domains []*domain) *tracker {
	d := &s.Drift
	if d.Hold == 0 && !d.Detect && !always {
		return nil
	}
	return &tracker{hold: d.Hold > 0 || always, reach: d.Hold, detect: d.Detect,
		length: searchSteps(domains, len(s.Variables)), from: s.InitialSteps, level: math.NaN()}
}

// searchSteps is how long a search of the whole domain takes in d variables: 10 d^2
// steps, 40 in two and 160 in four dimensions; but no longer than it takes to try every
// setting of a finite domain twice.
func searchSteps(domains []*domain, d int) int {
	steps := 10 * d * d
	finite := 0
	for _, dom := range domains {
		if dom.listed() == 0 {
			return steps
		}
		finite += 2 * dom.listed()
	}
	return min(steps, finite)
}

// holding says that a step belongs to a hold.
func (t *tracker) holding(step int) bool {
	return t != nil && t.hold && t.since > 0 && step >= t.since
}

// designing says that a step of a search after a jump follows the design: the first ones
// do until something is found, because the bounds of an empty model are widest at the
// domain's corners.
func (t *tracker) designing(step, initial int) bool {
	return t != nil && t.jumped > 0 && t.since == 0 && !t.sighted && step <= t.jumped+initial
}

// begin starts a search of the whole domain after a step.
func (t *tracker) begin(step int) {
	t.from, t.jumped = step, step
	t.since, t.sighted, t.doubt = 0, false, false
}

// settle ends the search before a step if it has found something and has had its time,
// or if it has found again what was held before. Something is found when one of the best
// observations lies above the prior mean even by its lower bound,
//
//	mean - Spec.Beta sd > prior mean,
//
// else what would be held is the prior's own idea; and what was held is found again when
// mean - sd reaches the average of its last readings.
func (e *engine) settle(step int) error {
	t := e.track
	if t == nil || t.since > 0 || !e.ready() || t.jumped == 0 && step <= t.from+t.length {
		return nil
	}
	if err := e.model.refresh(); err != nil {
		return err
	}
	belief, h := e.model.belief(), e.model.inForce
	again := false
	var mean, sd [1]float64
	for _, x := range e.incumbents() {
		belief.moments(mean[:], sd[:], e.model.point(x[:e.model.dims], step))
		t.sighted = t.sighted || mean[0]-e.spec.Beta*sd[0] > belief.offset()
		again = again || h.center+h.scale*(mean[0]-sd[0]) >= t.level
	}
	if t.sighted && (again || step > t.from+t.length) {
		t.since = step
	}
	return nil
}

// heldLevel is the average of the last readings of a hold before a step, NaN where there
// are none.
func (e *engine) heldLevel(before int) float64 {
	const last = 20
	sum, n := 0.0, 0
	rows := e.model.data.rows
	for i := len(rows) - 1; i >= 0 && n < last && rows[i].step >= e.track.since; i-- {
		if rows[i].step < before {
			sum += rows[i].mean
			n++
		}
	}
	return sum / float64(n)
}

// narrow restricts a decision that belongs to a hold, and lessens the exploration of one
// that belongs to the search before it.
func (d *decision) narrow() error {
	switch {
	case d.track.holding(d.step):
		return d.holdRegions()
	case d.track != nil && d.track.hold:
		d.beta *= searchBeta
	}
	return nil
}
