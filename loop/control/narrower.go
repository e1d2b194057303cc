package control

import (
	"context"

	"github.com/labtuner/tuner/loop/plan"
)

// Narrower brings narrower limits to a running loop, from any goroutine. A nil one
// brings none.
type Narrower struct{ asked chan Narrowing }

// NewNarrower returns one.
func NewNarrower() *Narrower { return &Narrower{asked: make(chan Narrowing)} }

// Narrowing is one request: Next and Words as Narrow has them, and where the answer goes.
type Narrowing struct {
	Next   *plan.Options
	Words  string
	Answer chan error
}

// Narrow has the loop go on by the limits of next, which is the options that it runs by with
// tighter ones: Safety, the variables' and sensors' Limits as safety.Limits.Within has
// it; ranges and stop conditions are what Deps.Amend changes. words tell the record what
// was changed. Where anything is wider, or an actuator stands where a new hard bound
// would not let it be, all of it is refused: the error wraps plan.ErrNotNarrower or
// safety.ErrLimits, and the run goes on unchanged. Else it is nil, and the change acts
// from the next tick on.
func (n *Narrower) Narrow(ctx context.Context, next plan.Options, words string) error {
	q := Narrowing{&next, words, make(chan error, 1)}
	select {
	case n.asked <- q:
	case <-ctx.Done():
		return ctx.Err()
	}
	return <-q.Answer
}

// Asks has the requests; it is for one receiver.
func (n *Narrower) Asks() <-chan Narrowing {
	if n == nil {
		return nil
	}
	return n.asked
}
