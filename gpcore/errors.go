package gpcore

import "github.com/labtuner/tuner/gpcore/internal/check"

// What data can cause, of every room of gpcore. ErrFull says that the process holds as
// many observations as its capacity, ErrIndex that no observation has this index, and
// ErrShape that slices do not have the lengths that belong together.
//
// ErrNotPositiveDefinite says that the covariance matrix with its noise is not positive
// definite in float64 arithmetic: points coincide (nearly) and their noise variance is
// zero or too small beside the kernel's variance.
var (
	ErrFull                = check.ErrFull
	ErrNotPositiveDefinite = check.ErrNotPositiveDefinite
	ErrIndex               = check.ErrIndex
	ErrShape               = check.ErrShape
)

// ValueError names a number that cannot be used: what it is (What), its position in the
// slice or 0 for a scalar (Index), and the number itself (Value).
type ValueError = check.ValueError
