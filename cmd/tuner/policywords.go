package main

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop/policy"
)

// kindName is what texts call a kind.
func kindName(kind string) string {
	k, _ := policy.KindOf(kind)
	return k.Called()
}

// acquisitionWords says what a decision maximises.
func acquisitionWords(name string) string {
	a, _ := policy.AcquisitionOf(name)
	return cmp.Or(a.Says, name)
}

// policyWords says who decides: the parts that are in force, whatever they were named
// by.
func (w *wiring) policyWords() string {
	parts := w.cfg.Policy.Parts()
	if parts.Acquisition == "none" {
		return kindName(parts.Kind)
	}
	said := []string{kindName(parts.Kind) + ": " + w.soughtWords(parts)}
	if parts.Confidence != "" {
		text := "confidence " + parts.Confidence
		if parts.Confidence == "constant" {
			text += fmt.Sprintf(" (%s standard deviations)", number(w.spec.Beta))
		}
		said = append(said, text)
	}
	if parts.Acquisition == "ids" {
		said = append(said, fmt.Sprintf("the cheapest step within %s of the best ratio", number(w.spec.Rho)))
	}
	if len(w.spec.ControlSets) > 1 {
		said = append(said, w.scheduleWords(parts.Schedule))
	}
	said = append(said, w.driftWords()...)
	for _, c := range w.spec.Constraints {
		said = append(said, "keeps "+c.Name+" "+boundWords(c.Low, c.High)+" where it can")
	}
	said = append(said, fmt.Sprintf("%s of %s first", w.spec.Design, count(w.spec.InitialSteps, "step")))
	return strings.Join(said, "; ")
}

// soughtWords says what is maximised, of what.
func (w *wiring) soughtWords(parts configs.Parts) string {
	text := acquisitionWords(parts.Acquisition)
	if w.spec.Risk > 0 || parts.Risky {
		text += " of the mean minus " + number(w.spec.Risk) + " times the variance of one shot"
	} else {
		text += " of the objective"
	}
	if parts.PerCost {
		text += ", per cost"
	}
	switch parts.Noise {
	case configs.NoiseLearnt:
		text += ", the noise at each setting learnt"
	case configs.NoiseKnown:
		text += ", the noise at each setting known"
	}
	if w.spec.Kind == "rahbo-us" {
		text += " before the objective"
	}
	return text
}

// scheduleWords says how one of several control sets is taken.
func (w *wiring) scheduleWords(schedule string) string {
	text := fmt.Sprintf("%d control sets", len(w.spec.ControlSets))
	if strings.Contains(w.spec.Kind, "-psq") {
		return text + ", of which the full one is played where there is one"
	}
	if schedule == "none" && w.cfg.Policy.Parts().PerCost {
		return text + ", of which the best per cost is played"
	}
	if schedule == "none" {
		return text + ", of which the best is played whatever it costs"
	}
	return text + ", schedule " + schedule
}

// driftWords says how the objective changes with time.
func (w *wiring) driftWords() []string {
	d := &w.spec.Drift
	var said []string
	if len(d.Timescale) > 0 {
		times := make([]string, len(d.Timescale))
		for i, t := range d.Timescale {
			times[i] = number(t)
		}
		said = append(said, "drifts over "+strings.Join(times, ", ")+" steps")
	}
	if d.Hold > 0 {
		said = append(said, fmt.Sprintf("holds within %s%% of each range", number(100*d.Hold)))
	}
	if d.Detect {
		said = append(said, "watches for jumps")
	}
	return said
}

// boundWords says where a value should be.
func boundWords(low, high float64) string {
	switch {
	case math.IsInf(low, -1) && math.IsInf(high, 1):
		return "anywhere"
	case math.IsInf(low, -1):
		return "at most " + number(high)
	case math.IsInf(high, 1):
		return "at least " + number(low)
	}
	return "in " + interval(low, high)
}

// kernelName writes a kernel's name out.
func kernelName(kernel string) string {
	switch kernel {
	case "se":
		return "squared exponential"
	case "matern52":
		return "Matern 5/2"
	case "matern32":
		return "Matern 3/2"
	case "rq":
		return "rational quadratic"
	}
	return kernel
}

// modelWords says what the model is.
func (w *wiring) modelWords() string {
	m := &w.spec.Model
	how := "hyperparameters by marginal likelihood, refitted as data come in"
	switch m.Hyperparameters {
	case "fixed":
		how = "hyperparameters fixed"
	case "priors":
		how = w.priorWords()
	}
	return fmt.Sprintf("Gaussian process, %s kernel, %s, at most %d observations", kernelName(m.Kernel), how, m.Capacity)
}

// priorWords says how hyperparameters compete.
func (w *wiring) priorWords() string {
	text := "hyperparameters from a built-in set of priors"
	if n := len(w.spec.Model.Priors); n > 0 {
		text = "hyperparameters from " + count(n, "prior")
	}
	switch w.cfg.Policy.Parts().PriorRule {
	case "sampled":
		return text + ", one drawn by its evidence at each step"
	case "greedy":
		return text + ", the one of most evidence in force"
	case "elimination":
		return text + ", each in force until the data contradict it"
	}
	return text + ", averaged by their evidence"
}
