// Package show is how the command shows things: numbers, times and counts in words, the
// narration on a terminal, in a pipe, as JSON or in systemd's journal, lines of results, and
// small drawings of a course of values. It knows no run.
package show

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Number writes x for people: five significant digits, no exponent where none is
// needed.
func Number(x float64) string { return Digits(x, 5) }

// Digits writes x with n significant digits.
func Digits(x float64, n int) string {
	switch {
	case math.IsNaN(x):
		return unknown
	case x == 0:
		return "0"
	}
	text := strconv.FormatFloat(x, 'g', n, 64)
	rounded, err := strconv.ParseFloat(text, 64)
	if size := math.Abs(x); err != nil || size < 1e-4 || size >= 1e9 {
		return text
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// Percent is a part of a whole.
func Percent(x float64) string { return Number(100*x) + "%" }

// Quantity writes a number with its unit.
func Quantity(x float64, unit string) string { return WithUnit(Number(x), unit) }

func WithUnit(number, unit string) string {
	if unit == "" || unit == "1" || number == unknown {
		return number
	}
	return number + " " + unit
}

// unknown stands for a number that there is not.
const unknown = "unknown"

// Duration writes d for people: no more digits than one would say.
func Duration(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		unit := time.Duration(1)
		for unit*100 <= d {
			unit *= 10
		}
		d = d.Round(unit)
	case d < time.Second:
		d = d.Round(time.Millisecond)
	case d < time.Minute:
		d = d.Round(100 * time.Millisecond)
	case d < time.Hour:
		d = d.Round(time.Second)
	case d < 100*time.Hour:
		d = d.Round(time.Minute)
	default:
		return fmt.Sprintf("%.0f days", d.Hours()/24)
	}
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// Count writes "1 step" or "3 steps".
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func Interval(low, high float64) string { return "[" + Number(low) + ", " + Number(high) + "]" }

// ModeWords says what kind of run a mode is.
func ModeWords(mode string) string {
	switch mode {
	case "simulate":
		return "simulation"
	case "shadow":
		return "dry run"
	}
	return "run"
}

// EncodeLine writes v as one line of JSON, with its line feed.
func EncodeLine(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}
