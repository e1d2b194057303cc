package plan

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/policy"
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

// Leg is one step of a comparison. Abandoned: it was ended before its end.
type Leg struct {
	journal.Compared
	Outcome   journal.Outcome
	Abandoned bool
	Session   int
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

// Turn is the state of a comparison: in which pair, and whether its first half is there.
type Turn struct {
	Pair, dropped, Failed int
	Half                  bool
}

// Next is the measurement that comes next.
func (t *Turn) Next(seed uint64, comparison int) journal.Compared {
	side := firstSide(seed, comparison, t.Pair)
	if t.Half {
		side = map[journal.Side]journal.Side{journal.Recommended: journal.Starting, journal.Starting: journal.Recommended}[side]
	}
	return journal.Compared{Comparison: comparison, Pair: t.Pair, Side: side}
}

// After moves on. A pair of which a step was abandoned is begun again, because its halves
// would lie too far apart; one of which a step failed is dropped.
func (t *Turn) After(x Leg) {
	switch {
	case x.Abandoned:
		t.Half = false
	case !x.Outcome.Valid:
		t.Pair, t.Half, t.dropped, t.Failed = t.Pair+1, false, t.dropped+1, t.Failed+1
	case t.Half:
		t.Pair, t.Half, t.Failed = t.Pair+1, false, 0
	default:
		t.Half, t.Failed = true, 0
	}
}

// Pairing goes through the measurements of a comparison in the order in which they were
// made, and gives the pairs that are whole and where that leaves it. An error names the
// first that is not the one whose turn it was.
func (o *Options) Pairing(c journal.Comparison, legs []Leg) (pairs [][2]Leg, t Turn, err error) {
	t.Pair = 1
	for i, x := range legs {
		if i > 0 && x.Session != legs[i-1].Session {
			t.Half = false // the process ended in between
		}
		if want := t.Next(o.Verify.Seed, c.Number); x.Compared != want {
			return pairs, t, fmt.Errorf("step %d measured %s in pair %d, and it was the turn of %s in pair %d",
				x.Outcome.Step, x.Side, x.Pair, want.Side, want.Pair)
		}
		if t.Half && x.Outcome.Valid && !x.Abandoned {
			pairs = append(pairs, [2]Leg{legs[i-1], x})
		}
		t.After(x)
	}
	return pairs, t, nil
}

// Compare evaluates a comparison.
func (o *Options) Compare(c journal.Comparison, legs []Leg) (Verification, error) {
	pairs, t, err := o.Pairing(c, legs)
	if err != nil {
		return Verification{}, err
	}
	v := Verification{Verdict: VerdictNoData, Planned: c.Pairs, Dropped: t.dropped, Shots: c.Shots, Risk: journal.Number(o.Verify.Risk),
		Steps: len(legs), Left: journal.Recommended, Recommended: noMeasure(), Start: noMeasure()}
	var gain, mean, sd []float64
	var recommended, start []journal.Outcome
	for _, p := range pairs {
		a, b := p[0].Outcome, p[1].Outcome
		if p[0].Side == journal.Starting {
			a, b = b, a
		}
		g := o.worth(a) - o.worth(b)
		if math.IsNaN(g) { // one shot has no variance
			v.Dropped++
			continue
		}
		recommended, start = append(recommended, a), append(start, b)
		gain, mean = append(gain, g), append(mean, o.Sense(a.Mean)-o.Sense(b.Mean))
		sd = append(sd, math.Sqrt(b.Variance)-math.Sqrt(a.Variance))
	}
	for _, x := range legs {
		v.Spent += journal.Number(x.Outcome.Cost)
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
		return o.Sense(x.Mean) - o.Verify.Risk*x.Variance
	}
	return o.Sense(x.Mean)
}

// Uncompared says why no recommendation is compared with the starting setting, "" where one is.
func (o *Options) Uncompared() string {
	switch {
	case o.Mode == Shadow:
		return "nothing is driven"
	case o.Verify.Pairs == 0:
		return cmp.Or(o.Verify.Why, "it was not asked for")
	}
	return ""
}

// ComparisonOf fills in what is to be measured of what was found against where the run started, within the ranges of
// now, or says why nothing is; two steps of the search took pair.
func (o *Options) ComparisonOf(c journal.Comparison, found *policy.Recommendation, start []float64, ranges func(i int) [2]float64, pair PairSoFar) (journal.Comparison, string) {
	if why := o.Uncompared(); why != "" {
		return c, why
	}
	c.ControlSet, c.Pairs, c.Shots = found.ControlSet, min(o.Verify.Pairs, MaxPairs), o.verifyShots()
	c.Recommended, c.Start = policy.NaNs(len(o.Variables)), policy.NaNs(len(o.Variables))
	same := true
	for _, i := range o.ControlSets[found.ControlSet].Variables {
		v := &o.Variables[i]
		c.Recommended[i], c.Start[i] = found.X[i], start[i]
		if o.Verify.Same != nil && o.Verify.Same[i] {
			c.Start[i] = found.X[i]
		}
		if math.IsNaN(c.Start[i]) && v.OnRelease == Hold {
			return c, fmt.Sprintf("where %s was at the start is not known", v.Name)
		}
		// The range was narrowed since: nobody drives it there any more, and another
		// setting would not be the start.
		if r := ranges(i); c.Start[i] < r[0] || c.Start[i] > r[1] {
			return c, fmt.Sprintf("the run started at %s = %.6g, outside the present range [%.6g, %.6g]", v.Name, c.Start[i], r[0], r[1])
		}
		same = same && c.Start[i] == c.Recommended[i]
	}
	if same {
		return c, "it is the starting setting"
	}
	var why string
	c.Pairs, why = o.affordablePairs(c, pair)
	return c, why
}
