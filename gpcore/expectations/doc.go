// Package expectations has criteria to maximise: sums of functions of posterior means and
// standard deviations, their expectation taken over coordinates that are left to chance.
//
// [New] makes an [Expected] from [Term]s and [Inputs], [NewSets] several that share work,
// one for each control set of a decision. Where the kernel is a squared exponential, E[mu]
// has a closed form and Jensen's inequality an upper bound, which a search screens with;
// all else is a sum over the nodes of package quadrature. With one term it is the
// acquisition of UCB-CVS or GP-UCB, with a second process for the noise that of RAHBO. An
// Expected is a search.Objective.
package expectations
