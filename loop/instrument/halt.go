package instrument

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/journal"
)

// haltTimeout bounds the halt of a device that answers.
const haltTimeout = 15 * time.Second

// halted is what became of a halt because the loop stood still for more than limit.
type halted struct {
	k     *link
	limit time.Duration
	err   error
}

// HaltAll has every device go to its own safe state, because the loop has stood still for
// more than limit. It may be called from any goroutine. Whether the loop learns of it
// depends on the loop.
func (x *devices) HaltAll(limit time.Duration) {
	x.halted.Store(true)
	x.orders.Add(1) // what was decided before must not follow the halt
	for _, k := range x.links {
		if k.act == nil {
			continue
		}
		k.calls.overtake()
		x.pool.Post(k.worker, func() any {
			ctx, cancel := context.WithTimeout(x.ctx, haltTimeout)
			defer cancel()
			return halted{k, limit, k.act.Halt(ctx)}
		})
	}
}

// Halted reports whether HaltAll was called since it was asked last. Where a halt has
// brought an actuator, or will, its device knows.
func (x *Instrument) Halted() bool {
	was := x.halted.Swap(false)
	for i := range x.all {
		if was && x.deviceOf(i) != nil {
			x.all[i].lost, x.all[i].unsure = true, true
		}
	}
	return was
}

// tookHalt takes in that a device has been halted.
func (x *Instrument) tookHalt(h halted) {
	for i := range x.all {
		if x.deviceOf(i) == h.k {
			x.all[i].lost, x.all[i].unsure = true, true
		}
	}
	x.tell(Said{"error", journal.EventSafety, fmt.Sprintf("the loop stood still for more than %v: device %q was halted (%v)", h.limit, h.k.name, orOK(h.err))})
}

func orOK(err error) string {
	if err == nil {
		return "confirmed"
	}
	return err.Error()
}

// revived is what became of a dead device that was opened again and halted.
type revived struct {
	k   *link
	err error
}

// revive reopens a dead device and brings it to its own safe state.
func (x *devices) revive(k *link) {
	ctx, cancel := context.WithTimeout(x.ctx, drivers.OpenTime(k.dev))
	x.pool.Post(k.worker, func() any {
		defer cancel()
		return revived{k, k.makeSafe(ctx)}
	})
}

// makeSafe opens a device anew and halts it.
func (k *link) makeSafe(ctx context.Context) error {
	closing := k.dev.Close()
	if _, err := k.dev.Open(ctx); err != nil {
		return errors.Join(fmt.Errorf("reopen device %q: %w", k.name, err), closing)
	}
	if err := k.act.Halt(ctx); err != nil {
		return fmt.Errorf("bring device %q to its safe state: %w", k.name, err)
	}
	return nil
}
