package policy

import (
	"github.com/labtuner/tuner/loop/policy/acquisition"
	"github.com/labtuner/tuner/loop/policy/confidence"
	"github.com/labtuner/tuner/loop/policy/constraint"
	"github.com/labtuner/tuner/loop/policy/cost"
	"github.com/labtuner/tuner/loop/policy/drift"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/model"
	"github.com/labtuner/tuner/loop/policy/risk"
	"github.com/labtuner/tuner/loop/policy/space"
)

// The plain data of a specification and of what a policy reports, defined in its rooms.
type (
	// Variable is one input.
	Variable = space.Variable
	// Distribution says what a random variable does.
	Distribution = space.Distribution
	// ControlSet is a subset of the variables that a step can control.
	ControlSet = space.ControlSet
	// Model describes the Gaussian process.
	Model = model.Spec
	// Prior is one hypothesis about the objective.
	Prior = model.Prior
	// PriorReport describes the state of hypotheses that compete.
	PriorReport = model.PriorReport
	// Constraint is a bound on a measured quantity, which is learnt: advice, not safety.
	Constraint = constraint.Spec
	// Drift says how the objective changes with time.
	Drift = drift.Spec
	// SearchSpec, CostSpec and RiskSpec are parts of a specification.
	SearchSpec = acquisition.SearchSpec
	CostSpec   = cost.Spec
	RiskSpec   = risk.Spec
)

// The families of distributions: see space.
const (
	Held            = space.Held
	Uniform         = space.Uniform
	TruncatedNormal = space.TruncatedNormal
	Learnt          = space.Learnt
)

// RenewEvery: at steps that it divides, what is kept for searches begins anew. Whoever derives
// decisions of a run anew begins at such a step.
const RenewEvery = acquisition.RenewEvery

// ErrBudget: every control set costs more than what is left of the budget.
var ErrBudget = cost.ErrBudget

// Kernels lists the words of Model.Kernel and Prior.Kernel: see model.Kernels.
func Kernels() []string { return model.Kernels() }

// Confidences lists the words of Spec.Confidence: see confidence.Words.
func Confidences() []string { return confidence.Names() }

// NaNs returns a new slice of n NaN.
func NaNs(n int) []float64 { return num.NaNs(n) }
