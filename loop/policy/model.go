package policy

import (
	"math"

	"github.com/labtuner/tuner/gpcore"
)

// model is the posterior of the standardised objective, and of its noise where
// that is learnt.
//
// Where the noise is constant, observations enter one by one in O(n^2). Where it
// is learnt, each new observation moves all noise variances, so the model is
// loaded anew, O(n^3/3), when it is next used. Either way its bits are a function
// of the sequence of observations, never of when it was asked.
type model struct {
	*modelling
	data   store
	refits refits
	// fitted are the hyperparameters of the latest fit, or given ones that do not
	// depend on the data; nil: they are guessed at each load.
	fitted *hyper

	inForce *hyper // what f and v were loaded with
	f       *gpcore.GP
	v       *noiseField // nil where the noise is constant
	loaded  bool        // f and v hold exactly data
	loads   int         // how often they were computed from scratch

	// priors stand in for fitted and f where priors compete; nil where not.
	priors *contest
}

func newModel(m *modelling) (*model, error) {
	out := &model{modelling: m, data: store{capacity: m.spec.Capacity, dims: m.dims},
		refits: refits{every: m.spec.RefitEvery, lag: m.spec.RefitLag}}
	if m.competing() {
		out.priors = newContest(m)
		out.inForce = out.priors.hyper()
		return out, nil
	}
	if m.fixed() && !m.learnt { // from the first observation on, each enters by itself
		return out, out.adopt(m.guess(nil))
	}
	return out, nil
}

// observe learns a row.
func (m *model) observe(r row) {
	left := m.data.add(r)
	if m.priors != nil {
		m.priors.observe(m.data.rows, left)
		m.takePriors()
		return
	}
	if !m.loaded || m.fitted == nil || m.v != nil {
		m.loaded = false
		return
	}
	h := m.inForce
	noise := [1]float64{}
	h.noiseOfMeans(noise[:], []row{r})
	z := (r.mean - h.center) / h.scale
	var err error
	if left >= 0 {
		err = m.f.Replace(left, r.x, z, noise[0])
	} else {
		err = m.f.Append(r.x, z, noise[0])
	}
	// Numerical trouble of an update is not the observation's fault: the next load
	// starts from scratch and reports what it cannot mend.
	m.loaded = err == nil
}

// forget drops the observations before a step.
func (m *model) forget(from int) error {
	m.data.forget(from)
	m.loaded = false
	if m.priors != nil {
		m.priors.broken = true
		m.priors.standardise(m.data.rows)
	} else if m.fitted == nil {
		return nil
	}
	return m.refresh()
}

// adopt puts fitted hyperparameters in force.
func (m *model) adopt(h *hyper) error {
	m.fitted, m.loaded = h, false
	return m.refresh()
}

// refresh brings the processes up to date with the data.
func (m *model) refresh() error {
	if m.priors != nil {
		if m.priors.broken {
			m.loads++
		}
		if err := m.priors.repair(m.data.rows); err != nil {
			return err
		}
		m.takePriors()
		return nil
	}
	if m.loaded {
		return nil
	}
	h := m.fitted
	if h == nil {
		h = m.guess(m.data.rows)
	}
	if m.f == nil {
		m.f = gpcore.New(h.kernel, m.data.capacity)
	} else if h != m.inForce {
		if err := reset(m.f, h.kernel); err != nil {
			return err
		}
	}
	m.inForce = h
	if err := m.load(h); err != nil {
		return err
	}
	m.loaded = true
	return nil
}

func (m *model) load(h *hyper) error {
	m.loads++
	rows := m.data.rows
	noise := make([]float64, len(rows))
	if h.noise == nil {
		m.v = nil
		h.noiseOfMeans(noise, rows)
	} else {
		if m.v == nil {
			m.v = newNoiseField(h.noise, m.data.capacity)
		}
		if err := m.v.load(h.noise, rows, h.scale); err != nil {
			return err
		}
		m.v.ofMeans(noise, rows, m.beta)
	}
	x := make([]float64, 0, len(rows)*m.dims)
	z := make([]float64, len(rows))
	for i := range rows {
		x = append(x, rows[i].x...)
		z[i] = (rows[i].mean - h.center) / h.scale
	}
	return loadRobustly(m.f, x, z, noise)
}

// takePriors puts in force what the contest of priors says.
func (m *model) takePriors() {
	m.inForce = m.priors.hyper()
	if m.priors.noise != nil {
		m.v = m.priors.noise.field
	}
}

// views are the posteriors that the decision of a step looks at.
func (m *model) views(step int) []view {
	if m.priors != nil {
		return m.priors.views(step)
	}
	return []view{m.belief()}
}

// belief is the posterior by which settings are judged: where priors compete their
// average, whatever the rule by which they decide.
func (m *model) belief() view {
	if m.priors != nil {
		return m.priors.averaged()
	}
	return view{{gp: m.f, scale: 1, weight: 1}}
}

// task describes a fit on the present data.
func (m *model) task(step int) *fitTask {
	return &fitTask{modelling: m.modelling, rows: thinned(m.data.rows, fitLimit), start: m.fitted, step: step}
}

// describe tells of fitted hyperparameters in the users' units.
func (h *hyper) describe() Fit {
	variance, lengthscales := describeKernel(h.kernel)
	out := Fit{Mean: h.center, NoiseSD: math.NaN(), Outputscale: variance * h.scale * h.scale, Lengthscale: lengthscales}
	if h.noise == nil && h.known == nil {
		out.NoiseSD = h.scale * math.Sqrt(h.shotVariance)
	}
	return out
}

// leastObservations is how many observations a decision needs at least: one where nothing is
// estimated from them, else two.
func (m *model) leastObservations() int {
	if m.fixed() || m.priors != nil && m.priors.sequential {
		return 1
	}
	return 2
}

// guessed says that the noise is the median of its prior so far.
func (m *model) guessed() bool {
	_, freedom := pooledVariance(m.data.rows)
	return m.v == nil && m.fitted == nil && m.fits() && freedom < pooledFreedom
}

// observedPoints are the points of the rows, one after the other, as the model takes them.
func (m *model) observedPoints() []float64 {
	var x []float64
	for i := range m.data.rows {
		x = append(x, m.data.rows[i].x...)
	}
	return x
}
