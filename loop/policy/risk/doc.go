// Package risk has the mean-variance objective of Makarova et al. (NeurIPS 2021) over
// settings that leave variables random,
//
//	MV(c) = E_R[f(c, R)] - risk ( E_R[noise variance at (c, R)] + h Var_R[f(c, R)] ),
//
// as [Criterion]: what acquisitions and recommendations take off the objective, and the
// moments of settings by which they are explained.
package risk
