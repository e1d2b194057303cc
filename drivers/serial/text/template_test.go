package text

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/protocol"
)

func mustTemplate(t *testing.T, text string) template {
	t.Helper()
	f, err := parseTemplate(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestFormat: the expected texts are what printf of C gives.
func TestFormat(t *testing.T) {
	for _, c := range []struct {
		text  string
		value float64
		want  string
	}{
		{"M 1 %.3f", 1.23456, "M 1 1.235"},
		{"M 1 %.3f", -1.5, "M 1 -1.500"},
		{"%f", 2.5, "2.500000"},
		{"%e", 12345.678, "1.234568e+04"},
		{"%.2e V", 0.00012, "1.20e-04 V"},
		{"%g", 0.1, "0.1"},
		{"%g", 1234567, "1.23457e+06"},
		{"%+8.2f|", 3.14159, "   +3.14|"},
		{"%-8.2f|", 3.14159, "3.14    |"},
		{"%08.3f", -1.5, "-001.500"},
		{"P%d", 42.4, "P42"},
		{"P%04d", 7, "P0007"},
		{"%.2f%%", 12.3, "12.30%"},
		{"OUT %{OFF|ON}", 1, "OUT ON"},
		{"%.3f", -0.0001, "0.000"}, // C gives -0.000, which instruments misread
		{"%.f", 2.4, "2"},
	} {
		got, err := mustTemplate(t, c.text).format(c.value)
		if err != nil || got != c.want {
			t.Errorf("%q of %v is %q, %v; want %q", c.text, c.value, got, err, c.want)
		}
	}
	for text, value := range map[string]float64{"%f": math.NaN(), "%g": math.Inf(1), "%d": 1e17, "%{A|B}": 2, "%{A|B|C}": 0.5} {
		if got, err := mustTemplate(t, text).format(value); err == nil {
			t.Errorf("%q of %v is %q; want an error", text, value, got)
		}
	}
}

func TestScan(t *testing.T) {
	for _, c := range []struct {
		text, line string
		want       float64
	}{
		{"R1=%f", "R1=0.5", 0.5},
		{"R1=%f", "R1=  -2.5e-3", -2.5e-3},
		{"%f V", "12.5 V", 12.5},
		{"%f,%*f", "1.5,2.5", 1.5},
		{"%*f,%f", "1.5,2.5", 2.5},
		{"%*s %f", "POWER 7", 7},
		{"%*s,%*s,%f", "a b,,3", 0}, // the second text is empty: replaced below
		{"%d", "+12", 12},
		{"S=%{CLOSED|OPEN}", "S=OPEN", 1},
		{"%{ON|ONE}!", "ONE!", 1},
		{"%3f%*f", "12.34", 12},
		{"%f-%*f", "-1.5-2", -1.5},
		{"%f%%", "40%", 40},
		{"%e", "+9.876E+01", 98.76},
		{"?TV,%f", "?TV,434.50", 434.5},
	} {
		got, err := mustTemplate(t, c.text).scan(c.line)
		if strings.Contains(c.line, ",,") {
			if err == nil {
				t.Errorf("%q took %q, where there is nothing to pass over", c.text, c.line)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%q of %q is %v, %v; want %v", c.text, c.line, got, err, c.want)
		}
	}
}

// TestScanRefuses: the whole line must match, and every mistake is named.
func TestScanRefuses(t *testing.T) {
	for _, c := range []struct{ text, line, why string }{
		{"R1=%f", "R2=0.5", `"R1=" should stand at "R2=0.5"`},
		{"R1=%f", "R1=0.5 ", `" " is left over after the number`},
		{"R1=%f", "R1=0.5 V", `" V" is left over after the number`},
		{"%f V", "12 VDC", `"DC" is left over`},
		{"%f", "NaN", "send nothing where there is no value"},
		{"%f", "-inf", "send nothing where there is no value"},
		{"%f", "0x1F", "hexadecimal is not taken"},
		{"%f", "1_000", "underscores are not taken"},
		{"%f", "3,14", "write the decimal point as a full stop"},
		{"%f", "", "it is empty"},
		{"%f", "12V", "expected digits"},
		{"%f", "1e999", "beyond 1.8e308"},
		{"%d", "1.0", "no whole number"},
		{"%{A|B}", "C", "begins with none of"},
		{"%f,%*f", "1.5", "R"},
		{"", "x", `"x" is left over`},
	} {
		got, err := mustTemplate(t, c.text).scan(c.line)
		if !errors.Is(err, protocol.ErrMismatch) || got != 0 {
			t.Errorf("%q of %q is %v, %v; want a mismatch", c.text, c.line, got, err)
		} else if c.why != "R" && !strings.Contains(err.Error(), c.why) {
			t.Errorf("%q of %q: %q does not say %q", c.text, c.line, err, c.why)
		}
	}
}

func TestParseTemplateRefuses(t *testing.T) {
	for text, why := range map[string]string{
		"%x":      "numbers are decimal",
		"%i":      "numbers are decimal",
		"%s":      "%*s passes text over",
		"%":       "a per cent sign at the end",
		"100% %f": "is no conversion",
		"%f%f":    "unclear where the first ends",
		"%{A}":    "is written %{OFF|ON}",
		"%{A|B":   "is written %{OFF|ON}",
		"%99f":    "at most 64",
		"%.999f":  "at most 64",
		"%q":      "is no conversion",
		"%f0":     "begins like more of it",
		"%.2f.":   "begins like more of it",
	} {
		if _, err := parseTemplate(text); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v does not say %q", text, err, why)
		}
	}
}

// FuzzScan: whatever the template and the line, there is no crash, no value that
// is not finite, none together with an error, and nothing but decimal characters
// in what is taken for a number.
func FuzzScan(f *testing.F) {
	for _, s := range [][2]string{{"R1=%f", "R1=0.5"}, {"%*f,%f", "1,2"}, {"%{A|B}", "B"}, {"%3d%f", "1234.5"}, {"%f", "NaN"},
		{"%f", "1e999"}, {"%*s %f V", "a -.5e3 V"}, {"%%%f", "%1"}, {"%f", "0x1p3"}, {"%f-%f", "-1--2"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, text, line string) {
		form, err := parseTemplate(text)
		if err != nil {
			return
		}
		v, err := form.scan(line)
		if !drivers.Finite(v) || (err != nil && v != 0) {
			t.Fatalf("%q of %q gives %v, %v", text, line, v, err)
		}
		if text == "%f" && err == nil && strings.Trim(line, "0123456789+-.eE \t") != "" {
			t.Errorf("%q was taken for the number %v", line, v)
		}
	})
}

// FuzzFormatScan: what is written is read back, to the digits that are written.
func FuzzFormatScan(f *testing.F) {
	f.Add("M 1 %.3f", 1.2345)
	f.Add("%e", -1e-300)
	f.Add("%{A|B|C} %%", 2.0)
	f.Add("%08d", -17.0)
	f.Fuzz(func(t *testing.T, text string, v float64) {
		form, err := parseTemplate(text)
		if err != nil || form.values() != 1 || form.skips() || math.Abs(v) > 1e15 {
			return
		}
		line, err := form.format(v)
		if err != nil {
			return
		}
		got, err := form.scan(line)
		if err != nil {
			// On input a width is a bound; a word list may be followed by text that makes
			// another of its words, and a flag or a text may look like part of the number.
			if plain := strings.NewReplacer("%f", "", "%.3f", "", "%e", "").Replace(text); !strings.ContainsAny(plain, "%+-eE \t\r\n\v\f\u0085\u00a0") {
				t.Errorf("%q writes %v as %q, which cannot be read: %v", text, v, line, err)
			}
			return
		}
		again, err := form.format(got)
		if err != nil || again != line {
			t.Errorf("%q writes %v as %q, which is read as %v and written as %q, %v", text, v, line, got, again, err)
		}
	})
}
