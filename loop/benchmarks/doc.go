// Package benchmarks holds the experiments of five papers, and some of our own, as
// data. Package experiment says what an experiment is and plays policies against it;
// package landscape has the functions that several of them are made of.
//
// # Words
//
// An Experiment names a problem, what may be spent on it, how it begins, and the
// policies that are compared. Its Problem is drawn from the seed: the true
// objective, its noise, the variables and control sets, and what regret counts. A
// Competitor is one policy of an experiment: a function that turns a problem into
// the specification that [policy.New] takes. Nothing here knows how a policy works
// inside; it proposes, is told the outcome, and recommends.
//
// The worth of a step is what the experiment's authors count: the true objective,
// its expectation over the random variables, or the mean-variance objective. The
// best worth is known for each problem, and
//
//	regret_t            = best - worth of step t
//	simple regret_t     = the least regret of steps 1 ... t
//	cumulative regret_t = the sum of the regrets of steps 1 ... t
//
// All of them are free of noise, in the objective's unit. Steps of the initial
// design are counted only where an experiment says so.
//
// # Chance
//
// Every random number is a function of (seed, purpose, step), so a seed gives the
// same result on any number of workers, and all policies of an experiment meet the
// same problem, the same initial design, the same noise and the same surroundings at
// the same step of the same seed. Differences between policies can be judged in
// pairs.
package benchmarks
