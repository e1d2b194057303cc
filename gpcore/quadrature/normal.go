package quadrature

import (
	"math"

	"github.com/labtuner/tuner/gpcore/internal/vec"
)

// scaledErfc are the Chebyshev coefficients of (1+2z) exp(z^2) erfc(z), z >= 0, in
// t = (z-3.75)/(z+3.75); the first is halved by the sum. They were found in 40-digit
// arithmetic; the first one left out is below 1e-18.
var scaledErfc = [...]float64{
	2.3551578691348035082, -0.0045900545806464773309, -0.084249133366517915584, 0.059209939998191890498,
	-0.026658668435305752277, 0.0090749976707052650939, -0.0024131635404176081909, 0.00049077583652580863229,
	-0.000069169733025012063671, 4.1390279860730101675e-6, 7.7403830661984906686e-7, -2.1886401049234395661e-7,
	1.0764999465670910378e-8, 4.521959811218286899e-9, -7.7544002088313510971e-10, -6.3180883408866844226e-11,
	2.868795010930669943e-11, 1.9455868545777362058e-13, -9.6546967484334405362e-13, 3.2525481481486936013e-14,
	3.3478119482867325715e-14, -1.8645628804202542102e-15, -1.2507950530699505646e-15, 7.418235256508846876e-17,
	5.068148904682641934e-17, -2.2370566604713324175e-18,
}

// upperTail is the probability that a standard normal exceeds z >= 0. It uses this
// package's own exponential, because the standard library's differs in the last bit
// between processors of one architecture. Its relative error is below 1e-15*(1+z^2).
func upperTail(z float64) float64 {
	if z > 38 { // below the smallest number
		return 0
	}
	z *= math.Sqrt2 / 2
	t := 2 * (z - 3.75) / (z + 3.75)
	var b0, b1 float64
	for i := len(scaledErfc) - 1; i > 0; i-- {
		b0, b1 = math.FMA(t, b0, scaledErfc[i]-b1), b0
	}
	s := math.FMA(t/2, b0, scaledErfc[0]/2-b1)
	return 0.5 * vec.Exp(-float64(z*z)) * s / (1 + 2*z)
}

// normalMass is the probability that a standard normal lies in [a, b], a <= b,
// without cancellation where both are in one tail.
func normalMass(a, b float64) float64 {
	switch {
	case a >= 0:
		return upperTail(a) - upperTail(b)
	case b <= 0:
		return upperTail(-b) - upperTail(-a)
	}
	return 1 - upperTail(-a) - upperTail(b)
}
