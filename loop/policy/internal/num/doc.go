// Package num has small numerical functions and the random streams of a policy, each a
// function of the seed, a purpose and a step.
package num
