package vec

import "math"

const (
	// splitter cuts a number into two of 26 bits (Dekker and Veltkamp).
	splitter = 1<<27 + 1
	// Biased exponents of factors and the greatest of a summand for which no step of unfused overflows,
	// nor loses a bit by underflow: the last bit of a product is above 2^-1074.
	leastFactor, mostFactor, mostSummand = 1023 - 480, 1023 + 480, 1023 + 970
)

// unfused is x*y + z, rounded once, by additions and products that are rounded, after S. Boldo and
// G. Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to odd",
// IEEE Transactions on Computers 57 (2008).
func unfused(x, y, z float64) float64 {
	if !isFactor(x) || !isFactor(y) || exponent(z) > mostSummand {
		return math.FMA(x, y, z)
	}
	product, low := timesExact(x, y)
	sum, rest := plusExact(z, low)
	high, middle := plusExact(product, sum)
	return high + plusOdd(rest, middle)
}

func isFactor(x float64) bool { return exponent(x)-leastFactor <= mostFactor-leastFactor }

// exponent is the biased exponent.
func exponent(x float64) uint32 { return uint32(math.Float64bits(x)>>52) & 0x7ff }

// timesExact is x*y as its rounded value and what was rounded off.
func timesExact(x, y float64) (product, low float64) {
	product = float64(x * y)
	a := float64(splitter * x)
	xh := a - (a - x)
	xl := x - xh
	b := float64(splitter * y)
	yh := b - (b - y)
	yl := y - yh
	low = float64(xh*yh) - product
	low += float64(xh * yl)
	low += float64(xl * yh)
	return product, low + float64(xl*yl)
}

// plusExact is x+y as its rounded value and what was rounded off (Knuth).
func plusExact(x, y float64) (sum, low float64) {
	sum = x + y
	part := sum - x
	return sum, (x - (sum - part)) + (y - part)
}

// plusOdd is x+y where it is exact, else the one of its two neighbours whose last bit is one: what is
// rounded again then is rounded as the sum itself would be.
func plusOdd(x, y float64) float64 {
	sum, low := plusExact(x, y)
	bits := math.Float64bits(sum)
	if low == 0 || bits&1 == 1 {
		return sum
	}
	if (low > 0) == (sum > 0) {
		return math.Float64frombits(bits + 1)
	}
	return math.Float64frombits(bits - 1)
}
