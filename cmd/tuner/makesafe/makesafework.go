// Package makesafe brings the devices of a configuration to their safe values, where no run does.
//
// It is what a service calls after a run has died: [Load] takes the file, or the copy of it that
// the run went by, [All] opens all devices at the same time, writes safe values and reads them
// back. It ends within [Time], and says of each device what is confirmed and what is not. It
// needs no journal, no policy and no loop.
package makesafe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/runfiles"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/plan"
)

// Time is how long make-safe takes at most. Not more: it runs when a service
// has just died, and what is unsafe should not stay so.
const Time = 5 * time.Second

// Grace is the last part of that time: for saying what has not been confirmed.
const Grace = time.Second

// safeReport is what became of one device.
type safeReport struct {
	device string
	words  []string
	err    error
}

// All brings all devices to safe at the same time and says what came of it.
func All(ctx context.Context, w *setup.Setup, all bool, out io.Writer) error {
	reports := make([]safeReport, len(w.Devices))
	var group sync.WaitGroup
	for i := range w.Devices {
		group.Go(func() { reports[i] = makeDeviceSafe(ctx, w, i, all) })
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

// makeDeviceSafe opens one device, writes its fault states, waits until it tells that it
// has them, and closes it. A device that hangs is left behind when the time is over; a
// child's input has ended then, so that it goes safe if it comes back.
func makeDeviceSafe(ctx context.Context, w *setup.Setup, i int, all bool) safeReport {
	r := safeReport{device: w.Devices[i].Name}
	f := faultStatesOf(w, i, all)
	if f.still() {
		r.words = f.words
		return r
	}
	done := make(chan error, 1)
	go func() { done <- f.write(ctx, w.Devices[i]) }()
	select {
	case r.err = <-done:
	case <-ctx.Done():
		// What the device has not said by now it may be about to say.
		select {
		case r.err = <-done:
		case <-time.After(Grace):
			r.err = fmt.Errorf("no answer within %v", Time)
		}
	}
	if r.err == nil {
		r.words = f.words
	}
	return r
}

// faultStatesOf lists the fault states of a device's actuators.
func faultStatesOf(w *setup.Setup, device int, all bool) faultStates {
	f := faultStates{set: drivers.Setpoints{Values: map[string]float64{}, Safe: true}}
	for _, v := range w.Options.Variables {
		if !v.Actuated || v.Channel.Device != device {
			continue
		}
		switch {
		case v.Dose && v.OnFault == plan.RestOff:
			f.set.Release = append(f.set.Release, v.Channel.Name)
			f.words = append(f.words, fmt.Sprintf("actuator %s: no dose runs", v.Name))
		case v.Dose: // nothing is ever given here, and a dose that runs is to end
			f.words = append(f.words, fmt.Sprintf("actuator %s: a dose that runs is let end", v.Name))
		case v.OnFault == plan.RestOff && !all:
			f.set.Release = append(f.set.Release, v.Channel.Name)
			f.words = append(f.words, fmt.Sprintf("actuator %s: let go", v.Name))
		case v.OnFault == plan.RestSafe || all:
			f.set.Values[v.Channel.Name] = v.Limits.Safe
			if v.Tolerance > 0 {
				f.awaited = append(f.awaited, v)
			}
			f.words = append(f.words, fmt.Sprintf("actuator %s: at its safe value, %s", v.Name, show.Quantity(v.Limits.Safe, v.Unit)))
		default:
			f.words = append(f.words, fmt.Sprintf("actuator %s: left where it is", v.Name))
		}
	}
	return f
}

// EndedSafely says whether systemd's account of a service's end is one in which
// tuner run confirmed the state of its actuators. What is missing or unknown is not.
func EndedSafely(lookup func(string) (string, bool)) bool {
	code, _ := lookup("EXIT_CODE")
	status, _ := lookup("EXIT_STATUS")
	result, _ := lookup("SERVICE_RESULT")
	return result == "success" && code == "exited" &&
		(status == strconv.Itoa(fault.ExitOK) || status == strconv.Itoa(fault.ExitInterrupted))
}

// Load reads the file, or what the last run went by where it cannot be used. A file that leaves keys to
// devices, and that no run has left a copy of, has them asked.
func Load(ctx context.Context, e *host.Env, path string) (*setup.Setup, error) {
	w, err := setup.LoadUnbounded(path, e)
	if err == nil {
		return w, nil
	}
	last, from, lastErr := lastGood(e, path)
	if lastErr != nil {
		return neverRun(ctx, e, path, err)
	}
	if file, ok := errors.AsType[*configs.Error](err); ok {
		for _, p := range file.Problems {
			fmt.Fprintf(e.Stderr, "tuner: warning: %s\n", p)
		}
	}
	fmt.Fprintf(e.Stderr, "tuner: warning: %s cannot be used: by %s, which the last run of it went by\n", path, from)
	return last, nil
}

// neverRun has the devices of a file asked that no run has left a copy of, where what it leaves to them is all
// that err, which is wrong with it, comes of. Where they do not say it, the error tells how to do without.
func neverRun(ctx context.Context, e *host.Env, path string, err error) (*setup.Setup, error) {
	_, left := setup.Load(path, e)
	asks, only := errors.AsType[*setup.Unasked](left)
	if !only {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, e.Patience(Time-Grace))
	defer cancel()
	w, err := setup.LoadAskedUnbounded(ctx, path, e)
	if err == nil {
		return w, nil
	}
	return nil, fault.WithHint(fmt.Errorf("%w: %s leaves the safe values to its devices, and no run of it has left a copy of what they say: %w", loop.ErrUnsafe, path, err),
		fmt.Sprintf("make it safe by hand; to have make-safe do without the device's word, write into the file what it leaves open (%s), as tuner check --probe --effective %s shows it", strings.Join(asks.Keys(), ", "), path))
}

// lastGood wires the file that the newest run of a configuration went by, in place of the
// configuration itself. Relative paths in it start at the configuration's folder, as they did
// then.
func lastGood(e *host.Env, config string) (w *setup.Setup, from string, err error) {
	var newest controlstate.State
	var text []byte
	for _, path := range runfiles.KnownControls(e, filepath.Dir(host.Absolute(config))) {
		s, err := controlstate.Peek(path)
		if err != nil && s.Instrument.Config == "" || s.Instrument.Config != host.Absolute(config) || text != nil && !s.Wall.After(newest.Wall) {
			continue
		}
		if t, err := os.ReadFile(runfiles.GoodCopy(path)); err == nil {
			newest, text, from = s, t, runfiles.GoodCopy(path)
		}
	}
	if text == nil {
		return nil, "", fmt.Errorf("no run of it has left a copy")
	}
	w, err = setup.Parse(config, text, e)
	return w, from, err
}
