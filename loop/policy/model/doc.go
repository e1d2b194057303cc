// Package model has the posterior of the standardised objective and of its noise, on
// observations of a bounded number. [Model] learns rows one by one and gives a [View]: one
// Gaussian process where hyperparameters are given or fitted, a mixture where priors
// compete by their evidence. Hyperparameters come about by [Rules]: given, fitted in the
// background on a schedule of steps, or a set of priors whose weights are updated with each
// observation. The noise of a shot is constant, learnt from the sample variances, or known.
//
// All of it is a function of the specification and the sequence of observations: when it
// is asked, and how long a fit takes, changes no bit.
package model
