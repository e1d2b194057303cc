// Package acquisition has the functions that decisions maximise: upper confidence bounds,
// samples of the posterior, improvements, informations, information-directed sampling.
//
// A [Function] is given one [Decision], which holds what may be known of a step: control
// sets and their domains, posteriors, the confidence parameter, the mean-variance
// criterion, costs, constraints and the seed. It returns [Option] values: functions to
// maximise, at least one for each control set, with what their values measure. It changes
// nothing, proposes nothing and knows no policy. Where it depends on its own search
// (a sampled maximum, the greatest bound) it calls Decision.Search, whose work units are
// those of the decision.
//
// To add one: a file here, and its row in kinds.go of loop/policy.
package acquisition
