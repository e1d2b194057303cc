package sim

import (
	"context"
	"slices"

	"github.com/labtuner/tuner/drivers/sim/optimum"
)

// Truth searches the plant's optimum at its present state. It does not disturb the plant.
func (p *Plant) Truth(ctx context.Context, q optimum.Query) (optimum.Truth, error) {
	p.mu.Lock()
	p.advance()
	hours := p.now.Hours()
	p.mu.Unlock()
	return optimum.Find(ctx, p.law(hours), q)
}

// law is what the search for the truth knows of the plant at a time.
func (p *Plant) law(hours float64) optimum.Plant {
	out := optimum.Plant{
		Goal:      p.layout.goal(),
		Moments:   func(signal int, u []float64) (mean, variance float64) { return p.model.moments(signal, u, hours) },
		Outcomes:  func(u []float64, visit func([]float64, float64)) { p.model.outcomes(u, hours, visit) },
		Landmarks: func() [][]float64 { return p.model.landmarks(hours) },
	}
	var random []dist
	for i := range p.opt.Variables {
		v := &p.opt.Variables[i]
		d := v.atRandom()
		random = append(random, d)
		a := optimum.Axis{Low: v.Low, High: v.High, Gap: v.gap() / (v.High - v.Low), Held: d.point}
		if v.stepped() {
			a.Nearest = v.nearest
		}
		if d.kind != Held {
			a.Quantile = p.quantile(i, d)
		}
		a.Idle = p.laser != nil && i >= laserActs && !slices.ContainsFunc(p.layout.outputs, func(s output) bool { return s.from == optimum.Variable && s.index == i })
		out.Axes = append(out.Axes, a)
	}
	for _, s := range p.layout.outputs {
		out.Sensors = append(out.Sensors, optimum.Sensor{Name: s.Name, From: s.from, Index: s.index, Value: s.value})
	}
	if exact, ok := p.model.(averager); ok {
		out.Average = func(controlled []bool) func([]float64) (mean, variance, spread float64) {
			return exact.average(controlled, random)
		}
	}
	if p.table != nil {
		out.Snap = p.table.snap
	}
	return out
}

// gap returns the widest gap between two values that the device can take, 0 if it takes any.
func (v *Variable) gap() (widest float64) {
	for k := 1; k < len(v.Levels); k++ {
		widest = max(widest, v.Levels[k]-v.Levels[k-1])
	}
	if v.Integer {
		widest = max(widest, 1)
	}
	return widest
}
