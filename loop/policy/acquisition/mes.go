package acquisition

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
)

// MaxValueEntropy is max-value entropy search: the mean, over ten sampled maxima f*, of
// the information that a reading y holds about the maximum,
//
//	a_i(c) = E_R[ mean over f* of I(f*; y(c, R)) ],
//
// over control set i's random variables R, with I as in truncation.information (Wang and
// Jegelka, ICML 2017, with the noise of y as in Takeno et al., ICML 2020). f* is the
// maximum over the settings of all variables, and R is measured with y, so the
// expectation is exactly what a step with control set i tells about that maximum; over
// its cost (Spec.PerCost) this is the information per unit cost over control sets that
// Tay et al. (NeurIPS 2023, section 6) name as future work. Each f* is judged by the
// component of the view that it was drawn from.
type MaxValueEntropy struct{}

// informationCost is how many multiply-adds of the vector code an information of one maximum takes the time of, about.
const informationCost = 16000

// minInformation ends the logarithm above the rounding of an information.
const minInformation = 1e-13

func (MaxValueEntropy) Options(d *Decision) ([]Option, error) {
	out := d.options()
	noise := d.ShotVariance()
	for i, v := range d.Views {
		maxima, err := d.Maxima(v, MaximaSamples, d.Substream(num.ForSample, i))
		if err != nil {
			return nil, err
		}
		terms := d.slabs().terms.Take(d.memory(), len(maxima))[:0]
		for _, group := range d.byComponent(maxima) {
			terms = append(terms, d.Criterion.Model.TermsOf(d.alone(group[0].Component, 1/float64(len(maxima))), d.informationOf(group, noise))...)
			terms[len(terms)-1].OfCost = informationCost * float64(len(group))
		}
		objectives, err := d.Expectations(terms)
		if err != nil {
			return nil, err
		}
		for i, set := range d.Sets {
			out = append(out, Option{Set: set, View: v, Objective: objectives[i], Unit: Dimensionless, logFloor: minInformation})
		}
	}
	return out, nil
}

// informationOfGroup is the information that a reading holds about maxima, summed.
type informationOfGroup struct {
	group []Optimum
	noise float64
	of    func(mu, sigma float64) (value, byMu, bySigma float64)
}

// informationOf gives one until the policy's next call.
func (d *Decision) informationOf(group []Optimum, noise float64) func(mu, sigma float64) (value, byMu, bySigma float64) {
	f := d.slabs().informations.Take(d.memory())
	if f.of == nil {
		f.of = f.value
	}
	f.group, f.noise = group, noise
	return f.of
}

func (f *informationOfGroup) value(mu, sigma float64) (value, byMu, bySigma float64) {
	for k := range f.group {
		v, m, s := MaximumInformation(mu, sigma, f.group[k].Value, f.noise)
		value, byMu, bySigma = value+v, byMu+m, bySigma+s
	}
	return value, byMu, bySigma
}

// alone is the view of a component with a weight.
func (d *Decision) alone(c model.Component, weight float64) model.View {
	out := d.slabs().components.Take(d.memory(), 1)
	out[0], out[0].Weight = c, weight
	return out
}

// byComponent sorts maxima by the component that they were drawn from.
func (d *Decision) byComponent(maxima []Optimum) [][]Optimum {
	s, memory := d.slabs(), d.memory()
	out, sorted := s.groups.Take(memory, len(maxima))[:0], s.optima.Take(memory, len(maxima))[:0]
	for i, m := range maxima {
		same := func(o Optimum) bool { return o.Component.GP == m.Component.GP }
		if slices.ContainsFunc(maxima[:i], same) {
			continue
		}
		from := len(sorted)
		for _, o := range maxima[i:] {
			if same(o) {
				sorted = append(sorted, o)
			}
		}
		out = append(out, sorted[from:len(sorted):len(sorted)])
	}
	return out
}

// ShotVariance is the noise variance of one shot that an information counts with: where it
// depends on the setting, the median of what is expected at the settings observed.
func (d *Decision) ShotVariance() float64 {
	m := d.Criterion.Model
	x := d.memory().Floats(len(m.Data.Rows) * m.Width())[:0]
	for i := range d.Criterion.Model.Data.Rows {
		x = append(x, d.Criterion.Model.Data.Rows[i].X...)
	}
	noise := d.Criterion.Model.ExpectedNoise(x)
	slices.Sort(noise)
	return max(noise[len(noise)/2], model.MinNoise)
}

// JointEntropy is joint entropy search (Hvarfner, Hutter and Nardi, NeurIPS 2022): the
// mean, over ten samples with maximum f* at x*, of what the pair (x*, f*) takes off the
// entropy of a reading,
//
//	a_i(c) = E_R[ log(s^2 + v)/2 - mean over samples of log(w_k^2 + v)/2 ],
//	w_k^2 = s_k^2 (1 - gamma h - h^2),  gamma = (f* - mu_k)/s_k,  h = phi(gamma)/Phi(gamma),
//
// with s the standard deviation of f, v the noise variance, mu_k and s_k the moments of
// the process that has (x*, f*) as an observation, cut at f* (their eqs. 8 to 10, which
// match moments).
type JointEntropy struct{}

func (JointEntropy) Options(d *Decision) ([]Option, error) {
	out := d.options()
	noise := d.ShotVariance()
	for i, v := range d.Views {
		maxima, err := d.Maxima(v, MaximaSamples, d.Substream(num.ForSample, i))
		if err != nil {
			return nil, err
		}
		terms, err := d.jointTerms(maxima, noise)
		if err != nil {
			return nil, err
		}
		objectives, err := d.Expectations(terms)
		if err != nil {
			return nil, err
		}
		for i, set := range d.Sets {
			out = append(out, Option{Set: set, View: v, Objective: objectives[i], Unit: Dimensionless})
		}
	}
	return out, nil
}

// jointTerms are the entropies before and, negative, after each pair: a term for each component.
func (d *Decision) jointTerms(maxima []Optimum, noise float64) ([]expectations.Term, error) {
	s, memory := d.slabs(), d.memory()
	terms := s.terms.Take(memory, len(maxima))[:0]
	n := float64(len(maxima))
	for _, group := range d.byComponent(maxima) {
		f := d.jointEntropy(group, noise, 1/n)
		c := group[0].Component
		terms = append(terms, d.Criterion.Model.TermsOf(d.alone(c, float64(len(group))/n), f.before)...)
		x, y := memory.Floats(len(group) * len(group[0].X))[:0], memory.Floats(len(group))
		for k, m := range group {
			x = append(x, m.X...)
			y[k] = (m.Value-c.Mean)/c.Scale - c.OffsetAt(m.X)
		}
		if err := f.further.Observe(c.GP, x, y, model.MinNoise); err != nil {
			return nil, err
		}
		terms[len(terms)-1].Further, terms[len(terms)-1].OfCost = &f.further, informationCost*float64(len(group))
	}
	return terms, nil
}

// TruncatedEntropy is log(w^2 + noise)/2 with w^2 the variance of a normal that is cut at a
// bound, and its derivatives.
func TruncatedEntropy(mean, sd, bound, noise float64) (value, byMean, bySD float64) {
	const far = -200 // below, nothing is left of the digits
	gamma := max((bound-mean)/sd, far)
	h := math.Exp(-0.5*gamma*gamma - logRoot2Pi - logNormalCDF(gamma))
	slope := -h * (gamma + h)
	left, byGamma := max(1-gamma*h-h*h, 0), -h-gamma*slope-2*h*slope
	total := sd*sd*left + noise
	return 0.5 * math.Log(total), -0.5 * sd * byGamma / total, (sd*left - 0.5*sd*gamma*byGamma) / total
}

// jointEntropy is the entropy of a reading before maxima that were drawn from one component are known, and
// after each of them.
type jointEntropy struct {
	group         []Optimum
	noise, weight float64
	before        func(mu, sigma float64) (value, byMu, bySigma float64)
	further       expectations.Further
}

// jointEntropy gives one until the policy's next call.
func (d *Decision) jointEntropy(group []Optimum, noise, weight float64) *jointEntropy {
	f := d.slabs().entropies.Take(d.memory())
	if f.group, f.noise, f.weight = group, noise, weight; f.before == nil {
		f.before = func(_, sigma float64) (value, byMu, bySigma float64) {
			total := sigma*sigma + f.noise
			return 0.5 * math.Log(total), 0, sigma / total
		}
		f.further.Of = f.after
	}
	return f
}

// after is the entropy once maximum k is known, negative, times the weight; mu and sigma are in the process's unit.
func (f *jointEntropy) after(k int, mu, sigma float64) (value, byMu, bySigma float64) {
	m := &f.group[k]
	mean, scale := m.Component.Mean, m.Component.Scale
	value, byMu, bySigma = TruncatedEntropy(mean+scale*mu, scale*sigma, m.Value, f.noise)
	return -f.weight * value, -f.weight * scale * byMu, -f.weight * scale * bySigma
}
