// Package factor keeps W, the inverse of the Cholesky factor of a covariance matrix with
// its noise, beside alpha = K^-1 y, while observations come, go and change: it knows
// covariances, not points or kernels.
//
// Each change is prepared first, where all that can fail is checked, and then made:
// [Factor.Pivot] and [Factor.Commit] append, [Factor.Replaceable] and [Factor.Replace]
// replace, [Factor.Ratio] and [Factor.ShiftNoise] or [Factor.Renew] change a noise, all in
// O(n^2); [Factor.AppendBlock] takes 24 observations at once and is the only
// factorisation code. [Factor.Solve], [Factor.MulW] and [Factor.Squares] are what reads.
// Slices are padded to whole tiles; the fields are for reading.
package factor
