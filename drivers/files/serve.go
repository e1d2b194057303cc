package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// Plant is the experiment's side of the exchange over any device.
type Plant struct {
	Options Options
	// Device has the parameters of Options as channels that can be set, "cost", and
	// perhaps "uncer".
	Device drivers.Device
	// Period is the time between two looks for an input, and for a value.
	Period time.Duration
	Env    drivers.Env
}

// Serve plays the experiment until ctx ends: for every input it sets the device,
// waits until the parameters stand still, takes one new cost and writes the output. It
// halts and closes the device in the end.
func Serve(ctx context.Context, p Plant) (err error) {
	act, ok := p.Device.(drivers.Actuator)
	if !ok {
		return errors.New("files: the device that is to be served cannot be set")
	}
	channels, err := p.Device.Open(ctx)
	if err != nil {
		return fmt.Errorf("files: %w", errors.Join(err, p.Device.Close()))
	}
	defer func() {
		halting, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		err = errors.Join(err, act.Halt(halting), p.Device.Close())
	}()
	s := &server{Plant: p, act: act, channels: channels, input: filepath.Join(p.Options.folder(), p.Options.Input),
		output: filepath.Join(p.Options.folder(), p.Options.Output), results: []string{channelCost}}
	if slices.ContainsFunc(channels, func(c drivers.Channel) bool { return c.Name == channelUncer }) {
		s.results = append(s.results, channelUncer)
	}
	for {
		text, err := s.next(ctx)
		if err != nil {
			return err
		}
		if err := s.answer(ctx, text); err != nil {
			return err
		}
	}
}

// server is one experiment.
type server struct {
	Plant
	act           drivers.Actuator
	channels      []drivers.Channel
	input, output string
	results       []string // the channels of what comes back
}

// next waits for an input file, reads and deletes it.
func (s *server) next(ctx context.Context) (string, error) {
	for {
		text, _, err := readBounded(s.input)
		if err == nil {
			if err := os.Remove(s.input); err == nil {
				return text, nil
			} else if !errors.Is(err, fs.ErrNotExist) { // else it was withdrawn
				return "", fmt.Errorf("files: %w", err)
			}
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("files: %w", err)
		}
		if err := s.pause(ctx); err != nil {
			return "", err
		}
	}
}

func (s *server) pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(s.Period):
		return nil
	}
}

// answer runs the experiment once.
func (s *server) answer(ctx context.Context, text string) error {
	values, err := s.experiment(ctx, text)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	say := "bad = false\n"
	for _, name := range s.results {
		if v, there := values[name]; there {
			say += fmt.Sprintf("%s = %v\n", name, v)
		}
	}
	if err != nil {
		s.Env.Log.Warn("a run is bad: " + err.Error())
		say = "bad = true\n"
	}
	if simulated, ok := s.Device.(drivers.Spoiler); ok {
		say = string(simulated.Spoil([]byte(say)))
	}
	if err := writeWhole(s.output, say, nil); err != nil {
		return fmt.Errorf("files: %w", err)
	}
	return nil
}

// experiment sets the parameters, waits until they stand still, and takes the
// next cost.
func (s *server) experiment(ctx context.Context, text string) (map[string]float64, error) {
	values, err := parseParams(text)
	if err != nil {
		return nil, err
	}
	if len(values) != len(s.Options.Parameters) {
		return nil, fmt.Errorf("%d parameters came, and there are %d: %s", len(values), len(s.Options.Parameters), strings.Join(s.Options.Parameters, ", "))
	}
	set := drivers.Setpoints{Values: map[string]float64{}}
	for i, name := range s.Options.Parameters {
		set.Values[name] = values[i]
	}
	if _, err := s.act.Write(ctx, set); err != nil {
		return nil, err
	}
	if err := s.stand(ctx); err != nil {
		return nil, err
	}
	if _, err := s.Device.Read(ctx, s.results); err != nil { // of before
		return nil, err
	}
	for {
		r, err := s.Device.Read(ctx, s.results)
		if err != nil {
			return nil, err
		}
		if _, there := r.Values[channelCost]; there {
			return r.Values, nil
		}
		if err := s.pause(ctx); err != nil {
			return nil, err
		}
	}
}

// stand waits until the parameters stand still: in the last quarter of the time since
// the write they were on average where they were in the quarter before. Readbacks have
// noise, so that two of them need not agree, and how slow a plant is is not known.
func (s *server) stand(ctx context.Context) error {
	seen := map[string][]float64{}
	for {
		r, err := s.Device.Read(ctx, s.Options.Parameters)
		if err != nil {
			return err
		}
		still := len(r.Values) == len(s.Options.Parameters)
		for name, v := range r.Values {
			seen[name] = append(seen[name], v)
			still = still && stands(seen[name], s.reach(name))
		}
		if still {
			return nil
		}
		if err := s.pause(ctx); err != nil {
			return err
		}
	}
}

// leastLooks is how many readbacks tell of standing still at least.
const leastLooks = 4

// stands compares the means of the last two quarters of the readbacks: they may differ
// by a thousandth of reach.
func stands(v []float64, reach float64) bool {
	if len(v) < leastLooks {
		return false
	}
	quarter, before, last := len(v)/4, 0.0, 0.0
	for i := range quarter {
		before += v[len(v)-2*quarter+i] / float64(quarter)
		last += v[len(v)-quarter+i] / float64(quarter)
	}
	return math.Abs(last-before) <= 1e-3*reach
}

// reach is the width of a parameter's range, 1 where the device does not tell.
func (s *server) reach(name string) float64 {
	for _, c := range s.channels {
		if width := c.Max - c.Min; c.Name == name && width > 0 {
			return width
		}
	}
	return 1
}
