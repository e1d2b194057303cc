package control

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/labtuner/tuner/loop/journal"
)

// Foreseen is what a policy said of its decision when it was made, as it is maximised and in the
// objective's unit; NaN where it says nothing.
type Foreseen struct {
	// Mean is the model's for the setting, SD that mean's standard deviation.
	Mean journal.Number `json:"mean"`
	SD   journal.Number `json:"sd"`
	// Beta multiplies SD in the confidence bound.
	Beta journal.Number `json:"beta"`
	// NoiseVariance is that of a shot, Risk what the risk term takes off for it.
	NoiseVariance journal.Number `json:"noise_variance"`
	Risk          journal.Number `json:"risk"`
	// Value is the acquisition's.
	Value journal.Number `json:"value"`
	// Best is the model's mean for what was recommended when the decision was made, and
	// BestNoiseVariance the variance of a shot there. Runs of before have neither.
	Best              journal.Number `json:"best"`
	BestNoiseVariance journal.Number `json:"best_noise_variance"`
	// OwnLengthscales is the probability of the model that has a lengthscale for each variable, where one
	// competes.
	OwnLengthscales journal.Number `json:"own_lengthscales"`
	// Unseen is how far the setting is from all that were measured before, as a share of a range, where it was
	// chosen for that.
	Unseen journal.Number `json:"unseen"`
	// Settled is, where the setting was chosen as the best that was not measured, how many readings the one had that looked
	// better still.
	Settled journal.Number `json:"settled"`
	// Again is, where a setting was measured again to tell it from others near the best, what that was expected to add
	// to the recommendation's bound.
	Again journal.Number `json:"again"`
	// LogWidth is the width of the logarithm through which the objective was learnt, in its unit, where it was.
	LogWidth journal.Number `json:"log_width"`
}

// ForeseenOf reads the policy's explanation; one that cannot be read says nothing.
func ForeseenOf(d *journal.Decision) Foreseen {
	none := journal.Number(math.NaN())
	blank := Foreseen{none, none, none, none, none, none, none, none, none, none, none, none, none}
	f := blank
	if json.Unmarshal([]byte(d.Why), &f) != nil {
		return blank
	}
	return f
}

// Why a setting was decided, in words. What the explore and exploit compare with is the best of
// when the decision was made, so that a decision's words never change.
const (
	becauseInitial   = "initial design: spread over the ranges"
	becauseDesign    = "as the policy's design asks"
	becauseUnseen    = "explore: the steps before brought nothing new; this one is far from all that were measured"
	becauseUnseenCut = "explore: the steps before brought nothing new, but the deadline cut the search for a setting far from those measured"
	becauseSettled   = "explore: the setting that looks best has readings enough; this is the best of those not measured yet"
	becauseAgain     = "measured again, to tell it from others near the best before the end"
	becauseExplore   = "explore: expected worse than the best of then, but uncertain"
	becauseExploit   = "exploit: expected among the best of then"
	becauseExpected  = "by the model's prediction; the best of then is not on record"
	becauseCompared  = "comparison: measured in turn with the other setting"
)

// nearMeasured is the share of a range below which a setting is not far from those that were measured.
const nearMeasured = 0.02

// Because says why the setting was decided, by what was known when it was.
func Because(d *journal.Decision) string {
	f := ForeseenOf(d)
	words := chosen(d, &f)
	if own := f.OwnLengthscales; own > 0.5 && d.Compared.Comparison == 0 {
		words += fmt.Sprintf("; of the models that compete, the one with a lengthscale for each variable leads (%.0f %%)", 100*float64(own))
	}
	if f.LogWidth > 0 && d.Compared.Comparison == 0 {
		words += "; the objective is learnt through its logarithm, as its readings ask"
	}
	if rules := ChangedBy(d.Reasons); rules != "" {
		words += "; changed by the safety layer: " + rules
	}
	return words
}

// ChangedBy lists the rules that changed a proposal, with their variables, each once.
func ChangedBy(reasons []journal.Reason) string {
	var names []string
	for _, r := range reasons {
		if text := strings.TrimSpace(r.Variable + " " + r.Rule); len(names) == 0 || names[len(names)-1] != text {
			names = append(names, text)
		}
	}
	return strings.Join(names, ", ")
}

// chosen says why it was wanted.
func chosen(d *journal.Decision, f *Foreseen) string {
	by, person := d.Person()
	switch {
	case d.Compared.Comparison > 0:
		return becauseCompared
	case person && by.Reason != "":
		return "asked for by " + by.Who + ": " + by.Reason
	case person:
		return "asked for by " + by.Who
	case d.Initial:
		return becauseInitial
	case !f.Mean.Known():
		return becauseDesign
	case f.Unseen.Known() && d.Cut && f.Unseen < nearMeasured:
		return becauseUnseenCut
	case f.Unseen.Known():
		return becauseUnseen
	case f.Settled.Known():
		return becauseSettled
	case f.Again.Known():
		return becauseAgain
	case !f.Best.Known():
		return becauseExpected
	case f.behind() > max(float64(f.SD), 0):
		return becauseExplore
	}
	return becauseExploit
}

// behind is how much less the setting was expected to be worth than the best of then: by their
// means, each less its risk term where there is one.
func (f *Foreseen) behind() float64 {
	behind := float64(f.Best - f.Mean)
	if f.Risk.Known() && f.NoiseVariance > 0 && f.BestNoiseVariance.Known() {
		behind += float64(f.Risk - f.Risk/f.NoiseVariance*f.BestNoiseVariance)
	}
	return behind
}
