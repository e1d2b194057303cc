package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop/policy"
)

// wireModel fills the Gaussian process's part of the spec.
func (w *wiring) wireModel() []configs.Problem {
	cfg, m := w.cfg, &w.cfg.Model
	w.spec.Model = policy.Model{Kernel: m.Kernel, Hyperparameters: m.Hyperparameters, Capacity: m.Capacity}
	var problems []configs.Problem
	if m.Kernel != "se" && m.Kernel != "matern52" {
		problems = append(problems, cfg.Problem("model.kernel",
			fmt.Sprintf("%q is not in this version", m.Kernel), `it has "se" and "matern52"`))
	}
	switch m.Hyperparameters {
	case "priors":
		w.spec.Model.Hyperparameters = "fit"
		w.replace("model.hyperparameters", `"priors" is not in this version: hyperparameters are fitted by marginal likelihood, as with "fit"`)
	case "fixed":
		problems = append(problems, w.fixedModel(&cfg.Policy.Priors[0])...)
	}
	if n := len(cfg.Policy.Priors); n > 0 && m.Hyperparameters != "fixed" {
		w.replace("policy.priors", "not used: hyperparameters are fitted by marginal likelihood")
	}
	return problems
}

// fixedModel takes the hyperparameters of the one prior.
func (w *wiring) fixedModel(prior *configs.Prior) []configs.Problem {
	m := &w.spec.Model
	if prior.Kernel != "" {
		m.Kernel = prior.Kernel
	}
	m.Lengthscale = slices.Clone([]float64(prior.Lengthscale))
	if len(m.Lengthscale) == 1 {
		m.Lengthscale = slices.Repeat(m.Lengthscale, len(w.cfg.Variables))
	}
	m.Outputscale, m.NoiseSD, m.Mean = orZero(prior.Outputscale), orZero(prior.NoiseSD), orZero(prior.Mean)
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
	return []configs.Problem{w.cfg.Problem("model.hyperparameters",
		fmt.Sprintf(`"fixed" needs %s in the entry of policy.priors: this version estimates nothing beside fixed values`, strings.Join(missing, ", ")),
		`add them, or write hyperparameters = "fit"`)}
}

// replace notes that this version does something else than the file asks for. A
// default that is replaced is none of the user's business: nobody wrote it.
func (w *wiring) replace(key, what string) {
	for _, s := range w.cfg.Effective() {
		if hasPrefix(s.Key, key) && s.Origin != originDefault {
			w.replaced = append(w.replaced, note{Line: w.cfg.Problem(key, "", "").Line, Key: key, What: what})
			return
		}
	}
}
