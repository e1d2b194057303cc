// Package quadrature has distributions of random coordinates, and rules that turn
// expectations over them into sums.
//
// A [Marginal] is the distribution of one coordinate: [Uniform], [TruncatedNormal] or [Held].
// [Nodes] are a rule: products of Gauss rules for up to three coordinates, scrambled Sobol
// points beyond, or readings of a joint distribution. [Rules.Full] takes the smallest that is at
// least as accurate as 1024 independent draws for the expected standard deviation of a
// Gaussian process with given lengthscales; [Rules.Coarse] is a cheap stand-in.
package quadrature
