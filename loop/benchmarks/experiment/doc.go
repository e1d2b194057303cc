// Package experiment says what an experiment is, and plays it. An Experiment names a problem,
// what may be spent, and the policies that are compared; its Problem is drawn from the seed. A
// Run plays policies against seeds and gives Results, which are written, merged and summarised
// here. The experiments themselves are in package benchmarks, whose comment has the words.
//
// Every random number is a function of (seed, purpose, step): see Stream.
package experiment
