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

// jointTerms are the entropy before and, negative, those after each pair.
func (d *Decision) jointTerms(maxima []Optimum, noise float64) ([]expectations.Term, error) {
	s, memory := d.slabs(), d.memory()
	terms := s.terms.Take(memory, 2*len(maxima))[:0]
	n := float64(len(maxima))
	for _, group := range d.byComponent(maxima) {
		c := group[0].Component
		terms = append(terms, d.Criterion.Model.TermsOf(d.alone(c, float64(len(group))/n), d.entropyOf(0, noise).before)...)
		copied, err := d.copiesOf(c.GP)
		if err != nil {
			return nil, err
		}
		for k, m := range group {
			after := c
			if after.GP, err = copied.conditioned(k, m.X, (m.Value-c.Mean)/c.Scale-c.OffsetAt(m.X)); err != nil {
				return nil, err
			}
			terms = append(terms, d.Criterion.Model.TermsOf(d.alone(after, -1/n), d.entropyOf(m.Value, noise).after)...)
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

// entropy is that of a reading, before and after a maximum is known.
type entropy struct {
	bound, noise  float64
	before, after func(mu, sigma float64) (value, byMu, bySigma float64)
}

// entropyOf gives one until the policy's next call.
func (d *Decision) entropyOf(bound, noise float64) *entropy {
	f := d.slabs().entropies.Take(d.memory())
	if f.bound, f.noise = bound, noise; f.before == nil {
		f.before = func(_, sigma float64) (value, byMu, bySigma float64) {
			total := sigma*sigma + f.noise
			return 0.5 * math.Log(total), 0, sigma / total
		}
		f.after = func(mu, sigma float64) (value, byMu, bySigma float64) {
			return TruncatedEntropy(mu, sigma, f.bound, f.noise)
		}
	}
	return f
}

// copies are those of a process with room for one observation more. They are kept while it has the same kernel.
type copies struct {
	base *gpcore.GP
	each []*gpcore.GP
}

// copiesOf loads the copies of a process. O(n^3/3).
func (d *Decision) copiesOf(g *gpcore.GP) (*copies, error) {
	n, s, memory := g.Len(), d.slabs(), d.memory()
	x := memory.Floats(n * g.Dim())[:0]
	y, noise := memory.Floats(n), memory.Floats(n)
	for i := range n {
		x = append(x, g.X(i)...)
		y[i], noise[i] = g.Target(i), g.NoiseVariance(i)
	}
	if s.copies == nil || len(s.copies) == mostProcesses && s.copies[g] == nil {
		s.copies = map[*gpcore.GP]*copies{}
	}
	out := s.copies[g]
	if out == nil || out.base.Kernel() != g.Kernel() {
		out = &copies{base: gpcore.New(g.Kernel(), g.Cap()+1)}
		s.copies[g] = out
	}
	return out, model.LoadWithJitter(out.base, x, y, noise)
}

// conditioned is copy number k, which has seen the value y at x without noise, but
// for what a factor needs. O(n^2).
func (c *copies) conditioned(k int, x []float64, y float64) (*gpcore.GP, error) {
	if k == len(c.each) {
		c.each = append(c.each, c.base.Clone())
	} else {
		c.each[k].CopyFrom(c.base)
	}
	out := c.each[k]
	var err error
	for noise := model.MinNoise; noise < 0.1; noise *= 100 {
		if err = out.Append(x, y, noise); err == nil {
			return out, nil
		}
	}
	return nil, err
}
