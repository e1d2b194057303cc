// Package gpcore is exact Gaussian-process regression in bounded time and memory.
//
// A process ([GP]) holds at most a fixed number of observations, each with a
// noise variance of its own, and keeps the inverse Cholesky factor of their
// covariance matrix through every change: adding, removing, replacing an
// observation, or changing its target or noise, costs O(n^2) and allocates
// nothing, on the millionth step as on the first.
package gpcore
