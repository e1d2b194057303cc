package wire

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ErrNotDecimal is wrapped by the errors of [Number].
var ErrNotDecimal = errors.New("not a decimal number")

// maxNumber bounds the text of a number, in bytes: a float64 in full decimal
// notation fits in it.
const maxNumber = 400

// Number reads one finite number in decimal notation:
//
//	[+-] digits [. digits] [e [+-] digits]
//
// where the digits before or after the point may be missing, not both. Blanks
// around it are ignored. NaN, infinities, hexadecimal, underscores, a decimal
// comma, and values beyond the range of float64 are errors that wrap
// [ErrNotDecimal].
func Number(text string) (float64, error) {
	s := strings.TrimSpace(text)
	if len(s) > maxNumber {
		return 0, fmt.Errorf("%s is %w: %d characters where at most %d are allowed", Quote([]byte(s)), ErrNotDecimal, len(s), maxNumber)
	}
	if !isDecimal(s) {
		return 0, fmt.Errorf("%s is %w: %s", Quote([]byte(s)), ErrNotDecimal, reason(s))
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%s is %w: its size is beyond 1.8e308", Quote([]byte(s)), ErrNotDecimal)
	}
	return v, nil
}

// isDecimal checks the grammar in the comment of Number.
func isDecimal(s string) bool {
	s = skipSign(s)
	whole, s := skipDigits(s)
	fraction := 0
	if strings.HasPrefix(s, ".") {
		fraction, s = skipDigits(s[1:])
	}
	if whole+fraction == 0 {
		return false
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		var exponent int
		exponent, s = skipDigits(skipSign(s[1:]))
		if exponent == 0 {
			return false
		}
	}
	return s == ""
}

func skipSign(s string) string {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		return s[1:]
	}
	return s
}

func skipDigits(s string) (int, string) {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n, s[n:]
}

// reason names the usual mistakes of instruments and scripts.
func reason(s string) string {
	bare := strings.ToLower(skipSign(s))
	switch {
	case s == "":
		return "it is empty"
	case bare == "nan" || bare == "inf" || bare == "infinity":
		return "send nothing where there is no value"
	case strings.HasPrefix(bare, "0x"):
		return "hexadecimal is not taken"
	case strings.Contains(s, ","):
		return "write the decimal point as a full stop, and no thousands separator"
	case strings.Contains(s, "_"):
		return "underscores are not taken"
	}
	return "expected digits with an optional sign, point and exponent"
}
