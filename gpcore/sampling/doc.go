// Package sampling draws functions from the posterior of a process.
//
// [Joint] draws values at a few points, exactly, at O(m^3) once; [DrawJoint] does it once.
// [Finite] draws at a fixed set of candidates that all observations are at: the prior is
// factorised once, each draw is corrected by the data (Matheron's rule). [Path] is a whole
// function with gradients, made of random Fourier features and the same correction: exact at the data,
// approximate elsewhere. All draw from a generator that the caller passes.
package sampling
