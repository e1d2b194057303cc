// Package search finds where functions are largest: acquisitions over a box, discrete
// values or a list, side by side, in numbered units of work that can be cut at any time.
//
// An [Objective] is evaluated in batches. What else it can do it says by interfaces:
// gradients ([Differentiable]), a cheaper stand-in or bound ([Surrogated]), distances
// ([Scaled]), preparation ([Preparer]), work shared with others ([Grouped]) and values kept
// from search to search ([Watchable]); expectations.Expected has all of them. One with a penalty for
// missed limits says which ([Limited]), so that climbs follow their edge. [Maximize]
// searches one [Problem]; a [Search] several, again and again, with memory that it keeps.
// The same problems, seed and number of units give the same result on any number of cores.
package search
