// Package peak holds the yardstick of the benchmarks of package vec: loops that do
// nothing but multiply-adds between registers, one per tier. Only tests import it.
package peak

// Loop is the loop of one tier.
type Loop struct {
	Tier  string      // as vec.Tier's name
	Run   func(n int) // n rounds, n > 0; the processor must have the tier
	Flops float64     // floating-point operations a round
}

// For returns the loop of a tier; the reference has none.
func For(tier string) (Loop, bool) {
	for _, l := range loops() {
		if l.Tier == tier {
			return l, true
		}
	}
	return Loop{}, false
}
