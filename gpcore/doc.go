// Package gpcore is exact Gaussian-process regression in bounded time and memory,
// for programs that must decide at every step of a run of weeks.
//
// # What it computes
//
// An observation is y_i = f(x_i) + e_i: a point x_i of d coordinates, a target y_i
// and its own noise variance, e_i ~ N(0, noise_i), independent. The function
// f has a Gaussian-process prior with mean zero and covariance k, the kernel. With
// K_ij = k(x_i, x_j) + noise_i [i = j] and k_i = k(x_i, x), the posterior of f at x
// is normal with
//
//	mean(x)     = k^T K^-1 y
//	variance(x) = k(x, x) - k^T K^-1 k
//
// and the log marginal likelihood is -y^T K^-1 y/2 - log det(K)/2 - n/2 log(2 pi)
// (Rasmussen & Williams 2006, chapter 2). Variances are variances, in squared units
// of y; nothing here is a standard deviation unless its name says SD. The
// predictive variance of a new reading is variance(x) plus its noise. Data with a
// mean other than zero have it subtracted by the caller, or get a kernels.Constant in
// their kernel, or a mean in a [Prior].
//
// # How
//
// A [GP] is made for at most capacity observations, takes memory as they come (for 128
// at first, then doubling, to 8 capacity^2 bytes), and keeps W, the inverse of the Cholesky factor of K, beside
// alpha = K^-1 y. Adding an observation appends a row to W; taking one out rotates
// the rows below it; a change of one noise is a rank-one update. All of these cost
// O(n^2) and allocate nothing else. Only rotations and rows built afresh ever touch W, so
// rounding errors do not grow with the number of steps, and no periodic
// refactorisation is needed: [GP.Audit] watches that at O(n) a step. What needs one,
// new hyperparameters or many new noises, is done at once ([GP.SetKernel],
// [GP.SetNoises], O(n^3/3)), or is bounded with a certificate ([GP.TrackNoises]).
//
// # What is in it
//
// Here are the processes: [GP]; [Reader], for concurrent reading; [PriorSet], for several
// hypotheses side by side, weighted by their evidence. The rest are packages of their own:
//
//	kernels       covariance functions and their sums and products
//	expectations  criteria: functions of posterior means and deviations, averaged
//	              over coordinates that are left to chance
//	quadrature    distributions of such coordinates, and rules to average by
//	search        where a criterion is largest, in numbered units of work
//	sampling      draws: joint, on a fixed set of candidates, as whole functions
//	fitting       the most probable hyperparameters
//	watch         posteriors at fixed points, kept up to date
//	sobol         points that fill a cube evenly
//
// # Shapes
//
// Points are slices of d float64; several are one slice, row-major: point j is
// x[j*d : (j+1)*d]. Results go to slices of the caller, first in the argument list.
// Inputs are copied where they must be kept. The panics of this package are for
// slices of the wrong length and for hyperparameters that are not positive: errors
// of the program. What data can cause is an error: [ErrFull],
// [ErrNotPositiveDefinite], [ErrIndex], [ErrShape] or a [*ValueError] that names the
// number. A method that returns an error has changed nothing, unless it says so.
//
// # Limits
//
// Two observations at one point with no noise, or so little beside k(x, x) that
// rounding hides it (n * 2e-15), make K singular: [ErrNotPositiveDefinite]. From
// there to noise 1e12 times the prior variance, means and variances carry an
// absolute error of some n * 1e-16 times the prior's, so a variance much below
// 1e-13 k(x, x) is all rounding. Targets beyond 1e100 and noise variances beyond 1e300
// are refused, because their squares or reciprocals would overflow.
//
// Results are the same bits on every processor of an architecture, whatever vector
// instructions it has; the build tag purego takes none.
package gpcore
