//go:build !purego

package vec

import "golang.org/x/sys/cpu"

func accelerated() []Tier {
	var t []Tier
	if x := cpu.X86; x.HasAVX2 && x.HasFMA {
		t = append(t, AVX2)
		if x.HasAVX512F && x.HasBMI2 {
			t = append(t, AVX512)
		}
	}
	return t
}
