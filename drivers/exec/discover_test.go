package exec

import (
	"slices"
	"testing"
)

func TestWords(t *testing.T) {
	for line, want := range map[string][]string{
		"":                        nil,
		"  ":                      nil,
		"python3  oven.py":        {"python3", "oven.py"},
		`a "b c" 'd "e"' f""g ''`: {"a", "b c", `d "e"`, "fg", ""},
		"a\tb":                    {"a", "b"},
	} {
		if got, err := words(line); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v; want %q", line, got, err, want)
		}
	}
	for _, line := range []string{`a "b`, "it's"} {
		if got, err := words(line); err == nil {
			t.Errorf("%q: %q", line, got)
		}
	}
	for want, command := range map[string][]string{
		"oven.py": {"python3", "oven.py"}, "visa.py": {"python3", "visa.py", "--resource", "TCPIP::192.168.1.20::INSTR", "--output", "v | V | VOLT {:.4f} | VOLT?"},
		"./oven": {"./oven", "--fast"},
	} {
		if got := programOf(command); got != want {
			t.Errorf("%q is called %q, want %q", command, got, want)
		}
	}
}
