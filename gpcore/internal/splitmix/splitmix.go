// Package splitmix has one hash function, for streams of numbers that a seed and a
// position determine.
package splitmix

// Mix is the finaliser of SplitMix64: a bijection of 64 bits in which every bit of the
// result depends on every bit of x (G. L. Steele, D. Lea and C. H. Flood, OOPSLA 2014).
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
