package instrument

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/worker"
)

// devices are those of a run, each with its worker.
type devices struct {
	opt  Options
	plan *plan.Options
	pool *worker.Pool
	// ctx is that of all calls of devices.
	ctx   context.Context
	links []*link
	// unopened counts the devices that are not open for the first time yet.
	unopened int
	// why says what came in place of a value last, by device and channel; a value takes it
	// out.
	why map[plan.Channel]error
	// orders grows when what was said before must not leave any more.
	orders atomic.Int64
	// underOrders is revoking of order.
	underOrders func() bool
	order       int64
	// halted says that HaltAll has halted the devices and Halted has not been asked since:
	// until it has, no setpoint leaves.
	halted atomic.Bool
	// dropped counts the readings for which there was no room.
	dropped atomic.Int64
	// events are what the present call has to tell.
	events []any
}

// now is the present time.
func (x *devices) now() time.Time { return x.opt.Clock.Now() }

// failpoint tells a test where the instrument is.
func (x *devices) failpoint(name string) {
	if x.opt.Failpoint != nil {
		x.opt.Failpoint(name)
	}
}

// eventBlock is for how many events memory is taken at a time.
const eventBlock = 64

// tell adds an event to what the present call returns.
func (x *devices) tell(e any) {
	if len(x.events) == cap(x.events) {
		x.events = append(make([]any, 0, len(x.events)+eventBlock), x.events...)
	}
	x.events = append(x.events, e)
}

// told are the events of the present call. What is left of their block is the next call's.
func (x *devices) told() []any {
	n := len(x.events)
	out := x.events[:n:n]
	x.events = x.events[n:]
	return out
}

// deviceOf is the device of variable i, nil where it has none.
func (x *devices) deviceOf(i int) *link {
	if d := x.plan.Variables[i].Channel.Device; d >= 0 {
		return x.links[d]
	}
	return nil
}

// Dropped is how many readings there was no room for.
func (x *devices) Dropped() int64 { return x.dropped.Load() }
