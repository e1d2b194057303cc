package configs

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// commentedDefault is how a sample shows a default: # key = value.
var commentedDefault = regexp.MustCompile(`^# ([a-z_]+ = .*)$`)

// TestSamplesShowTrueDefaults writes every commented default of every sample
// into the file and compares what is read with what is read without: the
// defaults in the samples are the defaults of the code, or the two would differ.
func TestSamplesShowTrueDefaults(t *testing.T) {
	shown := 0
	for _, s := range Samples() {
		t.Run(s.Name, func(t *testing.T) {
			lines := strings.Split(string(s.Text), "\n")
			want := parsed(t, s.Name+".toml", string(s.Text))
			for i, line := range lines {
				if !strings.HasPrefix(line, "#") || strings.HasPrefix(line, "##") {
					continue
				}
				m := commentedDefault.FindStringSubmatch(line)
				if m == nil {
					t.Errorf("line %d: %q is neither prose (##) nor a default (# key = value)", i+1, line)
					continue
				}
				shown++
				lines[i] = m[1]
				got := parsed(t, s.Name+".toml", strings.Join(lines, "\n"))
				if !reflect.DeepEqual(got, want) {
					t.Errorf("line %d: %q is not the default", i+1, m[1])
				}
				lines[i] = line
			}
		})
	}
	if shown < 40 {
		t.Errorf("the samples show %d defaults, want at least 40", shown)
	}
}

// parsed reads a configuration and strips what depends on its text alone.
func parsed(t *testing.T, name, text string) *Config {
	t.Helper()
	c, err := Parse(name, []byte(text), known())
	if err != nil {
		t.Fatal(err)
	}
	c.Text, c.SHA256, c.loc, c.known = nil, "", nil, nil
	for i := range c.Devices {
		d := &c.Devices[i]
		d.Line, d.own.Loc = 0, nil
		for j := range d.channels {
			d.channels[j].Line, d.channels[j].own.Loc = 0, nil
		}
	}
	return c
}

func TestSamplesAreTheFiles(t *testing.T) {
	names := map[string]bool{}
	for _, s := range Samples() {
		text, err := os.ReadFile(s.Name + ".toml")
		if err != nil {
			t.Fatal(err)
		}
		if string(text) != string(s.Text) {
			t.Errorf("sample %s differs from its file", s.Name)
		}
		if s.Title == "" || strings.HasPrefix(s.Title, "#") {
			t.Errorf("sample %s has title %q", s.Name, s.Title)
		}
		names[s.Name] = true
		s.Text[0] = 'x' // a caller may do with its copy what it likes
	}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if name, toml := strings.CutSuffix(f.Name(), ".toml"); toml && !names[name] {
			t.Errorf("%s is not among the samples", f.Name())
		}
	}
	if again := Samples()[0]; again.Text[0] == 'x' {
		t.Error("changing a returned text changed the sample")
	}
}

// TestSamplesSayWhatTheyPromise pins what other documents say of the samples.
func TestSamplesSayWhatTheyPromise(t *testing.T) {
	configs := map[string]*Config{}
	for _, s := range Samples() {
		configs[s.Name] = parsed(t, s.Name+".toml", string(s.Text))
	}
	laser := configs["laser"]
	if laser.Policy.Kind != "rahbo" || len(laser.Variables) != 4 || laser.Objective.Shots != 10 {
		t.Errorf("laser: %s, %d variables, %d shots", laser.Policy.Kind, len(laser.Variables), laser.Objective.Shots)
	}
	nutrient := configs["nutrient"]
	if nutrient.Policy.Kind != "ucb-cvs" || len(nutrient.Variables) != 5 || len(nutrient.ControlSets) != 7 {
		t.Errorf("nutrient: %s, %d variables, %d control sets", nutrient.Policy.Kind, len(nutrient.Variables), len(nutrient.ControlSets))
	}
	for _, v := range configs["thiscomputer"].Variables {
		if !v.Integer {
			t.Errorf("thiscomputer: %s is not an integer", v.Name)
		}
	}
	for _, v := range configs["feed"].Variables {
		if v.Kind != "dose" {
			t.Errorf("feed: %s is no dose", v.Name)
		}
	}
	perovskite := configs["perovskite"]
	if perovskite.Plant.Data != "perovskite" || perovskite.Domain.Candidates != CandidatesTable {
		t.Errorf("perovskite: data %q, candidates %q", perovskite.Plant.Data, perovskite.Domain.Candidates)
	}
}
