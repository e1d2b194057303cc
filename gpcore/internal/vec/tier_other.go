//go:build purego || (!amd64 && !arm64 && !arm)

package vec

func accelerated() []Tier { return nil }
