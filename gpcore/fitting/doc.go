// Package fitting finds the most probable hyperparameters of a kernel given data.
//
// A [Problem] has the data, the family and the priors, [LogNormal] for positive quantities;
// [Workspace.Fit] climbs the log marginal likelihood plus the log prior from several starts and
// returns the best point seen, a [Result], also where its context ends. A noise variance
// and a constant mean may be fitted beside the kernel.
package fitting
