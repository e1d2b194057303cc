package files

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// maxFile bounds the size of a file that is read, in bytes: an answer has three
// short lines.
const maxFile = 64 << 10

// result is what the experiment's output file says.
type result struct {
	cost, uncer float64 // NaN where it is not there
	bad         bool
}

// parseResult reads an output file. Its errors name the line.
func parseResult(text string) (result, error) {
	r := result{cost: math.NaN(), uncer: math.NaN()}
	if len(text) > maxFile {
		return r, fmt.Errorf("it is longer than %d bytes, and an answer has three short lines", maxFile)
	}
	seen := map[string]bool{}
	text = strings.TrimPrefix(text, "\ufeff") // Windows programs like to begin with it
	for n, line := range strings.Split(text, "\n") {
		if err := r.take(line, seen); err != nil {
			return r, fmt.Errorf("line %d: %w", n+1, err)
		}
	}
	if !r.bad && math.IsNaN(r.cost) {
		return r, errors.New(`there is neither a "cost" nor "bad = true"`)
	}
	return r, nil
}

// take reads one line.
func (r *result) take(line string, seen map[string]bool) error {
	line, _, _ = strings.Cut(line, "#")
	if line = strings.TrimSpace(line); line == "" {
		return nil
	}
	key, value, ok := strings.Cut(line, "=")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	if !ok {
		return fmt.Errorf("%s is no assignment; write KEY = VALUE", quote(line))
	}
	if seen[key] {
		return fmt.Errorf("%s is given twice", quote(key))
	}
	seen[key] = true
	var err error
	switch key {
	case "cost":
		r.cost, err = decimal(value)
	case "uncer":
		if r.uncer, err = decimal(value); err == nil && r.uncer < 0 {
			err = fmt.Errorf("%s is below 0, and it is a standard deviation", quote(value))
		}
	case "bad":
		r.bad, err = truth(value)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

// decimal reads a finite decimal number.
func decimal(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if strings.ContainsAny(text, "xXpP_") || errors.Is(err, strconv.ErrSyntax) || math.IsNaN(v) {
		return math.NaN(), fmt.Errorf(`%s is not a decimal number, such as -1.5e-3; where there is none write "bad = true"`, quote(text))
	}
	if err != nil || math.IsInf(v, 0) {
		return math.NaN(), fmt.Errorf(`%s is not finite; where there is no number write "bad = true"`, quote(text))
	}
	return v, nil
}

// truth reads what Python, MATLAB and LabVIEW write for a truth value.
func truth(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "true", "1":
		return true, nil
	case "false", "0":
		return false, nil
	}
	return false, fmt.Errorf("%s must be true or false", quote(text))
}

// formatParams is the text of an input file.
func formatParams(style string, values []float64) string {
	words := make([]string, len(values))
	for i, v := range values {
		// Python reads an integer where there is no point; NumPy writes "1.".
		words[i] = strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(words[i], ".e") {
			words[i] += "."
		}
	}
	list := "[" + strings.Join(words, ", ") + "]"
	if style == styleArray {
		list = "array(" + list + ")"
	}
	return "params = " + list + "\n"
}

// parseParams reads what formatParams wrote: the experiment's side.
func parseParams(text string) ([]float64, error) {
	key, list, _ := strings.Cut(strings.TrimSpace(text), "=")
	if strings.TrimSpace(key) != "params" {
		return nil, fmt.Errorf("%s does not begin with params =", quote(text))
	}
	list = strings.TrimSpace(list)
	list = strings.TrimSuffix(strings.TrimPrefix(list, "array("), ")")
	list, open := strings.CutPrefix(list, "[")
	list, closed := strings.CutSuffix(list, "]")
	if !open || !closed {
		return nil, fmt.Errorf("%s is not a list", quote(text))
	}
	var values []float64
	for _, word := range strings.Split(list, ",") {
		v, err := decimal(strings.TrimSpace(word))
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}

// quote shows foreign text in a message, cut.
func quote(text string) string {
	const most = 80
	if len(text) > most {
		return strconv.Quote(text[:most]) + "..."
	}
	return strconv.Quote(text)
}
