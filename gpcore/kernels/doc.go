// Package kernels has covariance functions for Gaussian processes.
//
// A [Kernel] is immutable. Stationary ones: [SquaredExponential], [Matern52], [Matern32],
// [RationalQuadratic], [Periodic]; of other shapes: [Linear], [Constant], and [Drift], the
// Ornstein-Uhlenbeck process in time. They combine by [Sum], [Product], [On] (some of the
// coordinates) and [Drifting] (a kernel that is forgotten with time). Hyperparameters are
// read and set as natural logarithms; [Kernel.Kinds] says what each one measures. A kernel
// of your own works wherever one of these does, evaluated pair by pair instead of 24 pairs
// at a time. Constructors panic unless hyperparameters are positive and finite.
package kernels
