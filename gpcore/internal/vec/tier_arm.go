//go:build !purego

package vec

import "golang.org/x/sys/cpu"

func accelerated() []Tier {
	if cpu.ARM.HasVFPv4 {
		return []Tier{VFPv4}
	}
	return nil
}
