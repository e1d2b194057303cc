package search

// Objective is a function to maximise, evaluated in batches. It must be a function of
// the point alone: not of the batch, the order of calls or the fork, except in the last
// bits. NaN counts as minus infinity. Implementations may hold scratch and need not be
// safe for concurrent use. An objective may implement [Differentiable], [Surrogated],
// [Preparer] and [Scaled] as well, [Grouped] and [Watchable] where it shares work; expectations have all six.
type Objective interface {
	// Dim is the number of coordinates of a point.
	Dim() int
	// Values sets dst[j] to the function at row j of x, len(dst) x Dim row-major.
	Values(dst, x []float64)
	// Fork is the same function for another goroutine.
	Fork() Objective
}

// Differentiable is an objective with gradients; without them, central differences over
// 1e-6 of the range are used.
type Differentiable interface {
	// Gradients sets dst as Values does, and row j of grad to the gradient at row j.
	Gradients(dst, grad, x []float64)
}

// Surrogated is an objective with a cheaper stand-in for screening and first climbs.
type Surrogated interface {
	Differentiable
	Surrogate() SurrogateKind
	SurrogateValues(dst, x []float64)
	SurrogateGradients(dst, grad, x []float64)
}

// Follower is a fork that can become one of another objective, with the scratch that it has.
type Follower interface {
	// Follow makes the fork one of o. It reports false where it cannot; then it is not used again.
	Follow(o Objective) bool
}

// A SurrogateKind says what stands in for an objective while a search screens and
// climbs.
type SurrogateKind int

const (
	// NoSurrogate: the objective itself is cheap.
	NoSurrogate SurrogateKind = iota
	// Approximation is near the objective, on either side.
	Approximation
	// UpperBound is nowhere below the objective.
	UpperBound
)

// Preparer is an objective that wants to know when a search begins. It is called for
// the objective of the problem, not for its forks, which follow.
type Preparer interface{ Prepare() }

// Scaled is an objective that knows over which distance it varies along each
// coordinate. Scales sets dst and reports whether it could; else 0.3 of the range is used.
type Scaled interface{ Scales(dst []float64) bool }

// Grouped is an objective that shares work with others: the expectations of one
// criterion for several control sets, say.
type Grouped interface {
	Objective
	// PrepareGroup prepares what the group shares. It comes before PrepareOwn, and does
	// not overlap with any other preparation.
	PrepareGroup()
	// PrepareOwn prepares the rest. It may overlap with that of other objectives.
	PrepareOwn()
	// ForkSharing is Fork with the scratch of other, a fork of an objective of the same
	// group: the two must not be used at once. Nil where other is of another group.
	ForkSharing(other Objective) Objective
	// NodeCount is the number of evaluations that one value costs.
	NodeCount() int
}

// Watchable is an objective that can keep what it knows of fixed points from search to
// search; see Problem.Track.
type Watchable interface {
	// Watch begins to watch points; nil where it cannot.
	Watch(w Watching) Watched
}

// Watching says what is to be watched, and how.
type Watching struct {
	// X are the points, rows of Dim coordinates. A row may be written until the first Values of it.
	X   []float64
	Dim int
	// Before, where not nil, has watched the same rows for another objective. What it knows of the same
	// processes is taken over, so it counts no more.
	Before Watched
	// Processes is how many may be watched.
	Processes int
	// Lean keeps covariances in a quarter of the memory, and evaluates the others at each Values.
	Lean bool
}

// Watched are the values of an objective at fixed points.
type Watched interface {
	// Processes is how many are watched.
	Processes() int
	// Sync takes up what has changed. It is called once before the Values of a search.
	Sync()
	// Values sets dst to the objective at the points from..to-1, from a multiple of 24, with
	// the scratch of a fork; points that the search before did not ask for cost more. Calls for different points and forks may overlap.
	Values(dst []float64, fork Objective, from, to int)
}
