// Package decide has the decisions of the papers, for tests and benchmarks.
package decide
