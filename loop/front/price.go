package front

import (
	"errors"
	"math"
	"slices"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
)

// Price is what would be recommended at one risk.
type Price struct {
	// Risk is alpha of the mean-variance objective, in 1/(the objective's unit).
	Risk  float64
	Point Point
}

// ErrOneNoise: a shot is as noisy at every setting that may be recommended.
var ErrOneNoise = errors.New("by the model a shot is as noisy at every setting that was tried, so that no risk changes what is recommended")

// priceSteps risks stand in a decade, over priceBelow decades below and priceAbove above the one at which the whole
// span of the means is worth that of the variances: beyond, one of the two decides alone.
const (
	priceSteps = 6
	priceBelow = 2
	priceAbove = 2
)

// Prices lists what would be recommended as risk grows, own among them where it is above 0. beta is as for
// [OfModel]. Cost: that of a recommendation for each.
//
// Errors: [ErrOneNoise], policy.ErrNoNoise and policy.ErrNoData.
func Prices(o *plan.Options, w policy.Weigher, own, beta float64) ([]Price, error) {
	all, err := w.Tradeoffs()
	if err != nil {
		return nil, err
	}
	var mean, variance []float64
	for i := range all {
		if v := all[i].ShotSD * all[i].ShotSD; !math.IsNaN(v) {
			mean, variance = append(mean, all[i].Mean), append(variance, v)
		}
	}
	if len(mean) == 0 {
		return nil, policy.ErrNoNoise
	}
	if slices.Max(variance) <= slices.Min(variance) {
		return nil, ErrOneNoise
	}
	middle := (slices.Max(mean) - slices.Min(mean)) / (slices.Max(variance) - slices.Min(variance))
	if !(middle > 0) {
		return nil, ErrOneNoise
	}
	var risks []float64
	for k := -priceBelow * priceSteps; k <= priceAbove*priceSteps; k++ {
		risks = append(risks, middle*math.Pow(10, float64(k)/priceSteps))
	}
	if own > 0 {
		risks = append(risks, own)
	}
	slices.Sort(risks)
	var out []Price
	for _, alpha := range risks {
		r, err := w.RecommendAt(alpha)
		if err != nil {
			return nil, err
		}
		out = append(out, Price{alpha, priced(o, r, all, beta)})
	}
	return out, nil
}

// priced is a recommendation as a point, with the bounds of its noise where it is one of the tradeoffs.
func priced(o *plan.Options, r policy.Recommendation, all []policy.Tradeoff, beta float64) Point {
	same := func(t policy.Tradeoff) bool {
		return t.ControlSet == r.ControlSet && slices.EqualFunc(t.X, r.X, func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) })
	}
	if i := slices.IndexFunc(all, same); i >= 0 {
		return pointOf(o, &all[i], beta)
	}
	t := policy.Tradeoff{Recommendation: r, ShotSD: r.NoiseSD, ShotLow: math.NaN(), ShotHigh: math.NaN()}
	return pointOf(o, &t, beta)
}

// At is the value that a point sets a variable to, NaN where it leaves that alone.
func (p *Point) At(variable int) float64 {
	if v := p.Variables[variable]; v.How == control.HowSet {
		return float64(v.Value)
	}
	return math.NaN()
}
