package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop"
)

// makeSafeTime is how long make-safe takes at most. Not more: it runs when a service
// has just died, and what is unsafe should not stay so.
const makeSafeTime = 5 * time.Second

func newMakeSafeCommand(e *env) *cobra.Command {
	var all, after bool
	cmd := &cobra.Command{
		Use:   "make-safe CONFIG",
		Short: "Bring the actuators to their fault states, now",
		Long: `Bring every actuator to its on_fault state (safe, off, or hold, which leaves it) and
confirm it, within five seconds, by a path of its own: no policy, no journal, no
loop. It may be repeated. It is meant for ExecStopPost= of a systemd service, where
it runs however the service ended.

With --all every actuator goes to its safe value, also those that hold.

With --after-service it first looks at what systemd tells ExecStopPost= of the service's
end ($SERVICE_RESULT, $EXIT_CODE, $EXIT_STATUS). Where tuner run has ended by itself
and confirmed where its actuators are (exit code 0 or 130) it says so and leaves them
in their shutdown states; after any other end it does its work.

Exit code 0: every device confirmed; 7: not.`,
		Args:              oneFile("a configuration file"),
		ValidArgsFunction: completeFiles("toml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := loadWiring(args[0], e.executable)
			if err != nil {
				return err
			}
			if err := w.refuseUnbuilt("make-safe"); err != nil {
				return err
			}
			if after && endedSafely(e.lookup) {
				_, err := fmt.Fprintln(e.stdout, "the service has brought its actuators to rest and confirmed it: nothing to do")
				return err
			}
			// A signal does not cut it short: that is what it is there for.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(cmd.Context()), e.patience(makeSafeTime))
			defer cancel()
			return w.makeSafe(ctx, all, e.stdout)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "bring actuators that hold on a fault to their safe values too")
	cmd.Flags().BoolVar(&after, "after-service", false, "do nothing where systemd says that tuner run has ended and confirmed its actuators")
	return cmd
}

// endedSafely says whether systemd's account of a service's end is one in which
// tuner run confirmed the state of its actuators. What is missing or unknown is not.
func endedSafely(lookup func(string) (string, bool)) bool {
	code, _ := lookup("EXIT_CODE")
	status, _ := lookup("EXIT_STATUS")
	result, _ := lookup("SERVICE_RESULT")
	return result == "success" && code == "exited" &&
		(status == strconv.Itoa(exitOK) || status == strconv.Itoa(exitInterrupted))
}

// safeReport is what became of one device.
type safeReport struct {
	device string
	words  []string
	err    error
}

// makeSafe brings all devices to safe at the same time and says what came of it.
func (w *wiring) makeSafe(ctx context.Context, all bool, out io.Writer) error {
	reports := make([]safeReport, len(w.devices))
	var group sync.WaitGroup
	for i := range w.devices {
		group.Go(func() { reports[i] = w.makeDeviceSafe(ctx, i, all) })
	}
	group.Wait()
	var errs []error
	for _, r := range reports {
		for _, words := range r.words {
			fmt.Fprintln(out, words)
		}
		if r.err != nil {
			errs = append(errs, fmt.Errorf("%w: device %q: %w", loop.ErrUnsafe, r.device, r.err))
		}
	}
	return errors.Join(errs...)
}

// makeDeviceSafe opens one device, writes its fault states and closes it. A device
// that hangs is left behind when the time is over.
func (w *wiring) makeDeviceSafe(ctx context.Context, i int, all bool) safeReport {
	r := safeReport{device: w.devices[i].name}
	set, words := w.faultStates(i, all)
	if len(set.Values)+len(set.Release) == 0 {
		r.words = words
		return r
	}
	done := make(chan error, 1)
	go func() { done <- writeSafe(ctx, w.devices[i], set) }()
	select {
	case r.err = <-done:
	case <-ctx.Done():
		r.err = fmt.Errorf("no answer within %v", makeSafeTime)
	}
	if r.err == nil {
		r.words = words
	}
	return r
}

// faultStates lists what a device is to be told.
func (w *wiring) faultStates(device int, all bool) (set drivers.Setpoints, words []string) {
	set.Values = map[string]float64{}
	for _, v := range w.opt.Variables {
		if !v.Actuated || v.Channel.Device != device {
			continue
		}
		switch {
		case v.Dose && v.OnFault == loop.RestOff:
			set.Release = append(set.Release, v.Channel.Name)
			words = append(words, fmt.Sprintf("actuator %s: no dose runs", v.Name))
		case v.Dose: // nothing is ever given here, and a dose that runs is to end
			words = append(words, fmt.Sprintf("actuator %s: a dose that runs is let end", v.Name))
		case v.OnFault == loop.RestOff:
			set.Release = append(set.Release, v.Channel.Name)
			words = append(words, fmt.Sprintf("actuator %s: let go", v.Name))
		case v.OnFault == loop.RestSafe || all:
			set.Values[v.Channel.Name] = v.Limits.Safe
			words = append(words, fmt.Sprintf("actuator %s: at its safe value, %s", v.Name, quantity(v.Limits.Safe, v.Unit)))
		default:
			words = append(words, fmt.Sprintf("actuator %s: left where it is", v.Name))
		}
	}
	return set, words
}

// writeSafe is the whole conversation with one device.
func writeSafe(ctx context.Context, d deviceWiring, set drivers.Setpoints) (err error) {
	dev, err := d.build(drivers.Env{Clock: loop.RealClock{}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	if _, err := dev.Open(ctx); err != nil {
		return err
	}
	act, ok := dev.(drivers.Actuator)
	if !ok {
		return fmt.Errorf("driver %q cannot set anything", d.driver)
	}
	_, err = act.Write(ctx, set)
	return err
}
