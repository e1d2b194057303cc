// Package policytest has the posterior of a drifting objective by dense formulas, for tests.
package policytest
