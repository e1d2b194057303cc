package exec

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/exec/wire"
)

// haltTime bounds the last Halt of Serve. It is shorter than the host's default
// exit_timeout, after which the host kills.
const haltTime = 2 * time.Second

// Serve is the child's side of tuner-exec/1 over any device: it opens dev, says
// hello under name, answers requests, and at the end of the input, or when ctx
// ends, halts and closes dev; after a bye that holds something it only closes it. A nil
// error means that the input ended and dev confirmed its safe state; a device that cannot be set has nothing to confirm.
//
// Requests of which no id can be read end it with an error, dev halted. Serve
// may return while a read of in still blocks; the goroutine of that read ends
// with it. A program that serves on its standard output should ignore SIGPIPE:
// a host that died must not end it before dev is halted.
func Serve(ctx context.Context, in io.Reader, out io.Writer, name string, dev drivers.Device) error {
	err := drivers.ServeDevice(ctx, dev, haltTime, func(channels []drivers.Channel) error {
		s := &server{dev: dev, out: out, channels: channels}
		if err := s.hello(name); err != nil {
			return err
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		err := s.run(ctx, listenTo(ctx, in, cancel))
		if s.kept {
			err = errors.Join(err, drivers.ErrKept)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("exec: %s: %w", name, err)
	}
	return nil
}

// incoming is what listenTo delivers: a line, or why there are no more.
type incoming struct {
	line []byte
	err  error
}

// listenTo reads lines in a separate goroutine and cancels ctx at the end of
// the input, so that a slow device call does not delay going safe.
func listenTo(ctx context.Context, in io.Reader, cancel context.CancelFunc) <-chan incoming {
	requests := make(chan incoming, 1) // room for the end's reason
	go func() {
		defer cancel()
		defer close(requests)
		lines := wire.NewLines(in)
		for {
			line, err := lines.Next()
			select {
			case requests <- incoming{bytes.Clone(line), err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return requests
}

// server answers the requests of one host.
type server struct {
	dev      drivers.Device
	out      io.Writer
	channels []drivers.Channel
	// kept says that a bye was said that holds something, and nothing has been written since.
	kept bool
}

// run answers until the input or ctx ends.
func (s *server) run(ctx context.Context, requests <-chan incoming) error {
	for {
		var r incoming
		select {
		case r = <-requests:
		case <-ctx.Done():
			select {
			case r = <-requests: // why it ended
			default:
				return ctx.Err()
			}
		}
		switch {
		case errors.Is(r.err, io.EOF):
			return nil
		case r.err != nil:
			return fmt.Errorf("input: %w", r.err)
		}
		if err := s.answer(ctx, r.line); err != nil {
			return err
		}
	}
}

// helloLine and the types below are what Serve writes; limits that are not
// known are left out.
type helloLine struct {
	Protocol string         `json:"protocol"`
	Name     string         `json:"name"`
	Channels []helloChannel `json:"channels"`
	Holds    bool           `json:"holds"`
}

type helloChannel struct {
	Name    string   `json:"name"`
	Unit    string   `json:"unit"`
	Access  string   `json:"access"`
	Min     *float64 `json:"min,omitempty"`
	Max     *float64 `json:"max,omitempty"`
	Safe    *float64 `json:"safe,omitempty"`
	Release *bool    `json:"release,omitempty"`
	Lasts   bool     `json:"lasts,omitempty"`
	Kind    string   `json:"kind,omitempty"`
}

type answerLine struct {
	ID     float64            `json:"id"`
	OK     bool               `json:"ok"`
	Values map[string]float64 `json:"values,omitempty"`
	AgeMS  float64            `json:"age_ms,omitempty"`
	Error  *errorMembers      `json:"error,omitempty"`
}

type errorMembers struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Retry   bool   `json:"retry"`
}

// hello writes the first line.
func (s *server) hello(name string) error {
	h := helloLine{Protocol: Protocol, Name: name, Holds: true}
	for _, c := range s.channels {
		line := helloChannel{Name: c.Name, Unit: c.Unit, Access: "r",
			Min: known(c.Min), Max: known(c.Max), Safe: known(c.Safe), Lasts: c.Lasts}
		if c.Access == drivers.ReadWrite {
			line.Access, line.Release = "rw", &c.CanRelease
			if c.Dose {
				line.Kind = "dose"
			}
		}
		h.Channels = append(h.Channels, line)
	}
	return s.write(h)
}

func known(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// write sends one line.
func (s *server) write(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if len(line) > wire.MaxLine {
		return fmt.Errorf("a line of %d bytes is longer than the %d that %s allows", len(line), wire.MaxLine, Protocol)
	}
	if simulated, ok := s.dev.(drivers.Corrupter); ok {
		line = simulated.Corrupt(line)
	}
	if _, err := s.out.Write(line); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	return nil
}
