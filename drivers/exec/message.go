package exec

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/exec/wire"
)

// The operations of the protocol, and the one that no child may know.
const (
	opRead    = "read"
	opWrite   = "write"
	opSafe    = "safe"
	opBye     = "bye"
	opUnknown = "no-such-operation"
)

// Codes of refusals. A child may use its own ones too.
const (
	CodeUnknownOp   = "unknown_op"
	CodeBadRequest  = "bad_request"
	CodeRefused     = "refused"
	CodeUnavailable = "unavailable"
	CodeFault       = "fault"
	CodeTimeout     = "timeout"
	// CodeNoValue refuses a read: the measurement has ended without a value.
	CodeNoValue = "no_value"
)

// maxAge bounds the age of values in an answer: what is older is no measurement
// of this step, whatever the step's length.
const maxAge = 24 * time.Hour

// request is one line from the host.
type request struct {
	ID       int64              `json:"id"`
	Op       string             `json:"op"`
	Channels []string           `json:"channels,omitempty"`
	Values   map[string]float64 `json:"values,omitempty"`
	Release  []string           `json:"release,omitempty"`
	// Hold names the channels that a bye leaves as they are; nil: it is no bye.
	Hold *[]string `json:"hold,omitempty"`
	// Dose names the dose that this is.
	Dose string `json:"dose,omitempty"`
	// ForMS is how long a value holds, in milliseconds, of channels that say "lasts".
	ForMS      map[string]int64 `json:"for_ms,omitempty"`
	DeadlineMS int64            `json:"deadline_ms,omitempty"`
	// Extra is a key that no child knows; it goes with opUnknown.
	Extra bool `json:"no_such_key,omitempty"`
	// patience is how long the answer may take.
	patience time.Duration
	// late, if any, says that it may not leave any more.
	late func(now time.Time) error
}

// encode gives the request's line with its line feed.
func (r request) encode() ([]byte, error) {
	line, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("%s request: %w", r.Op, err)
	}
	line = append(line, '\n')
	if len(line) > wire.MaxLine {
		return nil, fmt.Errorf("%s request of %d bytes is longer than the %d that the protocol allows; ask for fewer channels at once", r.Op, len(line), wire.MaxLine)
	}
	return line, nil
}

// answer is one line from the child after its hello.
type answer struct {
	values  map[string]float64 // by the child's names
	age     time.Duration      // how long before the answer the values were taken
	refusal *RefusedError      // nil where "ok" is true
}

// parseAnswer reads the answer to the request with the given id. Every error is
// a fault of the child.
func parseAnswer(line []byte, id int64) (answer, error) {
	object, err := wire.Object(line)
	if err != nil {
		return answer{}, err
	}
	if object["id"] != float64(id) {
		return answer{}, fmt.Errorf(`%s has "id" %s where %d was due`, wire.Quote(line), quoteValue(object["id"]), id)
	}
	ok, isBool := object["ok"].(bool)
	if !isBool {
		return answer{}, fmt.Errorf(`%s has no "ok" that is true or false`, wire.Quote(line))
	}
	if !ok {
		refusal, err := parseRefusal(object["error"])
		if err != nil {
			return answer{}, fmt.Errorf("%s: %w", wire.Quote(line), err)
		}
		return answer{refusal: refusal}, nil
	}
	values, err := numbersIn(object, "values")
	if err != nil {
		return answer{}, fmt.Errorf("%s: %w", wire.Quote(line), err)
	}
	age, err := ageIn(object)
	if err != nil {
		return answer{}, fmt.Errorf("%s: %w", wire.Quote(line), err)
	}
	return answer{values: values, age: age}, nil
}

// ageIn reads "age_ms"; a missing one is none.
func ageIn(object map[string]any) (time.Duration, error) {
	v, there := object["age_ms"]
	if !there {
		return 0, nil
	}
	ms, ok := v.(float64)
	if !ok || ms < 0 || ms > float64(maxAge/time.Millisecond) {
		return 0, fmt.Errorf(`"age_ms" is %s and must be a number of milliseconds from 0 to %d`, quoteValue(v), maxAge/time.Millisecond)
	}
	return time.Duration(ms * float64(time.Millisecond)), nil
}

// numbersIn reads an object of numbers; a missing key is an empty one.
func numbersIn(object map[string]any, key string) (map[string]float64, error) {
	v, there := object[key]
	if !there {
		return nil, nil
	}
	members, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%q is %s and must be an object of numbers", key, quoteValue(v))
	}
	numbers := make(map[string]float64, len(members))
	for name, v := range members {
		number, ok := v.(float64)
		if !ok {
			return nil, fmt.Errorf("the value of %s is %s and must be a number; leave it out where there is none", wire.Quote([]byte(name)), quoteValue(v))
		}
		numbers[name] = number
	}
	return numbers, nil
}

// parseRefusal reads the "error" of an answer with "ok":false.
func parseRefusal(v any) (*RefusedError, error) {
	members, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New(`"ok" is false, and "error" is not an object`)
	}
	r := &RefusedError{}
	if r.Code, ok = members["code"].(string); !ok || r.Code == "" {
		return nil, errors.New(`"error" has no text "code"`)
	}
	if message, there := members["message"]; there {
		if r.Message, ok = message.(string); !ok {
			return nil, errors.New(`"message" is not text`)
		}
	}
	if retry, there := members["retry"]; there {
		if r.Retry, ok = retry.(bool); !ok {
			return nil, errors.New(`"retry" is not true or false`)
		}
	}
	return r, nil
}

// RefusedError is an answer in which the child said no. It wraps
// drivers.ErrRefused, and drivers.ErrNoValue too where the code is CodeNoValue.
type RefusedError struct {
	// Op is the operation that was refused: read, write or safe.
	Op string
	// Code is one word for programs, Message a sentence for people.
	Code, Message string
	// Retry says that the same request may succeed later.
	Retry bool
}

// Error shows the child's words, quoted and cut.
func (e *RefusedError) Error() string {
	text := fmt.Sprintf("%s %v: %s", e.Op, drivers.ErrRefused, wire.Quote([]byte(e.Code)))
	if e.Message != "" {
		text += ": " + wire.QuoteEnds([]byte(e.Message))
	}
	if e.Retry {
		text += " (it may be tried again)"
	}
	return text
}

// Unwrap gives drivers.ErrRefused, with drivers.ErrNoValue where that is the reason.
func (e *RefusedError) Unwrap() []error {
	if e.Code == CodeNoValue {
		return []error{drivers.ErrRefused, drivers.ErrNoValue}
	}
	return []error{drivers.ErrRefused}
}
