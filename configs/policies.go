package configs

import "slices"

// The words of [policy] kind, by family. A word names one combination of parts
// that a paper has; the schema accepts them all.
var (
	// The variance of the objective counts, with a weight: risk is required.
	riskPolicies = []string{"rahbo", "rahbo-known-variance", "rahbo-us"}
	// The variance of the objective is learnt from the spread of the shots, which
	// takes two of them.
	variancePolicies = []string{"rahbo", "rahbo-us", "gp-ucb-heteroscedastic"}
	// Control sets with costs.
	subsetPolicies = []string{
		"ucb-cvs", "ucb-cvs-etc-50", "ucb-cvs-etc-100", "ucb-cvs-etc-ada",
		"ucb-psq", "ts-psq", "ei-psq", "ucb-psq-per-cost", "ts-psq-per-cost", "ei-psq-per-cost",
	}
	// Costs that depend on the setting.
	costPolicies = []string{"costids", "ei", "ei-per-cost", "mes", "multi-fidelity-mes"}
	// Several priors, one of which is right.
	priorPolicies = []string{"hp-gp-ts", "pe-gp-ts", "map-gp-ts", "pe-gp-ucb", "gp-ts", "gp-ucb"}
	// Confidence parameters under a name of their own, and what they are compared with.
	otherPolicies = []string{"irgp-ucb", "rgp-ucb", "ts", "pims", "jes", "random", "sobol"}
)

// Policies lists the words of [policy] kind that the schema knows.
func Policies() []string {
	return slices.Concat(riskPolicies, []string{"gp-ucb-heteroscedastic"}, subsetPolicies, costPolicies, priorPolicies, otherPolicies)
}
