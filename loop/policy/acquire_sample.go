package policy

import (
	"fmt"
	"math/rand/v2"

	"github.com/labtuner/tuner/gpcore"
)

// sample is one draw of the mean-variance objective's posterior: the same function for
// every control set. Where every variable is controlled and the settings are listed it
// is drawn exactly, at those settings; else it is a path of random waves, corrected by
// the data (gpcore.Path), which exists everywhere. With a risk term and a learnt noise
// the noise process is drawn as well.
type sample struct {
	component component
	table     []float64 // at the settings of the only domain's list
	f, v      *gpcore.Path
}

// pathWaves makes the prior part of a path err by about 3% of its standard deviation.
const pathWaves = 1000

// sample draws from a view. Of several components it takes one by the weights, which
// is a draw of their mixture. dom is the only domain where it will be looked at, nil
// where there are several.
func (d *decision) sample(v view, dom *domain, rng *rand.Rand) (*sample, error) {
	s := &sample{component: v.pick(rng)}
	g := s.component.gp
	var err error
	if dom != nil && dom.listed() > 0 && dom.size() == g.Dim() {
		s.table, err = d.sampleList(s, dom, rng)
		return s, err
	}
	if s.f, err = g.SamplePath(rng, pathWaves); err != nil {
		return nil, fmt.Errorf("posterior sample: %w", err)
	}
	if d.criterion.alpha() > 0 && d.criterion.model.v != nil {
		if s.v, err = d.criterion.model.v.gp.SamplePath(rng, pathWaves); err != nil {
			return nil, fmt.Errorf("posterior sample of the noise: %w", err)
		}
	}
	return s, nil
}

// sampleList draws at the settings of a domain's list.
func (d *decision) sampleList(s *sample, dom *domain, rng *rand.Rand) ([]float64, error) {
	out := make([]float64, dom.listed())
	if err := d.lists.draw(rng, out, s.component.gp, dom); err != nil {
		return nil, fmt.Errorf("posterior sample: %w", err)
	}
	for k := range out {
		out[k] = s.component.scale * (out[k] + s.component.lift(dom.row(k)))
	}
	if alpha := d.criterion.alpha(); alpha > 0 && d.criterion.model.v != nil {
		noise := make([]float64, len(out))
		if err := d.lists.draw(rng, noise, d.criterion.model.v.gp, dom); err != nil {
			return nil, fmt.Errorf("posterior sample of the noise: %w", err)
		}
		for k, v := range noise {
			variance, _, _ := d.criterion.model.v.shotVariance(v, 0, 0)
			out[k] -= alpha * variance
		}
	}
	return out, nil
}

// over is the sample's expectation over the variables that a domain leaves random,
// without the component's prior mean.
func (s *sample) over(d *decision, dom *domain) (gpcore.Objective, error) {
	return s.through(d, goal{domain: dom, inputs: d.criterion.around.inputs(dom, d.step)})
}

// through is over for inputs of its own.
func (s *sample) through(d *decision, g goal) (gpcore.Objective, error) {
	if s.table != nil {
		return &tabulated{g.domain, s.table}, nil
	}
	in := g.inputs
	shape, err := gpcore.NewExpected([]gpcore.Term{{Process: s.component.gp, Mean: 1}}, in)
	if err != nil {
		return nil, err
	}
	o := &expectedPath{shape: shape, controlled: in.Controlled, f: s.f, scale: s.component.scale, offset: s.component.offset, v: s.v, alpha: d.criterion.alpha(), field: d.criterion.model.v}
	if len(g.domain.random) > 0 {
		o.spread = d.criterion.spreadAlpha()
	}
	for i := range s.component.gp.Dim() {
		if position(in.Controlled, i) < 0 {
			o.random = append(o.random, i)
		}
	}
	return o, nil
}

// tabulated is a function that is known at a domain's listed settings.
type tabulated struct {
	domain *domain
	values []float64
}

// Dim implements [gpcore.Objective].
func (t *tabulated) Dim() int { return t.domain.size() }

// Values implements [gpcore.Objective].
func (t *tabulated) Values(dst, x []float64) {
	size := t.Dim()
	for j := range dst {
		dst[j] = t.values[t.domain.listedAt(x[j*size:(j+1)*size])]
	}
}

// Fork implements [gpcore.Objective].
func (t *tabulated) Fork() gpcore.Objective { return t }
