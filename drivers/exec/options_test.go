package exec

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/labtuner/tuner/drivers"
)

func TestOptionsProblems(t *testing.T) {
	o := Default()
	o.Command, o.Env = []string{"python3 heater.py"}, map[string]string{"A=B": "1"}
	_, err := New(o, []ChannelOptions{{Channel: "a", Name: "x"}, {Channel: "b", Name: "x"}}, drivers.Env{Clock: wall{}})
	for _, want := range []string{
		`command "python3 heater.py" is one string with blanks; write one string for each argument`,
		`env has a variable named "A=B"`,
		`channels "a" and "b" both stand for the child's "x"`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\ndoes not say %q", err, want)
		}
	}
	if _, err := New(Default(), nil, drivers.Env{Clock: wall{}}); err == nil || !strings.Contains(err.Error(), "command is empty") {
		t.Errorf("no command: %v", err)
	}
	o = Default()
	o.Command = []string{"tuner", "thiscomputer"}
	if _, err := New(o, nil, drivers.Env{Clock: wall{}}); err == nil || !strings.Contains(err.Error(), `"tuner" means the running program`) {
		t.Errorf("no executable: %v", err)
	}
}

func TestRename(t *testing.T) {
	h, err := parseHello([]byte(heaterHello))
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		file map[string]string // tuner's name -> child's
		want string            // the names, or what the error says
	}{
		"none":      {nil, "power temp fan"},
		"one":       {map[string]string{"pump": "power"}, "pump temp fan"},
		"swapped":   {map[string]string{"power": "fan", "fan": "power"}, "fan temp power"},
		"missing":   {map[string]string{"pump": "pwoer"}, `"pump" stands for the child's "pwoer", which its hello does not offer; it offers "power", "temp", "fan"`},
		"collision": {map[string]string{"temp": "power"}, `but the child has a "temp" of its own; rename that one too`},
	} {
		channels, err := h.rename(c.file)
		var got []string
		for _, ch := range channels {
			got = append(got, ch.Name)
		}
		text := strings.Join(got, " ")
		if err != nil {
			text = err.Error()
		}
		if !strings.Contains(text, c.want) {
			t.Errorf("%s: got %q; want %q", what, text, c.want)
		}
	}
}

// The sample's keys are the options', its commented lines the defaults.
func TestSample(t *testing.T) {
	var file struct {
		Device []struct {
			Name   string
			Driver string
			Options
			Channel map[string]ChannelOptions
		}
	}
	for _, uncomment := range []bool{false, true} {
		text := sample(t, uncomment)
		meta, err := toml.Decode(text, &file)
		if err != nil {
			t.Fatalf("sample.toml, defaults uncommented: %v: %v", uncomment, err)
		}
		if extra := meta.Undecoded(); len(extra) > 0 {
			t.Errorf("sample.toml has keys that are no options: %v", extra)
		}
	}
	got, want := file.Device[0].Options, Default()
	for what, pair := range map[string][2]time.Duration{
		"start_timeout": {got.StartTimeout, want.StartTimeout},
		"reply_timeout": {got.ReplyTimeout, want.ReplyTimeout},
		"exit_timeout":  {got.ExitTimeout, want.ExitTimeout},
	} {
		if pair[0] != pair[1] {
			t.Errorf("sample.toml says that %s is %v; the default is %v", what, pair[0], pair[1])
		}
	}
}

// sample reads sample.toml; uncomment makes its commented defaults count.
func sample(t *testing.T, uncomment bool) string {
	t.Helper()
	text, err := os.ReadFile("sample.toml")
	if err != nil {
		t.Fatal(err)
	}
	if !uncomment {
		return string(text)
	}
	return regexp.MustCompile(`(?m)^# (\w+ = )`).ReplaceAllString(string(text), "$1")
}

// TestProgramBesideTheConfiguration: a relative command is found from the configuration's
// folder, whether that is the working folder, one below it, or given whole, and wherever
// the child runs.
func TestProgramBesideTheConfiguration(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	if err := os.MkdirAll("lab/elsewhere", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{".", "lab"} {
		script := "#!/bin/sh\necho '" + heaterHello + "'\nread -r line\n" +
			`echo '{"id":1,"ok":false,"error":{"code":"unknown_op"}}'` + "\nread -r line\n"
		if err := os.WriteFile(filepath.Join(place, "child.sh"), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ base, dir, command string }{
		{"", "", "./child.sh"}, {".", "", "./child.sh"}, {".", "lab", "./child.sh"}, {"lab", "", "./child.sh"},
		{"lab", "elsewhere", "./child.sh"}, {".", "", "lab/child.sh"}, {filepath.Join(root, "lab"), "", "./child.sh"},
	} {
		o := Default()
		o.Base, o.Dir, o.Command = c.base, c.dir, []string{c.command}
		d, err := New(o, nil, drivers.Env{Clock: wall{}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Open(context.Background()); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		if err := d.Close(); err != nil {
			t.Errorf("%+v: Close: %v", c, err)
		}
	}
}
