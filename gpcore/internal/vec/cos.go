package vec

import "math"

// cosRange is up to where Cos reduces an argument itself: there a multiple of the first two parts
// of pi is exact.
const cosRange = 1 << 23

// Pi in parts of 27, 27 and 53 bits, so that k times the first two is exact.
const (
	pi1 = 0x1.921fb54000000p+1
	pi2 = 0x1.10b4610000000p-29
	pi3 = 0x1.a62633145c06ep-57
)

// roundToInt added to a number below 2^51 leaves the nearest integer in its low bits.
const roundToInt = 0x1.8p52

// Cos replaces each x by its cosine, within 6e-16. With k the nearest integer to x/pi it is
// (-1)^k cos(x - k pi), by the Taylor polynomial of degree 20, whose next term is below 2e-17
// at pi/2. Products are rounded before they are added, so the bits are the same everywhere.
func Cos(x []float64) {
	const c1, c2, c3, c4, c5 = -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800
	const c6, c7, c8 = 1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000
	const c9, c10 = -1.0 / 6402373705728000, 1.0 / 2432902008176640000
	for i, v := range x {
		if !(v < cosRange && v > -cosRange) {
			x[i] = math.Cos(v)
			continue
		}
		shifted := float64(v*(1/math.Pi)) + roundToInt
		k := shifted - roundToInt
		r := v - float64(k*pi1) - float64(k*pi2) - float64(k*pi3)
		s := float64(r * r)
		// Two halves of the polynomial, which a processor evaluates side by side.
		q := float64(s * s)
		even := float64((float64((float64((float64((float64(c10*q)+c8)*q)+c6)*q)+c4)*q) + c2) * q)
		odd := float64((float64((float64((float64((float64(c9*q)+c7)*q)+c5)*q)+c3)*q) + c1) * s)
		c := 1 + (odd + even)
		x[i] = math.Float64frombits(math.Float64bits(c) ^ math.Float64bits(shifted)<<63)
	}
}
