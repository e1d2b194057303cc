package setup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop/policy"
)

// wireModel fills the Gaussian process's part of the spec.
func (w *Setup) wireModel() []configs.Problem {
	m, p := &w.Config.Model, &w.Config.Policy
	w.Spec.Model = policy.Model{Kernel: m.Kernel, Hyperparameters: m.Hyperparameters, Capacity: m.Capacity}
	switch m.Hyperparameters {
	case "priors":
		w.Spec.Model.PriorRule = p.Parts().PriorRule
		for i := range p.Priors {
			w.Spec.Model.Priors = append(w.Spec.Model.Priors, competing(&p.Priors[i]))
		}
		if !w.written("model.capacity") {
			w.Spec.Model.Capacity = min(m.Capacity, competingCapacity)
		}
	case "fixed":
		return w.fixedModel(&p.Priors[0])
	}
	return nil
}

// competingCapacity stands in for a capacity that nobody wrote where priors compete:
// each has a factor of its own, which takes a quarter of the memory of the usual one.
const competingCapacity = 512

// written says that the file has a key.
func (w *Setup) written(key string) bool {
	return slices.ContainsFunc(w.Config.Effective(), func(s configs.Setting) bool { return s.Key == key && s.Written() })
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
func (w *Setup) fixedModel(prior *configs.Prior) []configs.Problem {
	m := &w.Spec.Model
	if prior.Kernel != "" {
		m.Kernel = prior.Kernel
	}
	m.Lengthscale = slices.Clone([]float64(prior.Lengthscale))
	if len(m.Lengthscale) == 1 {
		m.Lengthscale = slices.Repeat(m.Lengthscale, len(w.Config.Variables))
	}
	m.Outputscale, m.NoiseSD, m.Mean = OrZero(prior.Outputscale), OrZero(prior.NoiseSD), OrZero(prior.Mean)
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
	return []configs.Problem{w.Config.Problem("model.hyperparameters",
		fmt.Sprintf(`"fixed" needs %s in the entry of policy.priors: beside fixed values nothing is estimated`, strings.Join(missing, ", ")),
		`add them, or write hyperparameters = "fit"`)}
}
