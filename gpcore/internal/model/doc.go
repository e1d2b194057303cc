// Package model is the state of a Gaussian process: kernel, points and factor.
//
// A [Core] is one consistent model: a kernel, the [Points] embedded for it and the factor of
// their covariances, with the scratch to change it. What can fail is prepared first
// ([Core.PrepareAppend], [Core.PrepareReplace], [Core.PrepareNoise]) and changes nothing. A
// [Model] holds the core in use and replaces it as a whole where a factorisation goes into
// fresh memory. A [View] reads a model with its own scratch, 24 points at a time: the
// door of the rooms above the process. Nothing here checks its arguments: package gpcore
// does.
package model
