// Package panels evaluates kernels 24 pairs at a time.
//
// [Compile] turns a kernel into a [Compiled]: an [Evaluator] that embeds points (scaled by
// their lengthscales, say) and fills a [Panel], n points as rows against 24 lanes, with
// covariances, or adds up their derivatives by lanes, rows and hyperparameters. A kernel
// that is [Native] prepares itself; of any other, [Generic] evaluates pair by pair. A
// [Feature] is a random function with the kernel as its covariance, for evaluators that are
// [Spectral]. Evaluators hold scratch: one for each goroutine.
package panels
