// Package gptest has what tests of several rooms of gpcore share: kernels, processes, tiers.
package gptest
