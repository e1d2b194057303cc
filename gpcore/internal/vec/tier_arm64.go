//go:build !purego

package vec

// Every arm64 processor has NEON.
func accelerated() []Tier { return []Tier{NEON} }
