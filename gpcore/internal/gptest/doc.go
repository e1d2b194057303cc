// Package gptest has what tests of several rooms of gpcore share: kernels, worlds, tiers.
package gptest
