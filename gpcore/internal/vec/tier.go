package vec

import (
	"fmt"
	"slices"
)

// Tier is an implementation of the loops of this package. All tiers return the
// same bits.
type Tier int

const (
	// Reference is the Go code that defines every function.
	Reference Tier = iota
	// AVX2 is amd64 with 256-bit vectors and fused multiply-add.
	AVX2
	// AVX512 is amd64 with 512-bit vectors (foundation and BMI2).
	AVX512
	// NEON is arm64 with its 128-bit vectors.
	NEON
	// VFPv4 is 32-bit ARM with fused multiply-add.
	VFPv4
)

// String is the lower-case name: reference, avx2, avx512, neon or vfpv4.
func (t Tier) String() string {
	return [...]string{"reference", "avx2", "avx512", "neon", "vfpv4"}[t]
}

// Named is the tier with this name. It returns an error for a name that there is not
// and for a tier that this processor or this build does not have.
func Named(name string) (Tier, error) {
	for t := Reference; t <= VFPv4; t++ {
		if t.String() != name {
			continue
		}
		if !slices.Contains(Tiers(), t) {
			return 0, fmt.Errorf("vec: tier %q is not available here, only %v", name, Tiers())
		}
		return t, nil
	}
	return 0, fmt.Errorf("vec: no tier is called %q; there are %v", name, []Tier{Reference, AVX2, AVX512, NEON, VFPv4})
}

// active is what the functions use: the fastest that this processor has.
var active = fastest()

func fastest() Tier {
	t := Tiers()
	return t[len(t)-1]
}

// Tiers returns what this processor has, the reference first, the fastest last.
func Tiers() []Tier { return append([]Tier{Reference}, accelerated()...) }

// Active is the tier in use.
func Active() Tier { return active }

// Use switches the whole process to a tier and returns what undoes it. It is for
// tests and measurements: no function of this package may run meanwhile. A tier
// that the processor does not have panics.
func Use(t Tier) (restore func()) {
	if !slices.Contains(Tiers(), t) {
		panic("vec: Use: this processor does not have the tier")
	}
	old := active
	active = t
	return func() { active = old }
}
