package landscape

import "math"

// Branin is Branin's function,
//
//	b(x1, x2) = (x2 - 5.1/(4 pi^2) x1^2 + 5/pi x1 - 6)^2 + 10 (1 - 1/(8 pi)) cos x1 + 10
//
// on [-5, 10] x [0, 15], with the least value 0.397887 at (9.42478, 2.475), (pi, 2.275)
// and (-pi, 12.275) (Dixon and Szego 1978).
func Branin(x1, x2 float64) float64 {
	a := x2 - 5.1/(4*math.Pi*math.Pi)*x1*x1 + 5/math.Pi*x1 - 6
	return a*a + 10*(1-1/(8*math.Pi))*math.Cos(x1) + 10
}

const LeastBranin = 0.39788735772973816 // 10/(8 pi)

// BraninBounds is the domain.
func BraninBounds() [][2]float64 { return [][2]float64{{-5, 10}, {0, 15}} }

// Sigmoid is 1/(1 + exp(-z)).
func Sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }
