package loop

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/labtuner/tuner/loop/journal"
)

// Verify says how the recommended setting is compared with the starting one before a
// run ends: both are measured again in turn, a pair at a time, through the same safety
// layer, settling and shots as every step. The policy learns nothing of it, so what it
// recommends, and a resumed run's next decision, do not depend on it.
//
// Both sides play the recommendation's control set. What that leaves random is left
// alone on both sides, and what it did meanwhile is part of both means; pairs keep slow
// changes of it, and any other drift, out of the difference.
type Verify struct {
	// Pairs is how many; 0: none, and Why says the reason.
	Pairs int
	Why   string
	// Cost is the most that it may add to what the search has spent, Time the longest it
	// may take; 0: not bounded. It begins only where at least six pairs fit in.
	Cost float64
	Time time.Duration
	// Risk multiplies the variance of a shot that is subtracted from what is maximised, in
	// 1/(the objective's unit); 0: the mean alone is compared.
	Risk float64
	// Seed draws which side comes first.
	Seed uint64
	// Same says of each variable whether it takes the recommended value on both sides, as
	// a fidelity does; nil: none.
	Same []bool
}

// VerifyLevel is the significance that a difference is told at: chance alone tells one in
// at most one of twenty runs.
const VerifyLevel = 0.05

// The verdicts of a comparison.
const (
	VerdictBetter = "better"  // the recommended setting is
	VerdictWorse  = "worse"   // the starting setting is better
	VerdictNone   = "none"    // no difference is shown
	VerdictNoData = "no data" // no pair gave data
)

// Verification is what a comparison came to. Differences are between pairs; those of the
// objective are positive where the recommended setting is better, whatever the user's
// sense.
type Verification struct {
	Verdict string `json:"verdict"`
	// Planned counts the pairs that were to be measured, Pairs those that both sides gave
	// data for, Dropped those that one side did not. Shots is for each step.
	Planned int `json:"planned"`
	Pairs   int `json:"pairs"`
	Dropped int `json:"dropped"`
	Shots   int `json:"shots"`
	// Recommended and Start describe the objective there, in the user's sense.
	Recommended Measured `json:"recommended"`
	Start       Measured `json:"start"`
	// Gain is of what is optimised: the objective, or with Risk greater than 0 the
	// objective less Risk times the variance of a shot; Mean is then of the objective alone,
	// and SD of the standard deviation of a shot (positive: the recommended setting is
	// steadier).
	Risk journal.Number    `json:"risk"`
	Gain *PairedDifference `json:"gain,omitempty"`
	Mean *PairedDifference `json:"mean,omitempty"`
	SD   *PairedDifference `json:"sd,omitempty"`
	// Steps counts the steps that it took, Spent their cost, which is no part of the
	// search's budget.
	Steps int            `json:"steps"`
	Spent journal.Number `json:"spent"`
	// Left is the side whose setting the instrument is left at, where it can hold one.
	Left journal.Side `json:"left"`
}

// Measured is one side of a comparison: the mean over its pairs, and the standard
// deviation of one shot, pooled over its steps; null at one shot.
type Measured struct {
	Mean journal.Number `json:"mean"`
	SD   journal.Number `json:"sd"`
}

// leg is one step of a comparison. Abandoned: it was ended before its end.
type leg struct {
	journal.Compared
	outcome   journal.Outcome
	abandoned bool
	session   int
}

// firstSide is the side that is measured first in a pair: of each two pairs, one begins
// with either side, by lot (ABBA or BAAB), so that a steady drift cancels.
func firstSide(seed uint64, comparison, pair int) journal.Side {
	block := (pair - 1) / 2
	rng := rand.New(rand.NewPCG(seed, uint64(comparison)<<32|uint64(block)))
	if (rng.Uint64()>>63 == 0) == (pair%2 == 1) {
		return journal.Recommended
	}
	return journal.Starting
}

// turn is where a comparison stands: in which pair, and whether its first half is there.
type turn struct {
	pair, dropped, failed int
	half                  bool
}

// next is the measurement that comes next.
func (t *turn) next(seed uint64, comparison int) journal.Compared {
	side := firstSide(seed, comparison, t.pair)
	if t.half {
		side = map[journal.Side]journal.Side{journal.Recommended: journal.Starting, journal.Starting: journal.Recommended}[side]
	}
	return journal.Compared{Comparison: comparison, Pair: t.pair, Side: side}
}

// after moves on. A pair of which a step was abandoned is begun again, because its halves
// would lie too far apart; one of which a step failed is dropped.
func (t *turn) after(x leg) {
	switch {
	case x.abandoned:
		t.half = false
	case !x.outcome.Valid:
		t.pair, t.half, t.dropped, t.failed = t.pair+1, false, t.dropped+1, t.failed+1
	case t.half:
		t.pair, t.half, t.failed = t.pair+1, false, 0
	default:
		t.half, t.failed = true, 0
	}
}

// pairing goes through the measurements of a comparison in the order in which they were
// made, and gives the pairs that are whole and where that leaves it. An error names the
// first that is not the one whose turn it was.
func (o *Options) pairing(c journal.Comparison, legs []leg) (pairs [][2]leg, t turn, err error) {
	t.pair = 1
	for i, x := range legs {
		if i > 0 && x.session != legs[i-1].session {
			t.half = false // the process ended in between
		}
		if want := t.next(o.Verify.Seed, c.Number); x.Compared != want {
			return pairs, t, fmt.Errorf("step %d measured %s in pair %d, and it was the turn of %s in pair %d",
				x.outcome.Step, x.Side, x.Pair, want.Side, want.Pair)
		}
		if t.half && x.outcome.Valid && !x.abandoned {
			pairs = append(pairs, [2]leg{legs[i-1], x})
		}
		t.after(x)
	}
	return pairs, t, nil
}

// compare evaluates a comparison.
func (o *Options) compare(c journal.Comparison, legs []leg) (Verification, error) {
	pairs, t, err := o.pairing(c, legs)
	if err != nil {
		return Verification{}, err
	}
	v := Verification{Verdict: VerdictNoData, Planned: c.Pairs, Dropped: t.dropped, Shots: c.Shots, Risk: journal.Number(o.Verify.Risk),
		Steps: len(legs), Left: journal.Recommended, Recommended: noMeasure(), Start: noMeasure()}
	var gain, mean, sd []float64
	var recommended, start []journal.Outcome
	for _, p := range pairs {
		a, b := p[0].outcome, p[1].outcome
		if p[0].Side == journal.Starting {
			a, b = b, a
		}
		g := o.worth(a) - o.worth(b)
		if math.IsNaN(g) { // one shot has no variance
			v.Dropped++
			continue
		}
		recommended, start = append(recommended, a), append(start, b)
		gain, mean = append(gain, g), append(mean, o.sense(a.Mean)-o.sense(b.Mean))
		sd = append(sd, math.Sqrt(b.Variance)-math.Sqrt(a.Variance))
	}
	for _, x := range legs {
		v.Spent += journal.Number(x.outcome.Cost)
	}
	if v.Pairs = len(gain); v.Pairs == 0 {
		return v, nil
	}
	v.Recommended, v.Start = measured(recommended), measured(start)
	test := func(d []float64) *PairedDifference { t := signFlip(d); return &t }
	v.Gain = test(gain)
	if o.Verify.Risk > 0 {
		v.Mean, v.SD = test(mean), test(sd)
	}
	switch {
	case v.Gain.P <= VerifyLevel:
		v.Verdict = VerdictBetter
	case v.Gain.PLess <= VerifyLevel:
		v.Verdict, v.Left = VerdictWorse, journal.Starting
	default:
		v.Verdict = VerdictNone
	}
	return v, nil
}

// worth is what a step shows of the quantity that is maximised.
func (o *Options) worth(x journal.Outcome) float64 {
	if o.Verify.Risk > 0 {
		return o.sense(x.Mean) - o.Verify.Risk*x.Variance
	}
	return o.sense(x.Mean)
}

func noMeasure() Measured {
	return Measured{Mean: journal.Number(math.NaN()), SD: journal.Number(math.NaN())}
}

// measured summarises one side.
func measured(side []journal.Outcome) Measured {
	sum, squares, freedom := 0.0, 0.0, 0
	for _, o := range side {
		sum += o.Mean
		if o.Shots > 1 {
			squares += float64(o.Shots-1) * o.Variance
			freedom += o.Shots - 1
		}
	}
	return Measured{Mean: journal.Number(sum / float64(len(side))), SD: journal.Number(math.Sqrt(squares / float64(freedom)))}
}
