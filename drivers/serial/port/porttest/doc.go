// Package porttest has a port in memory for tests, and finds what a port left behind.
package porttest
