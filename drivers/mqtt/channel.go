package mqtt

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// channel is one channel of the file, checked. Its Channel is what Open declares:
// over MQTT a device says nothing of itself, so unit and limits are the file's.
type channel struct {
	drivers.Scaled

	read     string // topics; empty where there is none
	path     path
	unitPath path
	write    string
	ttl      time.Duration
	plain    bool // setpoints are numbers alone, or of the device's own form
	// template is that form; nil: the number alone. Such a channel is confirmed by what it
	// reads: see underway.go.
	template *template
	off      path   // where the state stands; nil: it is not looked at
	offIs    string // what stands there while the device is off
	poll     *question
	timePath path
	retained bool // what the broker has kept counts
	release  string
	// released is the message of a release where plain.
	released    string
	confirm     string
	confirmWait time.Duration
}

// parseChannels checks the file's channels and gives every problem at once.
func parseChannels(options []ChannelOptions) ([]*channel, error) {
	var channels []*channel
	var problems []error
	names := map[string]bool{}
	for _, o := range options {
		c, err := parseChannel(o)
		if err == nil && names[o.Channel] {
			err = errors.New("is listed twice")
		}
		if err != nil {
			for _, e := range unjoin(err) { // so that each names its channel where they are reported one by one
				problems = append(problems, fmt.Errorf("channel %q: %w", o.Channel, e))
			}
			continue
		}
		names[o.Channel] = true
		channels = append(channels, c)
	}
	if len(options) == 0 {
		problems = append(problems, errors.New("there is no channel; write [device.channel.NAME] with read = { topic = ... }"))
	}
	return channels, errors.Join(append(problems, checkTopics(channels))...)
}

// unjoin takes joined errors apart.
func unjoin(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, unjoin(e)...)
	}
	return all
}

// parseChannel checks one channel.
func parseChannel(o ChannelOptions) (*channel, error) {
	switch {
	case o.Channel == "":
		return nil, errors.New("has no name")
	case o.Read == nil && !o.Dose:
		return nil, errors.New(`has no read; write read = { topic = "..." }, since only a reading tells what was achieved`)
	case o.Write == nil && o.Release != nil:
		return nil, errors.New("has a release topic but no write topic; nothing that is not set can be released")
	case o.Write == nil && o.Confirm != nil:
		return nil, errors.New("has a confirm topic but no write topic; only setpoints and releases are confirmed")
	case o.Write == nil && o.Safe != nil:
		return nil, fmt.Errorf("has safe = %v but no write topic to send it to", *o.Safe)
	}
	nan := math.NaN()
	c := &channel{Scaled: drivers.Scaled{Scale: 1, Channel: drivers.Channel{Name: o.Channel, Unit: o.Unit, Min: nan, Max: nan, Safe: nan, Dose: o.Dose}}}
	if err := errors.Join(o.checkDose(), c.parseRead(o.Read), c.parseWrite(o)); err != nil {
		return nil, err
	}
	if err := o.Apply(&c.Scaled); err != nil {
		return nil, err
	}
	c.Resolution = c.grid()
	return c, c.checkGrid()
}

// parseRead checks where readings come.
func (c *channel) parseRead(o *ReadTopic) error {
	if o == nil {
		return nil
	}
	c.read = o.Topic
	var problems []error
	for _, p := range []struct {
		text string
		to   *path
	}{{o.Path, &c.path}, {o.UnitPath, &c.unitPath}, {o.TimePath, &c.timePath}} {
		parsed, err := parsePath(p.text)
		if *p.to = parsed; err != nil {
			problems = append(problems, fmt.Errorf("read: %w", err))
		}
	}
	if o.Off != nil {
		off, err := parsePath(o.Off.Path)
		if c.off, c.offIs = off, o.Off.Is; err != nil || off == nil {
			problems = append(problems, fmt.Errorf("read: off: path %q: %w", o.Off.Path, cmp.Or(err, errors.New("is empty"))))
		}
	}
	if c.retained = o.AcceptRetained; c.retained && o.TimePath == "" {
		problems = append(problems, errors.New("read: accept_retained is true, but there is no time_path: without the device's own time the age of such a value is unknown"))
	}
	if p := o.Poll; p != nil {
		c.poll = &question{topic: p.Topic, payload: p.Payload, every: cmp.Or(p.Every, defaultPoll)}
		if err := checkTopic("read: poll", p.Topic); err != nil {
			problems = append(problems, err)
		}
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	if o.UnitPath != "" && c.Unit == "" {
		return fmt.Errorf("read: unit_path is %q, but the channel has no unit to compare with", o.UnitPath)
	}
	return checkTopic("read", c.read)
}

// parseWrite checks where setpoints, releases and confirmations go.
func (c *channel) parseWrite(o ChannelOptions) error {
	if o.Write == nil {
		return nil
	}
	c.Access, c.CanRelease = drivers.ReadWrite, o.Release != nil
	c.write, c.ttl, c.plain = o.Write.Topic, o.Write.TTL, o.Write.Format == formatNumber
	if c.ttl == 0 {
		c.ttl = defaultTTL
	}
	problems := []error{checkTopic("write", c.write)}
	bad := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	c.Lasts = o.Write.Lasts
	if o.Write.Template != "" {
		problems = append(problems, c.parseTemplate(o.Write))
	} else if o.Write.Off != "" {
		bad("write: off is %q, but there is no template; a device that takes numbers gets 0", o.Write.Off)
	}
	if c.Lasts && c.plain {
		bad("write: lasts is true, and the message does not say for how long; that needs format %q without a template", formatJSON)
	}
	if o.Release != nil {
		c.release, c.released = o.Release.Topic, o.Release.Payload
		problems = append(problems, checkTopic("release", c.release))
		if c.plain != (c.released != "") {
			bad("release: payload is %q and write.format %q; a payload goes with the format number or a template, and only with them", c.released, o.Write.Format)
		}
	}
	if o.Confirm != nil {
		c.confirm, c.confirmWait = o.Confirm.Topic, o.Confirm.Timeout
		problems = append(problems, checkTopic("confirm", c.confirm))
		if c.confirmWait == 0 {
			c.confirmWait = defaultConfirm
		}
		if c.plain {
			bad("confirm: a device that takes numbers alone, or a template, cannot say which one it took; leave confirm out, the readings tell")
		}
	}
	return errors.Join(problems...)
}

// parseTemplate reads the device's own form of setpoints. What its readings tell is then the
// confirmation.
func (c *channel) parseTemplate(o *WriteTopic) error {
	var err error
	if o.Format != "" {
		return fmt.Errorf("write: format is %q beside a template, which says what a setpoint looks like; remove one", o.Format)
	}
	c.plain, c.confirmWait = true, defaultConfirm
	if c.template, err = parseTemplate(o.Template, o.Off); err != nil {
		return err
	}
	if p := c.poll; p != nil && p.topic == c.write {
		if v, err := c.template.parse(p.payload); err == nil {
			return fmt.Errorf("read: poll: %q on %q would set %g: a question must not be a setpoint", p.payload, p.topic, v)
		}
	}
	return nil
}

// told is the value that the device is told for one that is wanted: the message may hold fewer
// decimal places.
func (c *channel) told(v float64) float64 {
	if c.template == nil {
		return v
	}
	if told, err := c.FromRaw(c.template.round(c.ToRaw(v))); err == nil {
		return told
	}
	return v
}

// grid is the distance of two values that the message can hold, 0 where it holds all.
func (c *channel) grid() float64 {
	if c.template == nil {
		return 0
	}
	return math.Abs(c.Scale) * c.template.step()
}

// checkGrid refuses a safe value and limits that the device cannot be told: one beside it would
// be sent in their place.
func (c *channel) checkGrid() error {
	for _, k := range []struct {
		key string
		v   float64
	}{{"safe", c.Safe}, {"min", c.Min}, {"max", c.Max}} {
		if told := c.told(k.v); math.Abs(told-k.v) > drivers.Rounding*(math.Abs(k.v)+math.Abs(c.Offset)) { // false where it is not known
			return fmt.Errorf("%s is %v, and the template's nearest message says %v; write a value that it can say, or more decimal places", k.key, k.v, told)
		}
	}
	return nil
}
