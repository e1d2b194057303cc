package text

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Dialect are the keys of a device that describe lines of text.
type Dialect struct {
	Terminator    *string    `toml:"terminator" doc:"what ends a line, both ways, such as CR LF"`
	InTerminator  *string    `toml:"in_terminator" doc:"what ends an answer; absent: terminator; empty: the pause of read_timeout"`
	OutTerminator *string    `toml:"out_terminator" doc:"what ends a command, where answers end otherwise; absent: terminator"`
	MaxLine       int        `toml:"max_line" unit:"bytes" bound:">= 16, <= 4096" doc:"longest answer or command: more is garbage, and is thrown away"`
	Spoil         *string    `toml:"spoil" doc:"sent before the first command, to spoil one that a broken connection left half-written; empty: nothing"`
	Identify      *Identify  `toml:"identify" doc:"how to tell that the right instrument answers, at every connect"`
	Init          []Exchange `toml:"init" doc:"what to send at every connect; it must not move anything"`
	Halt          []Exchange `toml:"halt" doc:"what to send when everything is to go safe, before the channels' own safe values"`
	Errors        *Errors    `toml:"errors" doc:"the instrument's error queue, as SCPI has it"`
}

// Identify is a question whose answer tells the instrument.
type Identify struct {
	Out   string `toml:"out" required:"true" doc:"the command that asks, as it is sent"`
	Match string `toml:"match" required:"true" doc:"regular expression that the answer must match, so that no other instrument is driven"`
}

// Exchange is a command, with an answer or without.
type Exchange struct {
	Out string `toml:"out" required:"true" doc:"the command, as it is sent"`
	Ack string `toml:"ack" doc:"regular expression that the answer must match; absent: there is no answer"`
}

// Errors describes an error queue.
type Errors struct {
	Out  string `toml:"out" required:"true" doc:"the command that asks for the oldest error in the instrument's queue"`
	OK   string `toml:"ok" required:"true" doc:"regular expression of the answer that there is none"`
	Most int    `toml:"most" bound:">= 1, <= 1000" doc:"how many errors are read at most; absent: 32"`
}

// ErrorsMost is Errors.Most where the file has none: SCPI queues hold 10 to 30.
const ErrorsMost = 32

// CancelCharacter is ASCII's CAN: no command holds it, so a half-written one that
// it follows is none any more.
const CancelCharacter = "\x18"

// Filled returns the dialect with everything that has a default set. coded says that
// answers end with a code.
func (o Dialect) Filled(coded bool) Dialect {
	newline, spoil := "\n", CancelCharacter
	if coded {
		newline, spoil = "\r", ezoSpoil
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
		o.Spoil = &spoil
	}
	if o.Errors != nil && o.Errors.Most == 0 {
		queue := *o.Errors
		queue.Most = ErrorsMost
		o.Errors = &queue
	}
	return o
}

// Validate checks of a filled dialect what no tag says, and gives every problem at once.
func (o Dialect) Validate(coded bool) (problems []error) {
	if *o.OutTerminator == "" {
		problems = append(problems, errors.New("out_terminator is empty; an instrument could not tell where a command ends"))
	}
	if coded && *o.InTerminator == "" {
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
	}
	if *o.OutTerminator != "" && strings.Contains(*o.Spoil, *o.OutTerminator) {
		problems = append(problems, fmt.Errorf("spoil is %q and holds the terminator, which would complete a half-written command instead of spoiling it", *o.Spoil))
	}
	return problems
}

// checkOut checks a command without value.
func (o *Dialect) checkOut(out string) error {
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
