package exec

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/exec/wire"
)

// deadlineShare is the part of a request's time that the device gets, so that
// its giving up still reaches the host in time.
const deadlineShare = 0.9

// maxMessage bounds the text of an error, in bytes.
const maxMessage = 1000

// answer serves one request. Its error ends the connection; what the device
// says against the request goes to the host instead.
func (s *server) answer(ctx context.Context, line []byte) error {
	object, err := wire.Object(line)
	if err != nil {
		return fmt.Errorf("request: %w", err)
	}
	id, ok := object["id"].(float64)
	if !ok {
		return fmt.Errorf(`exec: request %s has no number "id" that could be answered`, wire.Quote(line))
	}
	if ms, ok := object["deadline_ms"].(float64); ok && ms > 0 && ms < float64(math.MaxInt64/time.Millisecond) {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(ms*deadlineShare*float64(time.Millisecond)))
		defer cancel()
	}
	r, refusal := s.do(ctx, object)
	a := answerLine{ID: id, OK: refusal == nil, Error: refusal}
	if refusal == nil {
		a.Values, a.AgeMS = r.Values, ageMS(r)
		for name, v := range r.Values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				a = answerLine{ID: id, Error: &errorMembers{Code: CodeFault, Message: fmt.Sprintf("channel %q gave %v, which is not a finite number", name, v)}}
			}
		}
	}
	return s.write(a)
}

// ageMS is how long ago the values of r were taken, in milliseconds; 0 where the
// device does not say. Both sides of a pipe may use clocks of their own, since
// only the difference is sent.
func ageMS(r drivers.Reading) float64 {
	if r.At.IsZero() || len(r.Values) == 0 {
		return 0
	}
	age := time.Since(r.At)
	return float64(min(max(age, 0), maxAge).Round(time.Microsecond)) / float64(time.Millisecond)
}

// do runs one operation on the device.
func (s *server) do(ctx context.Context, object map[string]any) (drivers.Reading, *errorMembers) {
	switch object["op"] {
	case opRead:
		channels, err := textsIn(object, "channels")
		if err != nil {
			return drivers.Reading{}, badRequest(err)
		}
		r, err := s.dev.Read(ctx, channels)
		return r, refusalOf(err)
	case opWrite:
		values, err := numbersIn(object, "values")
		if err != nil {
			return drivers.Reading{}, badRequest(err)
		}
		release, err := textsIn(object, "release")
		if err != nil {
			return drivers.Reading{}, badRequest(err)
		}
		lasts, err := numbersIn(object, "for_ms")
		if err != nil {
			return drivers.Reading{}, badRequest(err)
		}
		actuator, ok := s.dev.(drivers.Actuator)
		if !ok {
			return drivers.Reading{}, &errorMembers{Code: CodeRefused, Message: "this device can only be read"}
		}
		set := drivers.Setpoints{Values: values, Release: release, For: durations(lasts)}
		set.Dose, _ = object["dose"].(string)
		if err := s.settable(set); err != nil {
			return drivers.Reading{}, refusalOf(err)
		}
		s.kept = false
		r, err := actuator.Write(ctx, set)
		return r, refusalOf(err)
	case opSafe:
		s.kept = false
		return drivers.Reading{}, refusalOf(s.halt(ctx))
	case opBye:
		hold, err := textsIn(object, "hold")
		if err == nil {
			err = s.settable(drivers.Setpoints{Release: hold})
		}
		if err != nil {
			return drivers.Reading{}, badRequest(err)
		}
		s.kept = len(hold) > 0
		return drivers.Reading{}, nil
	}
	return drivers.Reading{}, &errorMembers{Code: CodeUnknownOp, Message: fmt.Sprintf("the operation %s is not known here", quoteValue(object["op"]))}
}

// durations turns milliseconds by channel into what a device takes; nil for none.
func durations(ms map[string]float64) map[string]time.Duration {
	if len(ms) == 0 {
		return nil
	}
	out := make(map[string]time.Duration, len(ms))
	for name, v := range ms {
		out[name] = time.Duration(min(max(v, 0), float64(maxAge/time.Millisecond)) * float64(time.Millisecond))
	}
	return out
}

// settable says that the hello offers what a write names, as something to set.
func (s *server) settable(set drivers.Setpoints) error {
	for _, name := range slices.Concat(slices.Sorted(maps.Keys(set.Values)), set.Release) {
		i := slices.IndexFunc(s.channels, func(c drivers.Channel) bool { return c.Name == name })
		if i < 0 {
			return fmt.Errorf("there is no channel %q", name)
		}
		if s.channels[i].Access != drivers.ReadWrite {
			return fmt.Errorf("%w: channel %q can only be read", drivers.ErrRefused, name)
		}
		if _, sets := set.Values[name]; sets {
			if err := set.CheckDose(s.channels[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// halt brings the device to safe; one that cannot be set is safe as it is.
func (s *server) halt(ctx context.Context) error {
	if actuator, ok := s.dev.(drivers.Actuator); ok {
		return actuator.Halt(ctx)
	}
	return nil
}

// textsIn reads a list of text; a missing key is an empty one.
func textsIn(object map[string]any, key string) ([]string, error) {
	v, there := object[key]
	if !there {
		return nil, nil
	}
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("%q is %s and must be a list of text", key, quoteValue(v))
	}
	texts := make([]string, len(list))
	for i, element := range list {
		if texts[i], ok = element.(string); !ok {
			return nil, fmt.Errorf("%q holds %s, which is not text", key, quoteValue(element))
		}
	}
	return texts, nil
}

func badRequest(err error) *errorMembers {
	return &errorMembers{Code: CodeBadRequest, Message: truncate(err.Error())}
}

// truncate cuts a message; a character that is cut in two is dropped.
func truncate(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	return strings.ToValidUTF8(text[:maxMessage], "") + "..."
}

// refusalOf turns a device's error into the protocol's; nil stays nil.
func refusalOf(err error) *errorMembers {
	if err == nil {
		return nil
	}
	var inner *RefusedError
	refusal := badRequest(err)
	switch {
	case errors.As(err, &inner): // a child behind a child
		refusal.Code, refusal.Retry = inner.Code, inner.Retry
	case errors.Is(err, drivers.ErrNoValue):
		refusal.Code = CodeNoValue
	case errors.Is(err, drivers.ErrRefused):
		refusal.Code = CodeRefused
	case errors.Is(err, drivers.ErrNotSent):
		refusal.Code, refusal.Retry = CodeRefused, true
	case errors.Is(err, drivers.ErrUnavailable):
		refusal.Code, refusal.Retry = CodeUnavailable, true
	case errors.Is(err, drivers.ErrProtocol):
		refusal.Code = CodeFault
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		refusal.Code, refusal.Retry = CodeTimeout, true
	}
	return refusal
}
