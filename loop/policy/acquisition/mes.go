package acquisition

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore"
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
		objectives, err := d.freshExpectations(terms)
		if err != nil {
			return nil, err
		}
		for i, set := range d.Sets {
			out = append(out, Option{Set: set, View: v, Objective: objectives[i], Unit: Dimensionless})
		}
	}
	return out, nil
}

// jointTerms are the entropy before and, negative, those after each pair.
func (d *Decision) jointTerms(maxima []Optimum, noise float64) ([]expectations.Term, error) {
	var terms []expectations.Term
	n := float64(len(maxima))
	for _, group := range d.byComponent(maxima) {
		c := group[0].Component
		terms = append(terms, d.Criterion.Model.TermsOf(d.alone(c, float64(len(group))/n), func(_, sigma float64) (value, byMu, bySigma float64) {
			total := sigma*sigma + noise
			return 0.5 * math.Log(total), 0, sigma / total
		})...)
		copied, err := roomierCopy(c.GP)
		if err != nil {
			return nil, err
		}
		for _, m := range group {
			after := c
			if after.GP, err = conditioned(copied, m.X, (m.Value-c.Mean)/c.Scale-c.OffsetAt(m.X)); err != nil {
				return nil, err
			}
			terms = append(terms, d.Criterion.Model.TermsOf(d.alone(after, -1/n), func(mu, sigma float64) (value, byMu, bySigma float64) {
				return TruncatedEntropy(mu, sigma, m.Value, noise)
			})...)
		}
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

// roomierCopy is a process with the same observations and room for one more. O(n^3/3).
func roomierCopy(g *gpcore.GP) (*gpcore.GP, error) {
	n := g.Len()
	x := make([]float64, 0, n*g.Dim())
	y, noise := make([]float64, n), make([]float64, n)
	for i := range n {
		x = append(x, g.X(i)...)
		y[i], noise[i] = g.Target(i), g.NoiseVariance(i)
	}
	out := gpcore.New(g.Kernel(), n+1)
	return out, model.LoadWithJitter(out, x, y, noise)
}

// conditioned is a copy of a process that has seen the value y at x without noise, but
// for what a factor needs. O(n^2).
func conditioned(g *gpcore.GP, x []float64, y float64) (*gpcore.GP, error) {
	out := g.Clone()
	var err error
	for noise := model.MinNoise; noise < 0.1; noise *= 100 {
		if err = out.Append(x, y, noise); err == nil {
			return out, nil
		}
	}
	return nil, err
}
