//go:build !unix

package vec

import "testing"

// fenced is plain memory where pages cannot be protected.
func fenced(_ testing.TB, n int) []float64 { return make([]float64, n) }
