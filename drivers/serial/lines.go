package serial

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"regexp"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/exec/wire"
)

// lines is the talker of instruments that speak lines of text. Atlas Scientific's
// circuits are such instruments too; their answers end with a code.
type lines struct {
	opt      *Options
	log      *slog.Logger
	channels []*phrases // by channel.index
	identify *regexp.Regexp
	ok       *regexp.Regexp // of the error queue
	init     []ready
	stop     []ready
	coded    bool // answers end with a code, as in the ezo protocol
}

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
	timeout time.Duration
}

type command struct {
	out        template
	ack        *regexp.Regexp
	verify     *question
	tolerance  float64
	repeatable bool
	timeout    time.Duration
}

// newLines prepares what the options describe; they are valid and filled.
func newLines(o *Options, channels []*channel, options []ChannelOptions, log *slog.Logger) (*lines, error) {
	t := &lines{opt: o, log: log, coded: o.Protocol == "ezo"}
	var problems []error
	if o.Identify != nil {
		t.identify = regexp.MustCompile(o.Identify.Match) // validate has seen it
	}
	if o.Errors != nil {
		t.ok = regexp.MustCompile(o.Errors.OK)
	}
	for _, e := range o.Init {
		t.init = append(t.init, newReady(e, o))
	}
	for _, e := range o.Halt {
		t.stop = append(t.stop, newReady(e, o))
	}
	for i, c := range channels {
		p, err := t.parsePhrases(options[i])
		if err == nil && c.Access == drivers.ReadWrite {
			c.writeConfirmed = p.write.ack != nil || p.write.verify != nil || t.coded
			c.releaseConfirmed = p.release != nil && (p.release.ack != nil || t.coded)
			err = t.checkLimits(c, p)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("channel %q: %w", c.Name, err))
		}
		t.channels = append(t.channels, p)
	}
	return t, errors.Join(problems...)
}

// newReady prepares an exchange whose expression is known to be valid.
func newReady(e Exchange, o *Options) ready {
	r := ready{out: e.Out, timeout: o.ReplyTimeout}
	if e.Ack != "" {
		r.ack = regexp.MustCompile(e.Ack)
	}
	return r
}

// parsePhrases reads what a channel says about lines.
func (t *lines) parsePhrases(o ChannelOptions) (*phrases, error) {
	p := &phrases{}
	var err error
	if o.Read != nil {
		if o.Read.Register != nil {
			return nil, errors.New(`read.register is for protocol = "modbus"; write out and in`)
		}
		if p.read, err = t.parseQuestion(o.Read.Out, o.Read.In); err != nil {
			return nil, fmt.Errorf("read.%w", err)
		}
		p.read.none, p.read.timeout = o.Read.None, orElse(o.Read.Timeout, t.opt.ReplyTimeout)
	}
	if o.Write != nil {
		if p.write, err = t.parseCommand(o.Write); err != nil {
			return nil, fmt.Errorf("write.%w", err)
		}
	}
	if o.Release != nil {
		if err := t.opt.checkOut(o.Release.Out); err != nil {
			return nil, fmt.Errorf("release.out: %w", err)
		}
		if _, err := regexp.Compile(o.Release.Ack); err != nil {
			return nil, fmt.Errorf("release.ack: %q is no regular expression: %w", o.Release.Ack, err)
		}
		r := newReady(*o.Release, t.opt)
		p.release = &r
	}
	return p, nil
}

func orElse(d, other time.Duration) time.Duration {
	if d == 0 {
		return other
	}
	return d
}

func (t *lines) parseQuestion(out, in string) (*question, error) {
	q := &question{out: out, timeout: t.opt.ReplyTimeout}
	if err := t.opt.checkOut(out); err != nil {
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

func (t *lines) parseCommand(w *Write) (*command, error) {
	if w.Register != nil {
		return nil, errors.New(`register is for protocol = "modbus"; write out`)
	}
	c := &command{repeatable: w.Idempotent, timeout: orElse(w.Timeout, t.opt.ReplyTimeout)}
	if err := t.opt.checkOut(w.Out); err != nil {
		return nil, fmt.Errorf("out: %w", err)
	}
	var err error
	if c.out, err = parseTemplate(w.Out); err != nil {
		return nil, fmt.Errorf("out: %w", err)
	}
	if n := c.out.values(); n != 1 || c.out.skips() {
		return nil, fmt.Errorf("out: %q must have one conversion, for the value, and none that is passed over", w.Out)
	}
	if w.Ack != "" {
		if c.ack, err = regexp.Compile(w.Ack); err != nil {
			return nil, fmt.Errorf("ack: %q is no regular expression: %w", w.Ack, err)
		}
	}
	if w.Verify != nil {
		if c.verify, err = t.parseQuestion(w.Verify.Out, w.Verify.In); err != nil {
			return nil, fmt.Errorf("verify.%w", err)
		}
		if c.tolerance = w.Verify.Tolerance; !finite(c.tolerance) || c.tolerance < 0 {
			return nil, fmt.Errorf("verify.tolerance: is %v and must be finite and not negative", c.tolerance)
		}
	}
	return c, nil
}

// checkLimits tries what must be possible to send: the limits and the safe value.
func (t *lines) checkLimits(c *channel, p *phrases) error {
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

// compose writes the command for a value. What is sent must lie within the limits
// too: rounding may carry a value beyond them.
func (t *lines) compose(c *channel, w *command, v float64) (string, error) {
	text, err := w.out.format(c.toRaw(v))
	if err != nil {
		return "", err
	}
	if err := t.opt.checkOut(text); err != nil {
		return "", err
	}
	raw, err := w.out.scan(text)
	if err != nil {
		return "", fmt.Errorf("%q could not be read back: %w", text, err)
	}
	if sent := c.nearLimit(c.scale*raw + c.offset); sent < c.Min || sent > c.Max {
		return "", fmt.Errorf("%w: %v %s would be sent as %q, which lies outside %v to %v", drivers.ErrRefused, v, c.Unit, text, c.Min, c.Max)
	}
	return text, nil
}

// check implements talker.
func (t *lines) check(c *channel, v float64) error {
	_, err := t.compose(c, t.channels[c.index].write, v)
	return err
}

// repeatable implements talker.
func (t *lines) repeatable(c *channel) bool { return t.channels[c.index].write.repeatable }

// batches implements talker: channels with the same question share its answer,
// and then their values are of one instant.
func (t *lines) batches(channels []*channel) [][]*channel {
	var all [][]*channel
	place := map[string]int{}
	for _, c := range channels {
		q := t.channels[c.index].read
		i, known := place[q.out]
		if !known {
			i = len(all)
			place[q.out], all = i, append(all, nil)
		}
		all[i] = append(all[i], c)
	}
	return all
}

// ask implements talker.
func (t *lines) ask(ctx context.Context, l *line, batch []*channel) (map[string]float64, error) {
	first := t.channels[batch[0].index].read
	answer, err := t.question(ctx, l, first)
	if err != nil {
		return nil, err
	}
	values := map[string]float64{}
	for _, c := range batch {
		q := t.channels[c.index].read
		if q.none != "" && answer == q.none {
			continue
		}
		raw, err := q.in.scan(answer)
		if err != nil {
			return nil, err
		}
		if values[c.Name], err = c.fromRaw(raw); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// question sends a question and receives its answer: one line, nothing more.
func (t *lines) question(ctx context.Context, l *line, q *question) (string, error) {
	if err := l.send(ctx, q.out); err != nil {
		return "", err
	}
	answer, err := t.answer(ctx, l, expected{data: true, timeout: q.timeout})
	if err != nil {
		return "", fmt.Errorf("to %q: %w", q.out, err)
	}
	return answer, nil
}

// expected is what an answer should look like.
type expected struct {
	data    bool           // a line of data
	ack     *regexp.Regexp // what the line must match; nil: anything
	timeout time.Duration
}

// answer receives one whole answer.
func (t *lines) answer(ctx context.Context, l *line, want expected) (string, error) {
	if t.coded {
		return t.codedAnswer(ctx, l, want)
	}
	text, err := l.receive(ctx, want.timeout)
	if err != nil {
		return "", err
	}
	if err := l.over(); err != nil {
		return "", err
	}
	if want.ack != nil && !want.ack.MatchString(text) {
		return "", fmt.Errorf("%w: it answered %s, and not what matches %q", drivers.ErrRefused, wire.Quote([]byte(text)), want.ack)
	}
	return text, nil
}

// exchange sends a command and receives its answer, if it has one.
func (t *lines) exchange(ctx context.Context, l *line, r ready) error {
	if err := l.send(ctx, r.out); err != nil {
		return err
	}
	if r.ack == nil && !t.coded {
		return nil
	}
	if _, err := t.answer(ctx, l, expected{ack: r.ack, timeout: r.timeout}); err != nil {
		return fmt.Errorf("to %q: %w", r.out, err)
	}
	return nil
}

// set implements talker.
func (t *lines) set(ctx context.Context, l *line, c *channel, v float64) (outcome, error) {
	w := t.channels[c.index].write
	text, err := t.compose(c, w, v)
	if err != nil {
		return outcome{}, err
	}
	if err := t.exchange(ctx, l, ready{out: text, ack: w.ack, timeout: w.timeout}); err != nil {
		return outcome{}, err
	}
	if err := t.complaints(ctx, l); err != nil {
		return outcome{}, fmt.Errorf("after %q: %w", text, err)
	}
	if w.verify == nil {
		return outcome{}, nil
	}
	answer, err := t.question(ctx, l, w.verify)
	if err != nil {
		return outcome{}, err
	}
	raw, err := w.verify.in.scan(answer)
	if err != nil {
		return outcome{}, err
	}
	got, err := c.fromRaw(raw)
	if err != nil {
		return outcome{}, err
	}
	if math.Abs(got-v) > w.tolerance {
		return outcome{}, fmt.Errorf("%w: channel %q was set to %v %s and then says %v; write.verify.tolerance is %v", drivers.ErrRefused, c.Name, v, c.Unit, got, w.tolerance)
	}
	return outcome{readback: got, told: c.readable}, nil
}

// release implements talker.
func (t *lines) release(ctx context.Context, l *line, c *channel) error {
	if err := t.exchange(ctx, l, *t.channels[c.index].release); err != nil {
		return err
	}
	return t.complaints(ctx, l)
}

// halt implements talker.
func (t *lines) halt(ctx context.Context, l *line) error {
	for _, r := range t.stop {
		if err := t.exchange(ctx, l, r); err != nil {
			return err
		}
	}
	return nil
}
