package gpcore

import "math"

// InformationGain is the mutual information between the function and the
// observations, in nats,
//
//	(log det K - sum over i of log noise_i)/2 = log det(I + S^-1 K_0)/2,
//
// with K = K_0 + S, S the diagonal of the noise variances (Srinivas et al., IEEE Trans.
// Inf. Theory 58 (2012) 3250, eq. 7). Infinite where a noise variance is zero. O(n).
func (g *GP) InformationGain() float64 {
	gain := 0.0
	for k := range g.m.Factor.N { // log det K = -2 sum log W_kk
		gain -= math.Log(g.m.Factor.W[k*g.m.Factor.Stride+k])
	}
	for i := range g.Len() {
		gain -= 0.5 * math.Log(g.NoiseVariance(i))
	}
	return max(gain, 0)
}
