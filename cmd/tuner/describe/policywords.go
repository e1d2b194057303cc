package describe

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop/policy"
)

// kindName is what texts call a kind.
func kindName(kind string) string {
	k, _ := policy.KindOf(kind)
	return k.DisplayName()
}

// acquisitionWords says what a decision maximises of something.
func acquisitionWords(name, of string) string {
	a, _ := policy.AcquisitionOf(name)
	if a.Description == "" {
		return name + " of " + of
	}
	return fmt.Sprintf(a.Description, of)
}

// policyWords says who decides: the parts that are in force, whatever they were named
// by.
func policyWords(w *setup.Setup) string {
	parts := w.Config.Policy.Parts()
	if parts.Acquisition == "none" {
		return kindName(parts.Kind)
	}
	said := []string{kindName(parts.Kind) + ": " + soughtWords(w, parts)}
	if parts.Confidence != "" {
		text := "confidence " + parts.Confidence
		if parts.Confidence == "constant" {
			text += fmt.Sprintf(" (%s standard deviations)", show.Number(w.Spec.Beta))
		}
		said = append(said, text)
	}
	if parts.Acquisition == "ids" {
		said = append(said, fmt.Sprintf("the cheapest step within %s of the best ratio", show.Number(w.Spec.Rho)))
	}
	if len(w.Spec.ControlSets) > 1 {
		said = append(said, scheduleWords(w, parts.Schedule))
	}
	said = append(said, exploreWords(w, parts)...)
	said = append(said, driftWords(w)...)
	for _, c := range w.Spec.Constraints {
		said = append(said, "keeps "+c.Name+" "+boundWords(c.Low, c.High)+" where it can")
	}
	said = append(said, fmt.Sprintf("%s of %s first", w.Spec.Design, show.Count(w.Spec.InitialSteps, "step")))
	said = append(said, manyWords(w)...)
	return strings.Join(said, "; ")
}

// manyWords offers, to a policy that is the usual one of few variables, that of many.
func manyWords(w *setup.Setup) []string {
	kind := policy.OfferedKind(w.Spec)
	if kind == "" {
		return nil
	}
	return []string{fmt.Sprintf("of so many variables kind = %q often finds the few that act sooner, and takes longer where all act", kind)}
}

// soughtWords says what is maximised, of what.
func soughtWords(w *setup.Setup, parts configs.Parts) string {
	of := "the objective"
	if w.Spec.Risk > 0 || parts.Risky {
		of = "the mean minus " + show.Number(w.Spec.Risk) + " times the variance of one shot"
	}
	text := acquisitionWords(parts.Acquisition, of)
	if parts.PerCost {
		text += ", per cost"
	}
	text += noiseWords(w, parts.Noise)
	if w.Spec.Kind == "rahbo-us" {
		text += " before the objective"
	}
	return text
}

// noiseWords says where the variance of one shot comes from. Where risk counts and steps leave variables
// alone every kind learns it, and their spread counts as well.
func noiseWords(w *setup.Setup, noise configs.Noise) string {
	adds := w.Spec.Risk > 0 && slices.ContainsFunc(w.Spec.ControlSets, func(s policy.ControlSet) bool { return !s.Full() })
	text := ""
	switch {
	case noise == configs.NoiseKnown:
		text = ", the noise at each setting known"
	case noise == configs.NoiseLearnt || adds:
		text = ", the noise at each setting learnt"
	}
	if !adds {
		return text
	}
	drawn := map[string]string{"shot": "a new value for each shot", "step": "one value for all shots of a step"}[w.Spec.RandomDraws]
	return text + ", knobs left alone add their spread (" + cmp.Or(drawn, "by shot or by step, as measured") + ")"
}

// scheduleWords says how one of several control sets is taken.
func scheduleWords(w *setup.Setup, schedule string) string {
	text := show.Count(len(w.Spec.ControlSets), "control set")
	if strings.Contains(w.Spec.Kind, "-psq") {
		return text + ", of which the full one is played where there is one"
	}
	if schedule == "none" && w.Config.Policy.Parts().PerCost {
		return text + ", of which the best per cost is played"
	}
	if schedule == "none" && w.Config.Policy.Parts().Acquisition == "gittins" {
		return text + ", of which the one of the highest index is played, which weighs what it costs"
	}
	if schedule == "none" {
		return text + ", of which the best is played whatever it costs"
	}
	return text + ", schedule " + schedule
}

// exploreWords says until when steps that bring nothing new are followed by ones far from all.
func exploreWords(w *setup.Setup, parts configs.Parts) []string {
	until := w.Spec.ExploresUntil()
	if until == 0 || parts.PriorRule != "averaged" {
		return nil
	}
	text := "explores elsewhere once steps bring nothing new"
	if until < math.MaxInt {
		text += fmt.Sprintf(", until step %d", until)
	}
	return []string{text}
}

// driftWords says how the objective changes with time.
func driftWords(w *setup.Setup) []string {
	d := &w.Spec.Drift
	var said []string
	if len(d.Timescale) > 0 {
		times := make([]string, len(d.Timescale))
		for i, t := range d.Timescale {
			times[i] = show.Number(t)
		}
		said = append(said, "drifts over "+strings.Join(times, ", ")+" steps")
	}
	if d.Hold > 0 {
		said = append(said, fmt.Sprintf("holds within %s%% of each range", show.Number(100*d.Hold)))
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
		return "at most " + show.Number(high)
	case math.IsInf(high, 1):
		return "at least " + show.Number(low)
	}
	return "in " + show.Interval(low, high)
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
func modelWords(w *setup.Setup) string {
	m := &w.Spec.Model
	how := "hyperparameters by marginal likelihood, refitted as data come in"
	switch m.Hyperparameters {
	case "fixed":
		how = "hyperparameters fixed"
	case "priors":
		how = priorWords(w)
	}
	f := policy.FactorsOf(w.Spec)
	most := fmt.Sprintf("at most %d observations in %s", m.Capacity, show.Count(f.Objective, "model"))
	if f.Objective > 1 {
		most += " side by side"
	}
	var others []string
	if f.Noise > 0 {
		others = append(others, fmt.Sprintf("%d of the noise", f.Noise))
	}
	if f.Constraints > 0 {
		others = append(others, fmt.Sprintf("%d of constraints", f.Constraints))
	}
	if others != nil {
		most += ", beside " + strings.Join(others, " and ")
	}
	most += fmt.Sprintf(" (%.0f MB when full)", math.Ceil(float64(f.Bytes)/1e6))
	if usual := w.Config.Model.Capacity; usual != m.Capacity {
		most += fmt.Sprintf(", the default of hyperparameters \"priors\" (of others %d)", usual)
	}
	of := ""
	if policy.LearnsLogarithm(w.Spec) {
		of = ", through a logarithm once readings ask for one"
	}
	return fmt.Sprintf("Gaussian process, %s kernel%s, %s, %s", kernelName(m.Kernel), of, how, most)
}

// priorWords says how hyperparameters compete.
func priorWords(w *setup.Setup) string {
	text := "hyperparameters from a built-in set of priors"
	if n := len(w.Spec.Model.Priors); n > 0 {
		text = "hyperparameters from " + show.Count(n, "prior")
		if n == 1 {
			return text
		}
	}
	switch w.Config.Policy.Parts().PriorRule {
	case "sampled":
		return text + ", one drawn by its evidence at each step"
	case "greedy":
		return text + ", the one of most evidence in force"
	case "elimination":
		return text + ", each in force until the data contradict it"
	}
	return text + ", averaged by their evidence"
}
