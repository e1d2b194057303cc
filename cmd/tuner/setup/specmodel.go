package setup

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
)

// wireModel fills the Gaussian process's part of the spec.
func (m *policyMaker) wireModel() []configs.Problem {
	model, p := &m.cfg.Model, &m.cfg.Policy
	m.spec.Model = policy.Model{Kernel: model.Kernel, Hyperparameters: model.Hyperparameters, LengthscalePrior: model.LengthscalePrior, Lengthscales: model.Lengthscales, Transform: model.Transform, Capacity: model.Capacity}
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

// wireVerify says how the recommendation is compared with the start.
func (m *policyMaker) wireVerify() {
	stop, v := &m.cfg.Stop, &m.opt.Verify
	*v = plan.Verify{Pairs: verifyPairs, Risk: m.spec.Risk, Seed: m.spec.Seed,
		Cost: verifyShare * OrZero(stop.Cost), Time: OrZero(stop.Time) / 10}
	if stop.VerifyCost != nil {
		v.Cost = *stop.VerifyCost
	}
	if stop.VerifyTime != nil {
		v.Time = *stop.VerifyTime
	}
	if slices.ContainsFunc(m.cfg.Variables, func(v configs.Variable) bool { return v.Kind == "dose" }) {
		v.Pairs, v.Why = 0, "a dose cannot be taken back, so measuring again would add more; stop.verify asks for it all the same"
	}
	if stop.Verify != nil {
		if v.Pairs = *stop.Verify; v.Pairs == 0 {
			v.Why = "stop.verify is 0"
		}
	}
	if m.spec.Fidelity != nil {
		v.Same = make([]bool, len(m.spec.Fidelity))
		for i, x := range m.spec.Fidelity {
			v.Same[i] = !math.IsNaN(x)
		}
	}
}

// verifyPairs is how many pairs compare the recommended with the starting setting where
// the file does not say. Not fewer: of 2^8 choices of signs, one in twenty are 13, so a
// gain of twice the noise is found almost surely. Not more: each pair is two steps that
// nothing new is sought in.
const verifyPairs = 8

// verifyShare is the part of the search's budget and time that the comparison may take
// beside them where the file does not say: nobody is to pay much more than what was
// agreed to.
const verifyShare = 0.1
