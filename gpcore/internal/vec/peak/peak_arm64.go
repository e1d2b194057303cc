//go:build !purego

package peak

func loops() []Loop { return []Loop{{Tier: "neon", Run: peakNEON, Flops: 2 * 12 * 2}} }
