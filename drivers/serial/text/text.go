package text

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
	"github.com/labtuner/tuner/drivers/serial/protocol"
)

// Protocol is how instruments that speak lines of text are spoken to. Atlas Scientific's
// circuits are such instruments too; their answers end with a code.
type Protocol struct {
	Dialect
	timing   protocol.Timing
	log      *slog.Logger
	channels []*phrases // by channel.index
	identify *regexp.Regexp
	ok       *regexp.Regexp // of the error queue
	init     []ready
	stop     []ready
	coded    bool // answers end with a code, as in the ezo protocol
	// taken is, by channel.index, the value that the instrument acknowledged last;
	// NaN where that is not known.
	taken []float64
}

// New prepares what a dialect describes, which is valid and filled. coded says that
// answers end with a code.
func New(o Dialect, timing protocol.Timing, coded bool, channels []*protocol.Channel, lines []Lines, log *slog.Logger) (*Protocol, error) {
	t := &Protocol{Dialect: o, timing: timing, log: log, coded: coded}
	var problems []error
	if o.Identify != nil {
		t.identify = regexp.MustCompile(o.Identify.Match) // validate has seen it
	}
	if o.Errors != nil {
		t.ok = regexp.MustCompile(o.Errors.OK)
	}
	for _, e := range o.Init {
		t.init = append(t.init, t.newReady(e))
	}
	for _, e := range o.Halt {
		t.stop = append(t.stop, t.newReady(e))
	}
	for i, c := range channels {
		p, errs := t.parsePhrases(c, lines[i])
		if len(errs) == 0 && c.Dose && p.write.ack == nil && !t.coded {
			errs = append(errs, errors.New("write has no ack; without a confirmation a dose cannot be told from one that was never given"))
		}
		if len(errs) == 0 && c.Access == drivers.ReadWrite {
			c.Lasts = p.write.lasts > 0
			c.WriteConfirmed = p.write.ack != nil || p.write.verify != nil || t.coded
			c.ReleaseConfirmed = p.release != nil && (p.release.ack != nil || t.coded)
			if err := t.checkLimits(c, p); err != nil {
				errs = append(errs, err)
			}
		}
		for _, err := range errs {
			problems = append(problems, fmt.Errorf("channel %q: %w", c.Name, err))
		}
		t.channels, t.taken = append(t.channels, p), append(t.taken, math.NaN())
	}
	return t, errors.Join(problems...)
}

// Check implements protocol.Protocol.
func (t *Protocol) Check(c *protocol.Channel, v float64) error {
	_, err := t.compose(c, t.channels[c.Index].write, v)
	return err
}

// Batches implements protocol.Protocol: channels with the same question share its answer,
// and then their values are of one instant.
func (t *Protocol) Batches(channels []*protocol.Channel) [][]*protocol.Channel {
	var all [][]*protocol.Channel
	place := map[string]int{}
	for _, c := range channels {
		q := t.channels[c.Index].read
		i, known := place[q.out]
		if !known {
			i = len(all)
			place[q.out], all = i, append(all, nil)
		}
		all[i] = append(all[i], c)
	}
	return all
}

// Ask implements protocol.Protocol.
func (t *Protocol) Ask(ctx context.Context, l *protocol.Line, batch []*protocol.Channel) (map[string]float64, error) {
	first := t.channels[batch[0].Index].read
	answer, err := t.question(ctx, l, first)
	if err != nil {
		return nil, err
	}
	values := map[string]float64{}
	for _, c := range batch {
		q := t.channels[c.Index].read
		if q.none != "" && answer == q.none {
			continue
		}
		raw, err := q.in.scan(answer)
		if err != nil {
			return nil, err
		}
		if q.running && raw != 0 {
			if v := t.taken[c.Index]; !math.IsNaN(v) {
				values[c.Name] = v
			}
			continue
		}
		if values[c.Name], err = c.FromRaw(raw); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// question sends a question and receives its answer: one line, nothing more.
func (t *Protocol) question(ctx context.Context, l *protocol.Line, q *question) (string, error) {
	if err := t.send(ctx, l, q.out); err != nil {
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
func (t *Protocol) answer(ctx context.Context, l *protocol.Line, want expected) (string, error) {
	if t.coded {
		return t.codedAnswer(ctx, l, want)
	}
	text, err := t.receive(ctx, l, want.timeout)
	if err != nil {
		return "", err
	}
	if err := l.Over(); err != nil {
		return "", err
	}
	if want.ack != nil && !want.ack.MatchString(text) {
		return "", fmt.Errorf("%w: %w: it answered %s, and not what matches %q", drivers.ErrRefused, protocol.ErrAnother, wire.Quote([]byte(text)), want.ack)
	}
	return text, nil
}

// exchange sends a command and receives its answer, if it has one.
func (t *Protocol) exchange(ctx context.Context, l *protocol.Line, r ready) error {
	if err := t.send(ctx, l, r.out); err != nil {
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

// Set implements protocol.Protocol.
func (t *Protocol) Set(ctx context.Context, l *protocol.Line, c *protocol.Channel, v float64) (protocol.Outcome, error) {
	w := t.channels[c.Index].write
	text, err := t.compose(c, w, v)
	if err != nil {
		return protocol.Outcome{}, err
	}
	t.taken[c.Index] = math.NaN()
	if err := t.exchange(ctx, l, ready{out: text, ack: w.ack, timeout: w.timeout}); err != nil {
		return protocol.Outcome{}, err
	}
	if err := t.complaints(ctx, l); err != nil {
		return protocol.Outcome{}, fmt.Errorf("after %q: %w", text, err)
	}
	if w.verify == nil {
		t.taken[c.Index] = v
		return protocol.Outcome{}, nil
	}
	if err := protocol.GiveWay(ctx); err != nil {
		return protocol.Outcome{}, err
	}
	answer, err := t.question(ctx, l, w.verify)
	if err != nil {
		return protocol.Outcome{}, err
	}
	raw, err := w.verify.in.scan(answer)
	if err != nil {
		return protocol.Outcome{}, err
	}
	got, err := c.FromRaw(raw)
	if err != nil {
		return protocol.Outcome{}, err
	}
	if math.Abs(got-v) > w.tolerance {
		return protocol.Outcome{}, fmt.Errorf("%w: channel %q was set to %v %s and then says %v; write.verify.tolerance is %v", drivers.ErrRefused, c.Name, v, c.Unit, got, w.tolerance)
	}
	t.taken[c.Index] = got
	return protocol.Outcome{Readback: got, Told: c.Readable}, nil
}

// Say implements protocol.Protocol. What spoils a half-written command comes first.
func (t *Protocol) Say(_ context.Context, l *protocol.Line, c *protocol.Channel, v float64, release bool) error {
	p := t.channels[c.Index]
	t.taken[c.Index] = math.NaN()
	spoil := ""
	if *t.Spoil != "" {
		spoil = *t.Spoil + *t.OutTerminator
	}
	if release {
		return l.Put(spoil + p.release.out + *t.OutTerminator)
	}
	text, err := t.compose(c, p.write, v)
	if err != nil {
		return err
	}
	return l.Put(spoil + text + *t.OutTerminator)
}

// Done implements protocol.Protocol.
func (t *Protocol) Done(ctx context.Context, l *protocol.Line, c *protocol.Channel) (bool, error) {
	q := t.channels[c.Index].write.done
	if q == nil {
		return true, nil
	}
	answer, err := t.question(ctx, l, q)
	if err != nil {
		return false, err
	}
	raw, err := q.in.scan(answer)
	return err == nil && raw == 0, err
}

// Release implements protocol.Protocol.
func (t *Protocol) Release(ctx context.Context, l *protocol.Line, c *protocol.Channel) error {
	t.taken[c.Index] = math.NaN()
	if err := t.exchange(ctx, l, *t.channels[c.Index].release); err != nil {
		return err
	}
	return t.complaints(ctx, l)
}

// Halt implements protocol.Protocol.
func (t *Protocol) Halt(ctx context.Context, l *protocol.Line) error {
	for _, r := range t.stop {
		if err := t.exchange(ctx, l, r); err != nil {
			return err
		}
	}
	return nil
}
