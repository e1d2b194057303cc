package acquisition

import (
	"fmt"
	"math/rand/v2"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/sampling"
	"github.com/labtuner/tuner/gpcore/search"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
)

// Sample is one draw of the mean-variance objective's posterior: the same function for
// every control set. Where every variable is controlled and the settings are listed it
// is drawn exactly, at those settings; else it is a path of random waves, corrected by
// the data (sampling.Path), which exists everywhere. With a risk term and a learnt noise
// the noise process is drawn as well.
type Sample struct {
	component model.Component
	table     []float64 // at the settings of the only domain's list
	f, v      *sampling.Path
}

// pathFeatures makes the prior part of a path err by about 3% of its standard deviation.
const pathFeatures = 1000

// sampleCost is about how many multiply-adds it takes to draw from a view: its waves at all observations.
func sampleCost(v model.View) float64 {
	g := v[0].GP
	return pathFeatures * float64(g.Len()) * waveCost(g.Dim())
}

// waveCost is about how many multiply-adds one wave takes at a point: its phase and a cosine.
func waveCost(d int) float64 { return float64(d) + 16 }

// Sample draws from a view. Of several components it takes one by the weights, which
// is a draw of their mixture. dom is the only domain where it will be looked at, nil
// where there are several.
func (d *Decision) Sample(v model.View, dom *space.Domain, rng *rand.Rand) (*Sample, error) {
	s := d.slabs().samples.Take(d.memory())
	*s = Sample{component: v.Sample(rng)}
	g := s.component.GP
	var err error
	if dom != nil && dom.Listed() > 0 && dom.Size() == g.Dim() {
		s.table, err = d.sampleList(s, dom, rng)
		return s, err
	}
	if s.f, err = d.path(g, rng); err != nil {
		return nil, fmt.Errorf("posterior sample: %w", err)
	}
	if d.Criterion.Alpha() > 0 && d.Criterion.Model.Noise != nil {
		if s.v, err = d.path(d.Criterion.Model.Noise.GP, rng); err != nil {
			return nil, fmt.Errorf("posterior sample of the noise: %w", err)
		}
	}
	return s, nil
}

// pathIn is a path, nil before it is drawn.
type pathIn struct{ *sampling.Path }

// mostProcesses of which paths are kept; beyond, all begin anew.
const mostProcesses = 64

// path draws one until the policy's next call.
func (d *Decision) path(g *gpcore.GP, rng *rand.Rand) (_ *sampling.Path, err error) {
	s := d.slabs()
	if s.paths == nil || len(s.paths) == mostProcesses && s.paths[g] == nil {
		s.paths = map[*gpcore.GP]*num.Objects[pathIn]{}
	}
	if s.paths[g] == nil {
		s.paths[g] = &num.Objects[pathIn]{}
	}
	p := s.paths[g].Take(d.memory())
	if p.Path != nil {
		return p.Path, p.Redraw(g, rng)
	}
	p.Path, err = sampling.NewPath(g, rng, pathFeatures)
	return p.Path, err
}

// sampleList draws at the settings of a domain's list.
func (d *Decision) sampleList(s *Sample, dom *space.Domain, rng *rand.Rand) ([]float64, error) {
	out := make([]float64, dom.Listed())
	if err := d.Lists.draw(rng, out, s.component.GP, dom); err != nil {
		return nil, fmt.Errorf("posterior sample: %w", err)
	}
	for k := range out {
		out[k] = s.component.Scale * (out[k] + s.component.OffsetAt(dom.Row(k)))
	}
	if alpha := d.Criterion.Alpha(); alpha > 0 && d.Criterion.Model.Noise != nil {
		noise := make([]float64, len(out))
		if err := d.Lists.draw(rng, noise, d.Criterion.Model.Noise.GP, dom); err != nil {
			return nil, fmt.Errorf("posterior sample of the noise: %w", err)
		}
		for k, v := range noise {
			variance, _, _ := d.Criterion.Model.Noise.ShotVariance(v, 0, 0)
			out[k] -= alpha * variance
		}
	}
	return out, nil
}

// Expectation is the sample's expectation over the variables that a domain leaves random,
// without the component's prior mean.
func (s *Sample) Expectation(d *Decision, dom *space.Domain) (search.Objective, error) {
	return s.expectationOver(d, Goal{Domain: dom, Inputs: d.Criterion.Random.Inputs(dom, d.Step)})
}

// expectationOver is Expectation for given inputs.
func (s *Sample) expectationOver(d *Decision, g Goal) (search.Objective, error) {
	if s.table != nil {
		return &tabulated{g.Domain, s.table}, nil
	}
	in := g.Inputs
	shape, err := d.Criterion.Cache.Shape(s.component.GP, in)
	if err != nil {
		return nil, err
	}
	o := d.slabs().expectedPaths.Take(d.memory())
	o.sampled = sampled{expectation: shape, controlled: in.Controlled, random: o.random[:0], scale: s.component.Scale, offset: s.component.Offset, alpha: d.Criterion.Alpha(), field: d.Criterion.Model.Noise, observations: s.component.GP.Len()}
	o.f, o.v = s.f, s.v
	if len(g.Domain.Random) > 0 {
		o.spread = d.Criterion.SpreadAlpha()
	}
	for i := range s.component.GP.Dim() {
		if num.Position(in.Controlled, i) < 0 {
			o.random = append(o.random, i)
		}
	}
	return o, nil
}

// tabulated is a function that is known at a domain's listed settings.
type tabulated struct {
	domain *space.Domain
	values []float64
}

// Dim implements [search.Objective].
func (t *tabulated) Dim() int { return t.domain.Size() }

// Values implements [search.Objective].
func (t *tabulated) Values(dst, x []float64) {
	size := t.Dim()
	for j := range dst {
		dst[j] = t.values[t.domain.ListedAt(x[j*size:(j+1)*size])]
	}
}

// Fork implements [search.Objective].
func (t *tabulated) Fork() search.Objective { return t }
