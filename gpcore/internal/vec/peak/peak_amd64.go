//go:build !purego

package peak

func loops() []Loop {
	return []Loop{
		{Tier: "avx2", Run: peakAVX2, Flops: 2 * 12 * 4},
		{Tier: "avx512", Run: peakAVX512, Flops: 2 * 12 * 8},
	}
}
