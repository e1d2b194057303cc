package instrument

import (
	"context"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/plan"
)

// parting is what has become of a device's promise to keep its outputs as they stand when the
// connection ends (drivers.Keeper).
type parting int

const (
	notAsked parting = iota
	asked
	promised
	refused
)

// parted is a device's answer.
type parted struct {
	k   *link
	err error
}

// part asks each device that would go safe when it is closed to keep what is to be held, once all
// actuators are at rest; over says that all have answered, or that time is up. After a fault
// nothing is asked: then a device makes safe by itself.
func (x *Instrument) part(p *Present, since time.Time) (over bool) {
	if p.final() || p.MakesSafe || !p.Ending {
		return true
	}
	over = true
	for _, k := range x.links {
		keeper, ok := k.dev.(drivers.Keeper)
		held := x.heldOn(k)
		if !ok || len(held) == 0 {
			continue
		}
		if k.parting == notAsked {
			k.parting = asked
			ctx, cancel := context.WithTimeout(k.calls.context(x.ctx), restConfirm)
			x.pool.Post(k.worker, func() any {
				defer cancel()
				return parted{k, keeper.Keep(ctx, held)}
			})
		}
		over = over && (k.parting != asked || p.Now.Sub(since) > restTimeout+restConfirm)
	}
	return over
}

// heldOn are the channels of a device that stay where they are; none where anything on it is not
// at rest.
func (x *Instrument) heldOn(k *link) (channels []string) {
	for _, job := range x.rests {
		v := &x.plan.Variables[job.variable]
		if v.Channel.Device != k.index {
			continue
		}
		if job.err != nil || job.revived || k.dead != nil {
			return nil
		}
		if job.state == plan.RestHold && !v.Dose {
			channels = append(channels, v.Channel.Name)
		}
	}
	return channels
}

// parted takes in a device's answer.
func (k *link) parted(r parted) {
	if k.parting != asked {
		return // something was written after it
	}
	k.parting = refused
	if r.err == nil {
		k.parting = promised
	}
}
