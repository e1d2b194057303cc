//go:build purego || !arm

package vec

func powers(q, low *row) { q.exp2(low) }
