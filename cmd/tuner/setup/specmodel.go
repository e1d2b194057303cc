package setup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop/policy"
)

// wireModel fills the Gaussian process's part of the spec.
func (m *policyMaker) wireModel() []configs.Problem {
	model, p := &m.cfg.Model, &m.cfg.Policy
	m.spec.Model = policy.Model{Kernel: model.Kernel, Hyperparameters: model.Hyperparameters, Capacity: model.Capacity}
	switch model.Hyperparameters {
	case "priors":
		m.spec.Model.PriorRule = p.Parts().PriorRule
		for i := range p.Priors {
			m.spec.Model.Priors = append(m.spec.Model.Priors, competing(&p.Priors[i]))
		}
		if !m.written("model.capacity") {
			m.spec.Model.Capacity = min(model.Capacity, competingCapacity)
		}
	case "fixed":
		return m.fixedModel(&p.Priors[0])
	}
	return nil
}

// competingCapacity stands in for a capacity that nobody wrote where priors compete:
// each has a factor of its own, which takes a quarter of the memory of the usual one.
const competingCapacity = 512

// written says that the file has a key.
func (m *policyMaker) written(key string) bool {
	return slices.ContainsFunc(m.cfg.Effective(), func(s configs.Setting) bool { return s.Key == key && s.Written() })
}

// competing is one of several priors; what the file leaves out is estimated.
func competing(p *configs.Prior) policy.Prior {
	out := policy.Prior{Kernel: p.Kernel, Lengthscale: slices.Clone([]float64(p.Lengthscale)),
		Outputscale: orNaN(p.Outputscale), NoiseSD: orNaN(p.NoiseSD), Mean: orNaN(p.Mean)}
	if p.Weight != nil {
		out.Weight = *p.Weight
	}
	return out
}

// fixedModel takes the hyperparameters of the one prior.
func (m *policyMaker) fixedModel(prior *configs.Prior) []configs.Problem {
	model := &m.spec.Model
	if prior.Kernel != "" {
		model.Kernel = prior.Kernel
	}
	model.Lengthscale = slices.Clone([]float64(prior.Lengthscale))
	if len(model.Lengthscale) == 1 {
		model.Lengthscale = slices.Repeat(model.Lengthscale, len(m.cfg.Variables))
	}
	model.Outputscale, model.NoiseSD, model.Mean = OrZero(prior.Outputscale), OrZero(prior.NoiseSD), OrZero(prior.Mean)
	var missing []string
	for key, p := range map[string]*float64{"outputscale": prior.Outputscale, "noise_sd": prior.NoiseSD, "mean": prior.Mean} {
		if p == nil {
			missing = append(missing, key)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	return []configs.Problem{m.cfg.Problem("model.hyperparameters",
		fmt.Sprintf(`"fixed" needs %s in the entry of policy.priors: beside fixed values nothing is estimated`, strings.Join(missing, ", ")),
		`add them, or write hyperparameters = "fit"`)}
}
