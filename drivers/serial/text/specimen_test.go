package text

import (
	"regexp"
	"testing"
)

func TestSpecimen(t *testing.T) {
	for expression, want := range map[string]string{
		"^STAGE": "STAGE", "^OK$": "OK", `^[+]?0,`: "0,", `^\*(DONE|OK)`: "*DONE", "": "",
		`^[^,]+,[^,]+,[^,]*,[^,]*$`: "0,0,,", `^v\d{2}\.x?$`: "v00.", `a.c`: "axc", `(?i)ok`: "OK",
	} {
		got, err := specimen(expression)
		if err != nil || got != want || !regexp.MustCompile(expression).MatchString(got) {
			t.Errorf("%q gives %q, %v; want %q", expression, got, err, want)
		}
	}
	for _, expression := range []string{`(`, `a\bb`, `^a^b`} {
		if got, err := specimen(expression); err == nil {
			t.Errorf("%q gives %q; want an error", expression, got)
		}
	}
}
