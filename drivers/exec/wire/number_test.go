package wire

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"
)

func TestNumberTakes(t *testing.T) {
	for text, want := range map[string]float64{
		"0": 0, "-0": 0, "12": 12, "+12": 12, "-1.5": -1.5, " 7 ": 7, "\t3\r\n": 3,
		"1e3": 1000, "1E+3": 1000, "25e-1": 2.5, ".5": 0.5, "5.": 5, "007": 7, "1e-400": 0,
		"0.1": 0.1, "1.7976931348623157e308": math.MaxFloat64, "5e-324": math.SmallestNonzeroFloat64,
	} {
		if got, err := Number(text); err != nil || got != want {
			t.Errorf("Number(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestNumberRefuses(t *testing.T) {
	for text, why := range map[string]string{
		"":                       "it is empty",
		"  ":                     "it is empty",
		"NaN":                    "send nothing where there is no value",
		"-nan":                   "send nothing where there is no value",
		"inf":                    "send nothing where there is no value",
		"+Infinity":              "send nothing where there is no value",
		"0x1p-2":                 "hexadecimal is not taken",
		"-0XFF":                  "hexadecimal is not taken",
		"1_000":                  "underscores are not taken",
		"3,14":                   "write the decimal point as a full stop",
		"1,000.5":                "write the decimal point as a full stop",
		"1e400":                  "beyond 1.8e308",
		"-1e400":                 "beyond 1.8e308",
		"1e":                     "expected digits",
		"1e+":                    "expected digits",
		".":                      "expected digits",
		"-":                      "expected digits",
		"--1":                    "expected digits",
		"1 2":                    "expected digits",
		"1.2.3":                  "expected digits",
		"12V":                    "expected digits",
		"\u0661":                 "expected digits", // a digit of another script
		strings.Repeat("1", 401): "401 characters where at most 400",
	} {
		got, err := Number(text)
		if !errors.Is(err, ErrNotDecimal) {
			t.Errorf("Number(%q) = %v, %v; want an error", text, got, err)
		} else if !strings.Contains(err.Error(), why) {
			t.Errorf("Number(%q): %q does not say %q", text, err, why)
		}
	}
}

// FuzzNumber compares with math/big, another reader of decimal numbers, on what
// passes, and checks that nothing else than decimal digits, sign, point and
// exponent ever does.
func FuzzNumber(f *testing.F) {
	for _, text := range []string{"1", "-2.5e-3", "NaN", "0x10", "1_0", "1,5", ".e1", "1e999", "9007199254740993"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Number(text)
		if err != nil {
			if got != 0 {
				t.Errorf("Number(%q) gives %v with an error", text, got)
			}
			return
		}
		if math.IsNaN(got) || math.IsInf(got, 0) {
			t.Fatalf("Number(%q) = %v", text, got)
		}
		bare := strings.TrimSpace(text)
		if strings.Trim(bare, "0123456789+-.eE") != "" {
			t.Errorf("Number(%q) took foreign characters", text)
		}
		// An exponent that big.Float would have to expand is not its job.
		if i := strings.IndexAny(bare, "eE"); i >= 0 && len(bare)-i > 5 {
			return
		}
		want, _, err := big.ParseFloat(bare, 10, 2000, big.ToNearestEven)
		if err != nil {
			t.Fatalf("Number(%q) = %v, but math/big says %v", text, got, err)
		}
		if w, _ := want.Float64(); w != got {
			t.Errorf("Number(%q) = %v; math/big gives %v", text, got, w)
		}
	})
}
