package serial

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Options are the keys of a [[device]] with driver = "serial".
type Options struct {
	Profile  string `toml:"profile" doc:"a ready description to start from; the keys that are written replace its keys"`
	Protocol string `toml:"protocol" enum:"line,ezo,modbus" doc:"lines of text; Atlas Scientific's; Modbus RTU"`

	Port     string `toml:"port" required:"true" doc:"the device file, best as /dev/serial/by-id/..., which stays with the instrument"`
	Baud     int    `toml:"baud" unit:"1/s" bound:">= 50, <= 4000000" doc:"bits per second"`
	DataBits int    `toml:"data_bits" bound:">= 5, <= 8" doc:"bits of a character"`
	Parity   string `toml:"parity" enum:"none,even,odd" doc:"parity bit"`
	StopBits int    `toml:"stop_bits" bound:">= 1, <= 2" doc:"stop bits"`
	DTR      string `toml:"dtr" enum:"on,off" doc:"the line that resets many Arduinos when it rises"`
	RTS      string `toml:"rts" enum:"on,off" doc:"the line that some RS-485 adapters send by"`

	OpenDelay    time.Duration `toml:"open_delay" bound:">= 0s, <= 1m" doc:"wait after opening, for a board that restarts then"`
	Pause        time.Duration `toml:"pause" bound:">= 0s, <= 1m" doc:"least time from one command to the next"`
	ReplyTimeout time.Duration `toml:"reply_timeout" bound:"> 0s, <= 1h" doc:"longest wait for the first byte of an answer"`
	ReadTimeout  time.Duration `toml:"read_timeout" bound:"> 0s, <= 1m" doc:"longest pause within an answer"`
	WriteTimeout time.Duration `toml:"write_timeout" bound:"> 0s, <= 1m" doc:"longest time for a command to leave"`
	HaltTimeout  time.Duration `toml:"halt_timeout" bound:"> 0s, <= 1h" doc:"longest wait for readings to confirm the safe values"`
	ReconnectMin time.Duration `toml:"reconnect_min" bound:"> 0s, <= 1h" doc:"wait before the second attempt to reconnect; it doubles from there"`
	ReconnectMax time.Duration `toml:"reconnect_max" bound:"> 0s, <= 1h" doc:"longest wait between two attempts"`
	Retries      int           `toml:"retries" bound:">= 0, <= 10" doc:"how often a reading without a good answer is asked for again"`

	Terminator    *string    `toml:"terminator" doc:"what ends a line, both ways"`
	InTerminator  *string    `toml:"in_terminator" doc:"what ends an answer; absent: terminator; empty: the pause of read_timeout"`
	OutTerminator *string    `toml:"out_terminator" doc:"what ends a command; absent: terminator"`
	MaxLine       int        `toml:"max_line" unit:"bytes" bound:">= 16, <= 4096" doc:"longest answer or command"`
	Spoil         *string    `toml:"spoil" doc:"sent before the first command, to spoil one that a broken connection left half-written; empty: nothing"`
	Identify      *Identify  `toml:"identify" doc:"how to tell that the right instrument answers, at every connect"`
	Init          []Exchange `toml:"init" doc:"what to send at every connect; it must not move anything"`
	Halt          []Exchange `toml:"halt" doc:"what to send when everything is to go safe, before the channels' own safe values"`
	Errors        *Errors    `toml:"errors" doc:"the instrument's error queue, as SCPI has it"`

	Address int     `toml:"address" bound:">= 1, <= 247" doc:"modbus: the instrument's address on the bus"`
	Expect  *Expect `toml:"expect" doc:"modbus: a register that tells the right instrument, at every connect"`

	// Base is the folder that a relative Port starts at.
	Base string `toml:"-"`
	// Open opens the port; nil: [OpenPort].
	Open Opener `toml:"-"`
}

// Identify is a question whose answer tells the instrument.
type Identify struct {
	Out   string `toml:"out" required:"true" doc:"the question"`
	Match string `toml:"match" required:"true" doc:"regular expression that the answer must match"`
}

// Exchange is a command, with an answer or without.
type Exchange struct {
	Out string `toml:"out" required:"true" doc:"the command"`
	Ack string `toml:"ack" doc:"regular expression that the answer must match; absent: there is no answer"`
}

// Errors describes an error queue.
type Errors struct {
	Out  string `toml:"out" required:"true" doc:"the question for the oldest error"`
	OK   string `toml:"ok" required:"true" doc:"regular expression of the answer that there is none"`
	Most int    `toml:"most" bound:">= 1, <= 1000" doc:"how many errors are read at most; absent: 32"`
}

// Default returns the options that a file need not write.
func Default() Options {
	return Options{
		Protocol: "line", Baud: 9600, DataBits: 8, Parity: "none", StopBits: 1, DTR: "on", RTS: "on",
		ReplyTimeout: time.Second,
		ReadTimeout:  100 * time.Millisecond,
		// A short command only goes to the kernel's buffer, unless flow control holds
		// it; a busy machine may be late.
		WriteTimeout: 500 * time.Millisecond,
		HaltTimeout:  10 * time.Second,
		ReconnectMin: 250 * time.Millisecond,
		ReconnectMax: 10 * time.Second,
		Retries:      2,
		MaxLine:      1024,
		Address:      1,
	}
}

// errorsMost is Errors.Most where the file has none: SCPI queues hold 10 to 30.
const errorsMost = 32

// cancelCharacter is ASCII's CAN: no command holds it, so a half-written one that
// it follows is none any more.
const cancelCharacter = "\x18"

// filled returns the options with everything that has a default set.
func (o Options) filled() Options {
	newline := "\n"
	if o.Protocol == "ezo" {
		newline = "\r"
	}
	if o.Terminator == nil {
		o.Terminator = &newline
	}
	if o.InTerminator == nil {
		o.InTerminator = o.Terminator
	}
	if o.OutTerminator == nil {
		o.OutTerminator = o.Terminator
	}
	if o.Spoil == nil {
		spoil := cancelCharacter
		if o.Protocol == "ezo" {
			spoil = ezoSpoil
		}
		o.Spoil = &spoil
	}
	if o.Open == nil {
		o.Open = OpenPort
	}
	if o.Errors != nil && o.Errors.Most == 0 {
		queue := *o.Errors
		queue.Most = errorsMost
		o.Errors = &queue
	}
	return o
}

// Path is the port's device file: Port, from Base on where it is relative.
func (o Options) Path() string {
	if filepath.IsAbs(o.Port) {
		return o.Port
	}
	return filepath.Join(o.Base, o.Port)
}

// spec is what the opener needs.
func (o Options) spec() PortSpec {
	return PortSpec{Path: o.Path(), Baud: o.Baud, DataBits: o.DataBits, StopBits: o.StopBits, Parity: o.Parity,
		DTR: o.DTR != "off", RTS: o.RTS != "off", Slice: min(readSlice, o.ReadTimeout)}
}

// validate checks filled options and gives every problem at once.
func (o Options) validate() error {
	var problems []error
	bad := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if o.Port == "" {
		bad("port is empty; write the device file, such as /dev/serial/by-id/usb-...")
	}
	for _, w := range []struct {
		key, value string
		known      []string
	}{{"protocol", o.Protocol, []string{"line", "ezo", "modbus"}}, {"parity", o.Parity, []string{"none", "even", "odd"}},
		{"dtr", o.DTR, []string{"on", "off"}}, {"rts", o.RTS, []string{"on", "off"}}} {
		if !slices.Contains(w.known, w.value) {
			bad("%s is %q and must be one of %q", w.key, w.value, w.known)
		}
	}
	for _, n := range []struct {
		key              string
		value, low, high int
	}{{"baud", o.Baud, 50, 4000000}, {"data_bits", o.DataBits, 5, 8}, {"stop_bits", o.StopBits, 1, 2},
		{"retries", o.Retries, 0, 10}, {"max_line", o.MaxLine, 16, 4096}, {"address", o.Address, 1, 247}} {
		if n.value < n.low || n.value > n.high {
			bad("%s is %d and must be %d to %d", n.key, n.value, n.low, n.high)
		}
	}
	for _, t := range []struct {
		key   string
		value time.Duration
	}{{"reply_timeout", o.ReplyTimeout}, {"read_timeout", o.ReadTimeout}, {"write_timeout", o.WriteTimeout},
		{"halt_timeout", o.HaltTimeout}, {"reconnect_min", o.ReconnectMin}, {"reconnect_max", o.ReconnectMax}} {
		if t.value <= 0 {
			bad("%s is %v and must be above 0s", t.key, t.value)
		}
	}
	if o.ReconnectMin > o.ReconnectMax {
		bad("reconnect_min is %v and reconnect_max %v; the first must not be longer", o.ReconnectMin, o.ReconnectMax)
	}
	if o.OpenDelay < 0 || o.Pause < 0 {
		bad("open_delay is %v and pause %v; neither can be negative", o.OpenDelay, o.Pause)
	}
	if o.Protocol == "modbus" {
		return errors.Join(append(problems, o.validateModbus())...)
	}
	return errors.Join(append(problems, o.validateLines())...)
}

// validateLines checks the keys that describe lines.
func (o Options) validateLines() error {
	var problems []error
	if o.Expect != nil {
		problems = append(problems, errors.New(`expect is for protocol = "modbus"; write identify`))
	}
	if *o.OutTerminator == "" {
		problems = append(problems, errors.New("out_terminator is empty; an instrument could not tell where a command ends"))
	}
	if o.Protocol == "ezo" && *o.InTerminator == "" {
		problems = append(problems, errors.New("in_terminator is empty; the ezo protocol has several lines to an answer"))
	}
	check := func(key, out string, expressions ...string) {
		if err := o.checkOut(out); err != nil {
			problems = append(problems, fmt.Errorf("%s.out: %w", key, err))
		}
		for _, e := range expressions {
			if _, err := regexp.Compile(e); err != nil {
				problems = append(problems, fmt.Errorf("%s: %q is no regular expression: %w", key, e, err))
			}
		}
	}
	if o.Identify != nil {
		check("identify", o.Identify.Out, o.Identify.Match)
	}
	for i, e := range o.Init {
		check(fmt.Sprintf("init.%d", i), e.Out, e.Ack)
	}
	for i, e := range o.Halt {
		check(fmt.Sprintf("halt.%d", i), e.Out, e.Ack)
	}
	if o.Errors != nil {
		check("errors", o.Errors.Out, o.Errors.OK)
		if o.Errors.Most < 1 || o.Errors.Most > 1000 {
			problems = append(problems, fmt.Errorf("errors.most is %d and must be 1 to 1000", o.Errors.Most))
		}
	}
	if *o.OutTerminator != "" && strings.Contains(*o.Spoil, *o.OutTerminator) {
		problems = append(problems, fmt.Errorf("spoil is %q and holds the terminator, which would complete a half-written command instead of spoiling it", *o.Spoil))
	}
	return errors.Join(problems...)
}

// checkOut checks a command without value.
func (o Options) checkOut(out string) error {
	switch {
	case out == "":
		return errors.New("is empty")
	case len(out)+len(*o.OutTerminator) > o.MaxLine:
		return fmt.Errorf("is longer than max_line, %d bytes", o.MaxLine)
	case *o.OutTerminator != "" && strings.Contains(out, *o.OutTerminator):
		return fmt.Errorf("%q holds the terminator, which is added by itself; write one command in each", out)
	}
	return nil
}

// validateModbus refuses keys that only lines have.
func (o Options) validateModbus() error {
	var problems []error
	for _, k := range []struct {
		key   string
		given bool
	}{{"identify", o.Identify != nil}, {"init", len(o.Init) > 0}, {"halt", len(o.Halt) > 0}, {"errors", o.Errors != nil}} {
		if k.given {
			problems = append(problems, fmt.Errorf("%s describes lines of text; a modbus device has none", k.key))
		}
	}
	if o.DataBits != 8 {
		problems = append(problems, fmt.Errorf("data_bits is %d; modbus RTU needs 8", o.DataBits))
	}
	return errors.Join(problems...)
}

// finite says whether v is a number.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
