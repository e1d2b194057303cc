package text

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/port"
	"github.com/labtuner/tuner/drivers/serial/protocol"
)

// speaker is the instrument that a description of lines describes: it reads what
// the driver writes and writes what the driver reads.
type speaker struct {
	talk   *Protocol
	dev    *protocol.Served
	fixed  map[string]func(context.Context) string // by command
	set    []settable
	heard  []byte
	errors []string // the error queue
}

// settable is a command that carries a value.
type settable struct {
	channel *protocol.Channel
	command *command
	ack     string
}

// notUnderstood is what an instrument without an error queue answers where it
// cannot do what it is told.
const notUnderstood = "ERR"

// Instrument implements protocol.Protocol.
func (t *Protocol) Instrument(channels []*protocol.Channel, dev *protocol.Served) (port.Instrument, error) {
	return newSpeaker(t, channels, dev)
}

// newSpeaker prepares an instrument's answers.
func newSpeaker(t *Protocol, channels []*protocol.Channel, dev *protocol.Served) (*speaker, error) {
	s := &speaker{talk: t, dev: dev, fixed: map[string]func(context.Context) string{}}
	var problems []error
	add := func(out string, answer func(context.Context) string) {
		if _, there := s.fixed[out]; !there {
			s.fixed[out] = answer
		}
	}
	says := func(what, expression string) string {
		text, err := specimen(expression)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", what, err))
		}
		return text
	}
	if o := t.Identify; o != nil {
		name := says("identify.match", o.Match)
		add(o.Out, func(context.Context) string { return s.data(name) })
	}
	if o := t.Errors; o != nil {
		none := says("errors.ok", o.OK)
		add(o.Out, func(context.Context) string { return s.data(s.oldest(none)) })
	}
	for _, e := range t.Init {
		ack := says("init", e.Ack)
		add(e.Out, func(context.Context) string { s.errors = nil; return s.done(ack) })
	}
	for _, e := range t.Dialect.Halt {
		ack := says("halt", e.Ack)
		add(e.Out, func(ctx context.Context) string { return s.outcome(s.dev.Halt(ctx), ack) })
	}
	problems = append(problems, s.addQuestions(channels, add)...)
	for _, c := range channels {
		p := t.channels[c.Index]
		if p.release != nil {
			ack := ""
			if p.release.ack != nil {
				ack = says("release.ack", p.release.ack.String())
			}
			add(p.release.out, func(ctx context.Context) string {
				return s.outcome(s.dev.Write(ctx, drivers.Setpoints{Release: []string{c.Name}}), ack)
			})
		}
		if p.write != nil {
			w := settable{channel: c, command: p.write}
			if p.write.ack != nil {
				w.ack = says("write.ack", p.write.ack.String())
			}
			s.set = append(s.set, w)
		}
	}
	return s, errors.Join(problems...)
}

// addQuestions adds the answers to read.out and to write.verify.out.
func (s *speaker) addQuestions(channels []*protocol.Channel, add func(string, func(context.Context) string)) []error {
	var problems []error
	readable := slices.DeleteFunc(slices.Clone(channels), func(c *protocol.Channel) bool { return !c.Readable })
	for _, batch := range s.talk.Batches(readable) {
		q := s.talk.channels[batch[0].Index].read
		answer, err := s.joined(batch)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		add(q.out, func(ctx context.Context) string { return s.reading(ctx, batch, answer) })
	}
	for _, c := range channels {
		if p := s.talk.channels[c.Index]; p.write != nil && p.write.done != nil {
			// A served device has given a dose when it answers.
			over, err := p.write.done.in.format(0)
			if err != nil {
				problems = append(problems, err)
			}
			add(p.write.done.out, func(context.Context) string { return s.data(over) })
		}
		if p := s.talk.channels[c.Index]; p.write != nil && p.write.verify != nil {
			answer := []*template{&p.write.verify.in}
			add(p.write.verify.out, func(ctx context.Context) string { return s.reading(ctx, []*protocol.Channel{c}, answer) })
		}
	}
	return problems
}

// joined gives the forms of the answer that several channels share, one for each
// channel. They must be the same but for which values they pass over.
func (s *speaker) joined(batch []*protocol.Channel) ([]*template, error) {
	var forms []*template
	for _, c := range batch {
		in := &s.talk.channels[c.Index].read.in
		same := len(forms) == 0 || slices.EqualFunc(forms[0].parts, in.parts, func(a, b part) bool {
			return a.literal == b.literal && (a.kind == 0) == (b.kind == 0)
		})
		if !same {
			return nil, fmt.Errorf("channels %q and %q share the question %q but not the form of its answer, %q and %q; such a device cannot be served",
				batch[0].Name, c.Name, s.talk.channels[c.Index].read.out, forms[0].text, in.text)
		}
		forms = append(forms, in)
	}
	return forms, nil
}

// reading answers a question for one or more channels, whose values stand in one
// line. "" is silence.
func (s *speaker) reading(ctx context.Context, batch []*protocol.Channel, forms []*template) string {
	names := make([]string, len(batch))
	for i, c := range batch {
		names[i] = c.Name
	}
	var values map[string]float64
	if q := s.talk.channels[batch[0].Index].read; q != nil && q.none != "" {
		var err error
		if values, err = s.dev.Now(ctx, names); err != nil {
			return ""
		}
		if len(values) < len(names) {
			return s.data(q.none)
		}
	} else if values = s.dev.After(ctx, names, s.talk.timing.ReplyTimeout*4/5); values == nil {
		return ""
	}
	var line []byte
	for i, p := range forms[0].parts {
		text := p.literal
		if p.kind != 0 {
			p, v := s.source(batch, forms, i, values)
			var err error
			if text, err = p.print(v); err != nil {
				return ""
			}
		}
		line = append(line, text...)
	}
	return s.data(string(line))
}

// source is the conversion at a place of the line and the value for it: the one
// of the channel that reads it, or 0 where all pass it over.
func (s *speaker) source(batch []*protocol.Channel, forms []*template, place int, values map[string]float64) (part, float64) {
	for i, form := range forms {
		if p := form.parts[place]; !p.skip {
			raw := batch[i].ToRaw(values[batch[i].Name])
			if q := s.talk.channels[batch[i].Index].read; q != nil && q.running && raw != 0 {
				raw = 1
			}
			return p, raw
		}
	}
	return forms[0].parts[place], 0
}

// data is a line of data, with the code that ends it where there are codes.
func (s *speaker) data(text string) string {
	text += *s.talk.InTerminator
	if s.talk.coded {
		text += ezoOK + *s.talk.InTerminator
	}
	return text
}

// done is the answer to a command that was carried out.
func (s *speaker) done(ack string) string {
	switch {
	case s.talk.coded && ack == "":
		return ezoOK + *s.talk.InTerminator
	case ack == "":
		return ""
	}
	return ack + *s.talk.InTerminator
}

// outcome is the answer to a command that may have failed.
func (s *speaker) outcome(err error, ack string) string {
	if err == nil {
		return s.done(ack)
	}
	return s.failed(`-200,"Execution error"`)
}

// failed is the answer to a command that cannot be carried out.
func (s *speaker) failed(entry string) string {
	switch {
	case s.talk.coded:
		return ezoER + *s.talk.InTerminator
	case s.talk.Errors != nil:
		s.errors = append(s.errors, entry)
		return ""
	}
	return notUnderstood + *s.talk.InTerminator
}

// oldest takes the oldest error out of the queue.
func (s *speaker) oldest(none string) string {
	if len(s.errors) == 0 {
		return none
	}
	first := s.errors[0]
	s.errors = s.errors[1:]
	return first
}

// Reset implements instrument.
func (s *speaker) Reset() { s.heard = nil }

// Hear implements instrument.
func (s *speaker) Hear(ctx context.Context, data []byte) ([]byte, error) {
	s.heard = append(s.heard, data...)
	var said []byte
	end := []byte(*s.talk.OutTerminator)
	for {
		i := bytes.Index(s.heard, end)
		if i < 0 {
			break
		}
		command := string(s.heard[:i])
		s.heard = s.heard[i+len(end):]
		said = append(said, s.answer(ctx, command)...)
	}
	if len(s.heard) > s.talk.MaxLine {
		s.heard = nil // an instrument's buffer is not endless
	}
	return said, ctx.Err()
}

// answer carries one command out.
func (s *speaker) answer(ctx context.Context, command string) string {
	if fixed, known := s.fixed[command]; known {
		return fixed(ctx)
	}
	if s.talk.coded && (command == ezoSpoil || command == ezoQuiet) {
		return s.done("")
	}
	for _, w := range s.set {
		raw, err := w.command.out.scan(command)
		if err != nil {
			continue
		}
		v := w.channel.NearLimit(w.channel.Scale*raw+w.channel.Offset, w.channel.Min, w.channel.Max)
		if err := w.channel.Accepts(v, "only one with write can be set"); err != nil {
			return s.failed(`-222,"Data out of range"`)
		}
		return s.outcome(s.dev.Set(ctx, w.channel, v), w.ack)
	}
	return s.failed(`-113,"Undefined header"`)
}
