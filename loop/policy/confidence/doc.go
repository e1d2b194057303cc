// Package confidence has the confidence parameters of upper confidence bounds: constant,
// heuristic, of theorems (Srinivas et al.; RAHBO's Lemma 1), and randomised (RGP-UCB,
// IRGP-UCB). A [Parameter] says for a step what multiplies the posterior standard
// deviation; [Words] lists the formulas. A randomised one is a function of the seed and the
// step, so all control sets of a step share one draw.
package confidence
