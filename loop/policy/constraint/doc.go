// Package constraint has the bounds on measured quantities that are learnt: a Gaussian
// process for each, the probability that a setting keeps all of them, what takes a search
// to settings that do ([Limiter]), and which settings may be recommended. It is advice
// learnt from the data, which is broken while it is learnt: what must never happen belongs
// to the safety layer.
package constraint
