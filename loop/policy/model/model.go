package model

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore"
	"github.com/labtuner/tuner/gpcore/expectations"
	"github.com/labtuner/tuner/loop/policy/internal/num"
)

// Model is the posterior of the standardised objective, and of its noise where
// that is learnt.
//
// Where the noise is constant, observations enter one by one in O(n^2). Where it is learnt,
// each new observation moves all noise variances: between two fits the model follows them
// where every row has a sample variance of its own, else it is loaded anew, O(n^3/3), when
// it is next used. Its bits are a function of the sequence of observations, never of when it
// was asked.
type Model struct {
	*Rules
	Data   Store
	Refits Refits
	// Fitted are the hyperparameters of the latest fit, or given ones that do not
	// depend on the data; nil: they are guessed at each load.
	Fitted *Hyper

	Active *Hyper // what GP and Noise were loaded with
	GP     *gpcore.GP
	Noise  *NoiseField // nil where the noise is constant
	Loaded bool        // GP and Noise hold exactly Data
	Loads  int         // how often they were computed from scratch
	// follows: GP and Noise take up each observation by itself since the latest fit.
	follows bool

	// Priors replace Fitted and GP where priors compete; nil where not.
	Priors *priorSet

	// Memory is that of the calls of the policy which has the model; nil: the heap.
	Memory     *num.Memory
	components num.Slab[Component]
	views      num.Slab[View]
	terms      num.Slab[expectations.Term]
	functions  num.Objects[componentTerm]
	generator  num.Generator
}

func New(m *Rules) (*Model, error) {
	out := &Model{Rules: m, Data: Store{Capacity: m.Spec.Capacity, Dims: m.Dims},
		Refits: Refits{Every: m.Spec.RefitEvery, Lag: m.Spec.RefitLag}}
	if m.competing() {
		out.Priors = newPriorSet(out)
		out.Active = out.Priors.hyper()
		return out, nil
	}
	if m.fixed() && !m.Learnt { // from the first observation on, each enters by itself
		return out, out.adopt(m.guess(nil))
	}
	return out, nil
}

// Observe learns a row.
func (m *Model) Observe(r Row) {
	left := m.Data.Add(r)
	if m.Priors != nil {
		m.Priors.observe(m.Data.Rows, left)
		m.adoptPriors()
		return
	}
	if m.follows {
		m.follows = m.follow(left) == nil
		m.Loaded = m.follows
		return
	}
	if !m.Loaded || m.Fitted == nil || m.Noise != nil {
		m.Loaded = false
		return
	}
	h := m.Active
	noise := [1]float64{}
	h.noiseOfMeans(noise[:], []Row{r})
	// Numerical trouble of an update is not the observation's fault: the next load
	// starts from scratch and reports what it cannot mend.
	m.Loaded = exchange(m.GP, left, r.X, (r.Mean-h.Center)/h.Scale, noise[0]) == nil
}

// Forget drops the observations before a step.
func (m *Model) Forget(from int) error {
	m.Data.forget(from)
	m.Loaded, m.follows = false, false
	if m.Priors != nil {
		m.Priors.Broken = true
		m.Priors.standardise(m.Data.Rows)
	} else if m.Fitted == nil {
		return nil
	}
	return m.Refresh()
}

// Retell changes what the rows say and learns them again. A fit to what they said counts no more; one that
// is under way does until the next.
func (m *Model) Retell(change func(r *Row)) error {
	for i := range m.Data.Rows {
		change(&m.Data.Rows[i])
	}
	m.Loaded, m.follows = false, false
	if p := m.Refits.Pending; p != nil {
		p.loaded = nil // with what they said
	}
	if m.Priors != nil {
		m.Priors.Broken = true
		m.Priors.standardise(m.Data.Rows)
		return m.Refresh()
	}
	m.Fitted = nil
	return nil
}

// adopt puts fitted hyperparameters in force.
func (m *Model) adopt(h *Hyper) error {
	m.Fitted, m.Loaded, m.follows = h, false, false
	err := m.Refresh()
	m.follows = err == nil && m.canFollow()
	return err
}

// Refresh brings the processes up to date with the data.
func (m *Model) Refresh() error {
	if m.Priors != nil {
		if m.Priors.Broken {
			m.Loads++
		}
		if err := m.Priors.repair(m.Data.Rows); err != nil {
			return err
		}
		m.adoptPriors()
		return nil
	}
	if m.Loaded {
		return nil
	}
	if m.Fitted != nil && m.fits() && !m.Fitted.reaches(m.Data.Rows) {
		m.Fitted = nil
	}
	h := m.Fitted
	if h == nil {
		h = m.guess(m.Data.Rows)
	}
	if m.GP == nil {
		m.GP = gpcore.New(h.kernel, m.Data.Capacity)
	} else if h != m.Active {
		if err := Reset(m.GP, h.kernel); err != nil {
			return err
		}
	}
	m.Active = h
	if err := m.load(h); err != nil {
		return err
	}
	m.Loaded = true
	return nil
}

// farthest is how many units of a fit a row may be from its center: beyond, squares are no numbers any more.
const farthest = 1e50

// reaches reports whether the unit of a fit is one for the rows: readings may jump by a hundred decades, and then
// what was fitted before counts no more.
func (h *Hyper) reaches(rows []Row) bool {
	return !slices.ContainsFunc(rows, func(r Row) bool { return !(math.Abs((r.Mean-h.Center)/h.Scale) <= farthest) })
}

func (m *Model) load(h *Hyper) error {
	m.Loads++
	rows := m.Data.Rows
	noise := make([]float64, len(rows))
	if h.noise == nil {
		m.Noise = nil
		h.noiseOfMeans(noise, rows)
	} else {
		if m.Noise == nil {
			m.Noise = newNoiseField(h.noise, m.Data.Capacity)
		}
		var err error
		if _, noise, err = m.learnNoise(m.GP, m.Noise, h, rows, m.Fitted == nil); err != nil {
			return err
		}
	}
	x, z := standardised(rows, h)
	return LoadWithJitter(m.GP, x, z, noise)
}

// adoptPriors puts in force what the set of priors says.
func (m *Model) adoptPriors() {
	m.Active = m.Priors.hyper()
	if m.Priors.Noise != nil {
		m.Noise = m.Priors.Noise.field
	}
}

// Views are the posteriors that the decision of a step looks at. They hold until the policy's next call.
func (m *Model) Views(step int) []View {
	if m.Priors != nil {
		return m.Priors.Views(step)
	}
	out := m.views.Take(m.Memory, 1)
	out[0] = m.Posterior()
	return out
}

// Posterior is the posterior by which settings are judged: where priors compete their
// average, whatever the rule by which they decide. It holds until the policy's next call.
func (m *Model) Posterior() View {
	if m.Priors != nil {
		return m.Priors.averaged()
	}
	out := View(m.components.Take(m.Memory, 1))
	out[0] = Component{GP: m.GP, Scale: 1, Weight: 1}
	return out
}

// Task describes a fit on the present data.
func (m *Model) Task(step int) *FitTask {
	t := &FitTask{Rules: m.Rules, rows: thinned(m.Data.Rows, fitLimit), start: m.Fitted, step: step}
	if m.Priors != nil {
		t.rows, t.noise = thinned(m.Data.Rows, memberFitLimit), thinned(m.Priors.boundsOfRows(m.Data.Rows), memberFitLimit)
	}
	return t
}

// MinObservations is how many observations a decision needs at least: one where nothing is
// estimated from them, else two.
func (m *Model) MinObservations() int {
	if m.fixed() || m.Priors != nil && m.Priors.sequential {
		return 1
	}
	return 2
}

// NoiseIsPriorMedian reports whether the noise is the median of its prior so far.
func (m *Model) NoiseIsPriorMedian() bool {
	_, freedom := pooledVariance(m.Data.Rows)
	return m.Noise == nil && m.Fitted == nil && m.fits() && freedom < pooledFreedom
}

// ExpectedNoise lists the expected variance of one shot of z at points of all coordinates,
// row after row: O(n) each, O(1) where they are the observations of the noise's process. The list holds until the policy's next call.
func (m *Model) ExpectedNoise(x []float64) []float64 {
	d := m.Width()
	out := m.Memory.Floats(len(x) / d)
	if m.Noise == nil {
		for i := range out {
			out[i] = m.Active.shotNoise(x[i*d : (i+1)*d])
		}
		return out
	}
	m.Noise.GP.Means(out, x)
	for i := range out {
		out[i], _, _ = m.Noise.ShotVariance(out[i], 0, 0)
	}
	return out
}
