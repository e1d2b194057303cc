package mqtt

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/labtuner/tuner/drivers/exec/wire"
)

// maxDecimals bounds the decimal places of a template: what a float64 near 1 holds.
const maxDecimals = 15

// template is the message of a setpoint in a device's own form: a text with one verb in the
// place of the number.
type template struct {
	before, after string
	// decimals is how many decimal places are written, -1 where as many as the number has.
	decimals int
	// off is the whole message for the number 0, where hasOff.
	off    string
	hasOff bool
}

// parseTemplate reads a template: %d stands for a whole number, %.2f for one with two decimal
// places, %f for one with as many as it has, %% for a percent sign. off is the whole message
// for 0; "": the template's.
func parseTemplate(text, off string) (*template, error) {
	t := &template{off: off, hasOff: off != ""}
	verbs := 0
	var plain strings.Builder
	for rest := text; rest != ""; {
		head, tail, found := strings.Cut(rest, "%")
		plain.WriteString(head)
		if rest = tail; !found {
			break
		}
		if strings.HasPrefix(rest, "%") {
			plain.WriteByte('%')
			rest = rest[1:]
			continue
		}
		decimals, length, err := parseVerb(rest)
		if err != nil {
			return nil, fmt.Errorf("write: template %q: %w", text, err)
		}
		if verbs++; verbs == 1 {
			t.before, t.decimals = plain.String(), decimals
			plain.Reset()
		}
		rest = rest[length:]
	}
	t.after = plain.String()
	if verbs != 1 {
		return nil, fmt.Errorf("write: template %q has %d places for the number and must have one: %%d for a whole number, %%.2f for two decimal places (a percent sign is written %%%%)", text, verbs)
	}
	return t, t.check(text)
}

// parseVerb reads what follows a percent sign.
func parseVerb(rest string) (decimals, length int, err error) {
	end := strings.IndexFunc(rest, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if end >= 0 {
		switch flags, verb := rest[:end], rest[end]; {
		case verb == 'd' && flags == "":
			return 0, end + 1, nil
		case verb == 'f' && flags == "":
			return -1, end + 1, nil
		case verb == 'f' && strings.HasPrefix(flags, "."):
			n, err := strconv.Atoi(flags[1:])
			if err == nil && n <= maxDecimals {
				return n, end + 1, nil
			}
		}
	}
	return 0, 0, fmt.Errorf("%.8q is no place for a number; write %%d for a whole number, %%.2f for two decimal places, %%f for as many as the number has, %%%% for a percent sign", "%"+rest)
}

// check refuses messages that look like JSON and are none, whatever the number.
func (t *template) check(text string) error {
	for _, number := range []float64{0, -1.5, 1e20, 1.25e-9} {
		payload := t.render(number)
		if start := strings.TrimSpace(payload); start == "" || !strings.ContainsAny(start[:1], `{["`) {
			continue
		}
		if _, err := wire.Value([]byte(payload)); err != nil {
			key, what := "template", text
			if number == 0 && t.hasOff {
				key, what = "off", t.off
			}
			return fmt.Errorf("write: %s %q looks like JSON, and the message %s is none: %w; names and texts stand in double quotes, numbers without", key, what, payload, err)
		}
	}
	return nil
}

// render makes the message of a number, as the device counts it: without an exponent.
func (t *template) render(raw float64) string {
	if t.hasOff && t.round(raw) == 0 {
		return t.off
	}
	return t.before + t.number(raw) + t.after
}

// number is a number as the message has it.
func (t *template) number(raw float64) string {
	text := strconv.FormatFloat(raw, 'f', t.decimals, 64)
	if strings.Trim(text, "-0.") == "" { // no device need know a negative zero
		text = strings.TrimPrefix(text, "-")
	}
	return text
}

// round is the number that the device is told.
func (t *template) round(raw float64) float64 {
	v, err := strconv.ParseFloat(t.number(raw), 64)
	if err != nil {
		return raw // not finite; nothing of that kind is written
	}
	return v
}

// step is the distance of two numbers that the message can hold, 0 where it holds all.
func (t *template) step() float64 {
	if t.decimals < 0 {
		return 0
	}
	return math.Pow10(-t.decimals)
}

// parse is the other direction, for who plays the device.
func (t *template) parse(payload string) (float64, error) {
	if t.hasOff && payload == t.off {
		return 0, nil
	}
	rest, begins := strings.CutPrefix(payload, t.before)
	number, ends := strings.CutSuffix(rest, t.after)
	if !begins || !ends {
		return 0, errors.New(wire.Quote([]byte(payload)) + " is not of the template's form")
	}
	return wire.Number(number)
}
