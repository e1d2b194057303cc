package policy

import (
	"math"
	"strings"
	"testing"

	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/space"
)

// cvsSpec is a small valid problem with subsets.
func cvsSpec() Spec {
	s := Spec{Kind: "ucb-cvs", Variables: box(3), Confidence: "constant", Beta: 2, Schedule: "etc-ada", Design: "random",
		InitialSteps: 3, Model: model.Spec{Kernel: "se", Hyperparameters: "fit"}}
	s.ControlSets = sets(3, []float64{.1, .2, 1}, []int{0}, []int{0, 1}, []int{0, 1, 2})
	return s
}

// refusal is a valid specification, an edit that spoils it, and the words that the
// error must have.
type refusal struct {
	want string
	spec Spec
	edit func(*Spec)
}

// refused checks that each edit is refused in words that name it and its bound.
func refused(t *testing.T, cases []refusal) {
	t.Helper()
	for _, c := range cases {
		s := c.spec
		if _, err := New(s); err != nil {
			t.Fatalf("the unedited specification is refused: %v", err)
		}
		c.edit(&s)
		_, err := New(s)
		if err == nil {
			t.Errorf("accepted, want %q", c.want)
		} else if !strings.HasPrefix(err.Error(), "policy: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %q, want %q", err, c.want)
		}
	}
}

func TestNewRefusesNamesAndFactors(t *testing.T) {
	nan := math.NaN()
	refused(t, []refusal{
		{`kind "rabho" is not known: use one of rahbo, `, rahboSpec(2, 1), func(s *Spec) { s.Kind = "rabho" }},
		{`kernel "rbf" is not known: use one of se, matern52`, rahboSpec(2, 1), func(s *Spec) { s.Model.Kernel = "rbf" }},
		{`lengthscale prior "vague" is not known: use one of range, dimension`, rahboSpec(2, 1), func(s *Spec) { s.Model.LengthscalePrior = "vague" }},
		{`hyperparameters "ml" is not known: use one of fit, priors, fixed`, rahboSpec(2, 1), func(s *Spec) { s.Model.Hyperparameters = "ml" }},
		{`schedule "etc" is not known: use one of auto, etc-ada, etc-50, etc-100, epsilon`, cvsSpec(), func(s *Spec) { s.Schedule = "etc" }},
		{`confidence "bolder" is not known: use one of constant`, rahboSpec(2, 1), func(s *Spec) { s.Confidence = "bolder" }},
		{`variance model "sqrt" is not known: use one of log, raw`, rahboSpec(2, 1), func(s *Spec) { s.VarianceModel = "sqrt" }},
		{`initial design "grid" is not known: use one of sobol, random`, rahboSpec(2, 1), func(s *Spec) { s.Design = "grid" }},
		{`risk -1 must be finite and not negative`, rahboSpec(2, 1), func(s *Spec) { s.Risk = -1 }},
		{`risk NaN must be finite`, rahboSpec(2, 1), func(s *Spec) { s.Risk = nan }},
		{`risk 1 has no meaning for kind "gp-ucb" here: use kind "rahbo", or risk 0`, rahboSpec(2, 1), func(s *Spec) { s.Kind = "gp-ucb" }},
		{`beta 0 must be positive and finite (2 is usual)`, rahboSpec(2, 1), func(s *Spec) { s.Beta = 0 }},
		{`beta NaN must be positive`, rahboSpec(2, 1), func(s *Spec) { s.Beta = nan }},
	})
}

func TestNewRefusesVariables(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	refused(t, []refusal{
		{`there is no variable`, rahboSpec(2, 1), func(s *Spec) { s.Variables = nil }},
		{`257 variables: at most 256 are possible in a policy's search, measured ones too; leave some out, they stay as they are`, rahboSpec(2, 1), func(s *Spec) { s.Variables = box(257) }},
		{`variable "x0" is named twice`, rahboSpec(2, 1), func(s *Spec) { s.Variables[1].Name = "x0" }},
		{`variable "x0": range [3, 1] must have its low end below its high end`, rahboSpec(2, 1), func(s *Spec) { s.Variables[0].Low, s.Variables[0].High = 3, 1 }},
		{`variable "x0": range [NaN, 1] must be finite`, rahboSpec(2, 1), func(s *Spec) { s.Variables[0].Low = nan }},
		{`variable "x0": start +Inf must be finite, or NaN`, rahboSpec(2, 1), func(s *Spec) { s.Variables[0].Start = inf }},
		{`variable "x0": resolution -1 must be finite and not negative`, rahboSpec(2, 1), func(s *Spec) { s.Variables[0].Resolution = -1 }},
		{`variable "x0": no multiple of 5 lies in the range [1, 4]`, rahboSpec(2, 1), func(s *Spec) {
			s.Variables[0].Low, s.Variables[0].High, s.Variables[0].Resolution = 1, 4, 5
		}},
		{`variable "x0": resolution 0.5 of an integer must be a whole number`, rahboSpec(2, 1), func(s *Spec) {
			s.Variables[0].Integer, s.Variables[0].Resolution = true, 0.5
		}},
		{`variable "x0": level 2 lies outside the range [0, 1]`, rahboSpec(2, 1), func(s *Spec) { s.Variables[0].Levels = []float64{0, 2} }},
		{`variable "x0": level NaN lies outside`, rahboSpec(2, 1), func(s *Spec) { s.Variables[0].Levels = []float64{nan} }},
		{`variable "x0": level 0.5 follows 0.5, but levels must grow`, rahboSpec(2, 1), func(s *Spec) { s.Variables[0].Levels = []float64{0.5, 0.5} }},
		{`variable "x1": normal distribution with mean 0.5 and sd 0`, cvsSpec(), func(s *Spec) {
			s.Variables[1].Random = space.Distribution{Kind: space.TruncatedNormal, Mean: 0.5}
		}},
		{`variable "x1": normal distribution with mean 9 and sd 0.5 practically never falls in the range [0, 1]`, cvsSpec(), func(s *Spec) {
			s.Variables[1].Random = space.Distribution{Kind: space.TruncatedNormal, Mean: 9, SD: 0.5}
		}},
		{`variable "x1": random kind 9 is not known`, cvsSpec(), func(s *Spec) { s.Variables[1].Random.Kind = 9 }},
	})
}

func TestNewRefusesControlSets(t *testing.T) {
	nan := math.NaN()
	refused(t, []refusal{
		{`there is no control set`, cvsSpec(), func(s *Spec) { s.ControlSets = nil }},
		{`control set 2 has 1 entries for 3 variables`, cvsSpec(), func(s *Spec) { s.ControlSets[1].Controlled = []bool{true} }},
		{`control set 1 controls no variable`, cvsSpec(), func(s *Spec) { s.ControlSets[0].Controlled = make([]bool, 3) }},
		{`control set 1: cost -0.1 must be finite and not negative`, cvsSpec(), func(s *Spec) { s.ControlSets[0].Cost = -0.1 }},
		{`control set 1: cost NaN`, cvsSpec(), func(s *Spec) { s.ControlSets[0].Cost = nan }},
		{`control sets 1 and 3 hold the same variables`, cvsSpec(), func(s *Spec) { s.ControlSets[2].Controlled = s.ControlSets[0].Controlled }},
		{`kind "rahbo-us" needs exactly one control set that holds every variable: for a choice among control sets use "rahbo" or "ucb-cvs"`, rahboSpec(3, 1), func(s *Spec) {
			s.Kind, s.ControlSets = "rahbo-us", cvsSpec().ControlSets
		}},
		{`variance model "raw" takes the sampling noise of a variance as the same everywhere`, rahboSpec(3, 1), func(s *Spec) {
			s.Risk, s.VarianceModel, s.ControlSets = 1, varianceRaw, cvsSpec().ControlSets
		}},
		{`random draws "batch" is not known: use one of shot, step`, rahboSpec(3, 1), func(s *Spec) { s.RandomDraws = "batch" }},
		{`budget 0.05 is below 0.1, the cost of the cheapest control set`, cvsSpec(), func(s *Spec) { s.Budget = 0.05 }},
		{`budget NaN must be finite`, cvsSpec(), func(s *Spec) { s.Budget = nan }},
		{`schedule "epsilon" needs a list of epsilon`, cvsSpec(), func(s *Spec) { s.Schedule = "epsilon" }},
		{`epsilon -1 must be finite and not negative`, cvsSpec(), func(s *Spec) { s.Schedule, s.Epsilon = "epsilon", []float64{-1} }},
		{`candidate 2 has 1 values for 2 variables`, rahboSpec(2, 1), func(s *Spec) { s.Candidates = [][]float64{{0, 0}, {1}} }},
		{`candidate 1: 3 of variable "x1" lies outside the range [0, 1]`, rahboSpec(2, 1), func(s *Spec) { s.Candidates = [][]float64{{0, 3}} }},
		{`candidate 1: NaN of variable "x1"`, rahboSpec(2, 1), func(s *Spec) { s.Candidates = [][]float64{{0, nan}} }},
	})
}

func TestNewRefusesModels(t *testing.T) {
	nan := math.NaN()
	refused(t, []refusal{
		{`initial steps -1 must not be negative`, rahboSpec(2, 1), func(s *Spec) { s.InitialSteps = -1 }},
		{`work units -1 must not be negative`, rahboSpec(2, 1), func(s *Spec) { s.WorkUnits = -1 }},
		{`capacity 1 must be at least 2`, rahboSpec(2, 1), func(s *Spec) { s.Model.Capacity = 1 }},
		{`refit lag 7 must not exceed refit every 5`, rahboSpec(2, 1), func(s *Spec) { s.Model.RefitLag = 7 }},
		{`1 fixed lengthscales for 2 variables`, rahboSpec(2, 1), func(s *Spec) {
			s.Model = model.Spec{Kernel: "se", Hyperparameters: "fixed", Lengthscale: []float64{1}, Outputscale: 1}
		}},
		{`fixed lengthscale 0 must be positive`, rahboSpec(2, 1), func(s *Spec) {
			s.Model = model.Spec{Kernel: "se", Hyperparameters: "fixed", Lengthscale: []float64{1, 0}, Outputscale: 1}
		}},
		{`fixed outputscale 0 must be positive`, rahboSpec(2, 1), func(s *Spec) {
			s.Model = model.Spec{Kernel: "se", Hyperparameters: "fixed", Lengthscale: []float64{1, 1}}
		}},
		{`fixed noise sd NaN must be finite`, rahboSpec(2, 1), func(s *Spec) {
			s.Model = model.Spec{Kernel: "se", Hyperparameters: "fixed", Lengthscale: []float64{1, 1}, Outputscale: 1, NoiseSD: nan}
		}},
		{`fixed mean NaN must be finite`, rahboSpec(2, 1), func(s *Spec) {
			s.Model = model.Spec{Kernel: "se", Hyperparameters: "fixed", Lengthscale: []float64{1, 1}, Outputscale: 1, Mean: nan}
		}},
	})
}

// All problems are told at once.
func TestNewTellsEverything(t *testing.T) {
	s := cvsSpec()
	s.Schedule, s.Beta, s.Model.Kernel = "never", -1, ""
	s.Variables[0].High = -3
	_, err := New(s)
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{`schedule "never"`, "beta -1", `kernel ""`, `variable "x0"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in %q", want, err)
		}
	}
}
