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
	// taken is, by channel.index, the value that the instrument acknowledged last;
	// NaN where that is not known.
	taken []float64
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
		p, errs := t.parsePhrases(options[i])
		if len(errs) == 0 && c.Dose && p.write.ack == nil && !t.coded {
			errs = append(errs, errors.New("write has no ack; a dose that nothing confirms cannot be told from one that was never given"))
		}
		if len(errs) == 0 && c.Access == drivers.ReadWrite {
			c.Lasts = p.write.lasts > 0
			c.writeConfirmed = p.write.ack != nil || p.write.verify != nil || t.coded
			c.releaseConfirmed = p.release != nil && (p.release.ack != nil || t.coded)
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
		if q.running && raw != 0 {
			if v := t.taken[c.index]; !math.IsNaN(v) {
				values[c.Name] = v
			}
			continue
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
		return "", fmt.Errorf("%w: %w: it answered %s, and not what matches %q", drivers.ErrRefused, errAnother, wire.Quote([]byte(text)), want.ack)
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
	t.taken[c.index] = math.NaN()
	if err := t.exchange(ctx, l, ready{out: text, ack: w.ack, timeout: w.timeout}); err != nil {
		return outcome{}, err
	}
	if err := t.complaints(ctx, l); err != nil {
		return outcome{}, fmt.Errorf("after %q: %w", text, err)
	}
	if w.verify == nil {
		t.taken[c.index] = v
		return outcome{}, nil
	}
	if err := giveWay(ctx); err != nil {
		return outcome{}, err
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
	t.taken[c.index] = got
	return outcome{readback: got, told: c.readable}, nil
}

// say implements talker. What spoils a half-written command comes first.
func (t *lines) say(_ context.Context, l *line, c *channel, v float64, release bool) error {
	p := t.channels[c.index]
	t.taken[c.index] = math.NaN()
	spoil := ""
	if *t.opt.Spoil != "" {
		spoil = *t.opt.Spoil + *t.opt.OutTerminator
	}
	if release {
		return l.put(spoil + p.release.out + *t.opt.OutTerminator)
	}
	text, err := t.compose(c, p.write, v)
	if err != nil {
		return err
	}
	return l.put(spoil + text + *t.opt.OutTerminator)
}

// done implements talker.
func (t *lines) done(ctx context.Context, l *line, c *channel) (bool, error) {
	q := t.channels[c.index].write.done
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

// release implements talker.
func (t *lines) release(ctx context.Context, l *line, c *channel) error {
	t.taken[c.index] = math.NaN()
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
