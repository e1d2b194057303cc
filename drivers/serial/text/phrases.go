package text

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/protocol"
)

// ready is a command with what its answer must match; nil: no answer.
type ready struct {
	out     string
	ack     *regexp.Regexp
	timeout time.Duration
}

// phrases are one channel's commands and answers; those it does not have are nil.
type phrases struct {
	read    *question
	write   *command
	release *ready
}

type question struct {
	out     string
	in      template
	none    string
	running bool // the answer only says whether the channel is at work
	timeout time.Duration
}

type command struct {
	out       template
	ack       *regexp.Regexp
	verify    *question
	tolerance float64
	// lasts is the unit of the time that a value stands, 0: until it is changed.
	lasts   time.Duration
	timeout time.Duration
	done    *question // nil: a dose is over when it is acknowledged
}

// newReady prepares an exchange whose expression is known to be valid.
func (t *Protocol) newReady(e Exchange) ready {
	r := ready{out: e.Out, timeout: t.timing.ReplyTimeout}
	if e.Ack != "" {
		r.ack = regexp.MustCompile(e.Ack)
	}
	return r
}

// parsePhrases reads what a channel says about lines, and gives every problem at
// once.
func (t *Protocol) parsePhrases(c *protocol.Channel, o Lines) (p *phrases, problems []error) {
	p = &phrases{}
	var err error
	if o.Read != nil {
		if p.read, err = t.parseRead(o.Read, c); err != nil {
			problems = append(problems, fmt.Errorf("read.%w", err))
		}
	}
	if o.Write != nil {
		if p.write, err = t.parseCommand(o.Write, c.WriteTimeout); err != nil {
			problems = append(problems, fmt.Errorf("write.%w", err))
		}
	}
	if o.Release != nil {
		if p.release, err = t.parseRelease(o.Release); err != nil {
			problems = append(problems, fmt.Errorf("release.%w", err))
		}
	}
	return p, problems
}

func (t *Protocol) parseRead(o *ReadKeys, c *protocol.Channel) (*question, error) {
	if o.Running && c.Access != drivers.ReadWrite {
		return nil, errors.New("running is for a channel that is set; this one has no write")
	}
	q, err := t.parseQuestion(o.Out, o.In)
	if err != nil {
		return nil, err
	}
	q.none, q.running, q.timeout = o.None, o.Running, c.ReadTimeout
	return q, nil
}

func (t *Protocol) parseRelease(e *Exchange) (*ready, error) {
	if err := t.checkOut(e.Out); err != nil {
		return nil, fmt.Errorf("out: %w", err)
	}
	if _, err := regexp.Compile(e.Ack); err != nil {
		return nil, fmt.Errorf("ack: %q is no regular expression: %w", e.Ack, err)
	}
	r := t.newReady(*e)
	return &r, nil
}

func (t *Protocol) parseQuestion(out, in string) (*question, error) {
	q := &question{out: out, timeout: t.timing.ReplyTimeout}
	if err := t.checkOut(out); err != nil {
		return nil, fmt.Errorf("out: %w", err)
	}
	var err error
	if q.in, err = parseTemplate(in); err != nil {
		return nil, fmt.Errorf("in: %w", err)
	}
	if n := q.in.values(); n != 1 {
		return nil, fmt.Errorf("in: %q has %d values and a channel has one; pass others over with %%*f", in, n)
	}
	return q, nil
}

func (t *Protocol) parseCommand(w *WriteKeys, timeout time.Duration) (*command, error) {
	c := &command{timeout: timeout}
	if err := t.checkOut(w.Out); err != nil {
		return nil, fmt.Errorf("out: %w", err)
	}
	var err error
	if c.out, err = parseTemplate(w.Out); err != nil {
		return nil, fmt.Errorf("out: %w", err)
	}
	var timed bool
	if c.lasts, timed = timeUnits[w.Lasts]; w.Lasts != "" && !timed {
		return nil, fmt.Errorf("lasts: %q is no unit of time; it is ms, s or min", w.Lasts)
	}
	if n := c.out.values(); n != 1 || c.out.skips() != timed {
		return nil, fmt.Errorf("out: %q must have one conversion, for the value, and with lasts, and only then, another with a star, for its time", w.Out)
	}
	if w.Ack != "" {
		if c.ack, err = regexp.Compile(w.Ack); err != nil {
			return nil, fmt.Errorf("ack: %q is no regular expression: %w", w.Ack, err)
		}
	}
	if w.Done != nil {
		if c.done, err = t.parseQuestion(w.Done.Out, w.Done.In); err != nil {
			return nil, fmt.Errorf("done.%w", err)
		}
	}
	if w.Verify != nil {
		if c.verify, err = t.parseQuestion(w.Verify.Out, w.Verify.In); err != nil {
			return nil, fmt.Errorf("verify.%w", err)
		}
		c.tolerance = w.Verify.Tolerance
	}
	return c, nil
}

// checkLimits tries what must be possible to send: the limits and the safe value.
func (t *Protocol) checkLimits(c *protocol.Channel, p *phrases) error {
	for _, v := range []float64{c.Min, c.Max, c.Safe} {
		if math.IsNaN(v) {
			continue
		}
		if _, err := t.compose(c, p.write, v); err != nil {
			return fmt.Errorf("write.out: %w", err)
		}
	}
	return nil
}

// timeUnits are the units in which a command may say how long its value stands.
var timeUnits = map[string]time.Duration{"ms": time.Millisecond, "s": time.Second, "min": time.Minute}

// untold is how long a value stands of which nobody has said it: a safe value at the
// end, after which the instrument goes to its own safe state.
const untold = time.Minute

// standing is the time that a conversion is given for a value: in units, rounded down to
// what the conversion can show, so that a value never stands for longer than its lease.
func (w *command) standing(p part, stands time.Duration) (float64, error) {
	if stands <= 0 {
		stands = max(untold, w.lasts)
	}
	units := float64(stands) / float64(w.lasts)
	places := max(p.precision, 0)
	if p.kind != 'd' && p.precision < 0 {
		places = 6
	}
	if p.kind == 'd' {
		places = 0
	}
	scale := math.Pow(10, float64(places))
	shown := math.Floor(units*scale+1e-9) / scale
	if shown <= 0 {
		return 0, fmt.Errorf("%w: a lease of %v would be sent as none: the command says it in units of %v", drivers.ErrRefused, stands, w.lasts)
	}
	return shown, nil
}

// line is the command for a value and the time that it stands.
func (w *command) line(c *protocol.Channel, v float64) (string, error) {
	var problem error
	text, err := w.out.formatEach(func(p part) float64 {
		if !p.skip {
			return c.ToRaw(v)
		}
		t, err := w.standing(p, c.Stands)
		problem = errors.Join(problem, err)
		return t
	})
	return text, errors.Join(problem, err)
}

// compose writes the command for a value. What is sent must lie within the limits
// too: rounding may carry a value beyond them.
func (t *Protocol) compose(c *protocol.Channel, w *command, v float64) (string, error) {
	text, err := w.line(c, v)
	if err != nil {
		return "", err
	}
	if err := t.checkOut(text); err != nil {
		return "", err
	}
	raw, err := w.out.scan(text)
	if err != nil {
		return "", fmt.Errorf("%q could not be read back: %w", text, err)
	}
	if sent := c.NearLimit(c.Scale*raw+c.Offset, c.Min, c.Max); sent < c.Min || sent > c.Max {
		return "", fmt.Errorf("%w: %v %s would be sent as %q, which lies outside %v to %v", drivers.ErrRefused, v, c.Unit, text, c.Min, c.Max)
	}
	return text, nil
}
