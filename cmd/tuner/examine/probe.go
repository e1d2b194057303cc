// Package examine looks at what a run would meet, and drives nothing.
//
// [Instrument] opens the devices and reads each channel once, for tuner check --probe. [Decision]
// times decisions of the file's policy. [Computer] looks at ports, network, disk and clock, for
// tuner doctor. Discovery asks drivers which instruments answer, and [FirstFile] writes a first
// configuration for what was found, for tuner init.
package examine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/describe"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/outcome"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/worker"
)

// probeWait is how long a device is given for the values that are asked for. What
// measures for longer shows as no value, which is no fault.
const probeWait = 5 * time.Second

// wanted is one channel that the configuration reads.
type wanted struct {
	name, unit string
	channel    plan.Channel
	low, high  float64
}

// Instrument opens the devices, reads every sensor and variable once and closes them.
// It writes nothing; the devices speak to log. The error wraps what kept a device from answering; what the
// other devices gave is returned all the same.
func Instrument(ctx context.Context, w *setup.Setup, e *host.Env, log *slog.Logger) ([]describe.Probed, error) {
	var all []wanted
	for _, v := range w.Options.Variables {
		all = append(all, wanted{v.Name, v.Unit, v.Channel, math.Inf(-1), math.Inf(1)})
	}
	for _, s := range w.Options.Sensors {
		all = append(all, wanted{s.Name, s.Unit, s.Channel, s.Low, s.High})
	}
	readings := []describe.Probed{}
	var errs []error
	for i, d := range w.Devices {
		mine := slices.DeleteFunc(slices.Clone(all), func(c wanted) bool { return c.channel.Device != i })
		env := drivers.Env{Clock: worker.RealClock{}, Log: log.With("device", d.Name), ReadOnly: true}
		rows, err := probeDevice(ctx, e, d, mine, env, func(channels []drivers.Channel) error {
			return loop.Fits(&w.Options, i, d.Name, channels)
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("%w: device %q: %w", loop.ErrInstrument, d.Name, err))
		}
		readings = append(readings, rows...)
	}
	return readings, errors.Join(errs...)
}

// probeDevice opens one device and reads what the configuration wants of it; fits says whether it has what a run needs.
func probeDevice(ctx context.Context, e *host.Env, d setup.Device, mine []wanted, env drivers.Env, fits func([]drivers.Channel) error) (rows []describe.Probed, err error) {
	dev, err := d.Build(env)
	if err != nil {
		return nil, err
	}
	opening, cancel := context.WithTimeout(ctx, e.Patience(drivers.OpenTime(dev)))
	channels, err := dev.Open(opening)
	cancel()
	if err != nil {
		return nil, errors.Join(err, dev.Close())
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	offered := map[string]drivers.Channel{}
	for _, c := range channels {
		offered[c.Name] = c
	}
	var ask []string
	for _, c := range mine {
		row := describe.Probed{Name: c.name, Channel: d.Name + "." + c.channel.Name, Unit: c.unit, Value: outcome.NaN(), AgeMS: outcome.NaN(), LatencyMS: outcome.NaN()}
		switch o, ok := offered[c.channel.Name]; {
		case !ok:
			row.Problem = "the device has no such channel; it has " + strings.Join(slices.Sorted(maps.Keys(offered)), ", ")
		case o.Unit != "" && o.Unit != c.unit:
			row.Problem = fmt.Sprintf("the device gives %q, the configuration says %q", o.Unit, c.unit)
		case !slices.Contains(ask, c.channel.Name):
			ask = append(ask, c.channel.Name)
		}
		if row.Problem != "" {
			err = errors.Join(err, fmt.Errorf("channel %q: %s", c.channel.Name, row.Problem))
		}
		rows = append(rows, row)
	}
	if err == nil { // else a channel is missing, which has been said
		err = fits(channels)
	}
	return rows, errors.Join(err, readOnce(ctx, dev, readJob{rows: rows, mine: mine, ask: ask, clock: env.Clock, wait: e.Patience(probeWait)}))
}

// readJob is what readOnce fills: rows[i] is the answer to mine[i].
type readJob struct {
	rows  []describe.Probed
	mine  []wanted
	ask   []string
	clock drivers.Clock
	wait  time.Duration
}

// readOnce reads until every channel has given a value or the time is over; one that gave none is
// an error.
func readOnce(ctx context.Context, dev drivers.Device, job readJob) error {
	ctx, cancel := context.WithTimeout(ctx, job.wait)
	defer cancel()
	missing, why := slices.Clone(job.ask), map[string]error{}
	for len(missing) > 0 && ctx.Err() == nil {
		begin := job.clock.Now()
		r, err := dev.Read(ctx, missing)
		if err != nil && ctx.Err() == nil {
			return err
		}
		maps.Copy(why, r.Missing)
		now := job.clock.Now()
		for i, c := range job.mine {
			row := &job.rows[i]
			v, ok := r.Values[c.channel.Name]
			if !ok || row.Problem != "" {
				continue
			}
			row.Value, row.AgeMS, row.LatencyMS = journal.Number(v), milliseconds(now.Sub(r.At)), milliseconds(now.Sub(begin))
			if v < c.low || v > c.high {
				row.Problem = "outside the range " + show.Interval(c.low, c.high) + ": no data"
			}
		}
		missing = slices.DeleteFunc(missing, func(name string) bool { _, ok := r.Values[name]; return ok })
		if len(missing) > 0 {
			select { // a device that answers at once with nothing new is not to be hammered
			case <-time.After(50 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	}
	var silent []error
	for i, c := range job.mine {
		if slices.Contains(missing, c.channel.Name) && job.rows[i].Problem == "" {
			job.rows[i].Problem = "no value within " + show.Duration(job.wait)
			if err := why[c.channel.Name]; err != nil {
				job.rows[i].Problem += ": " + err.Error()
			}
			silent = append(silent, fmt.Errorf("channel %q: %s", c.channel.Name, job.rows[i].Problem))
		}
	}
	return errors.Join(silent...)
}

func milliseconds(d time.Duration) journal.Number {
	return journal.Number(math.Round(d.Seconds()*1e5) / 1e2)
}
