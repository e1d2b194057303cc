package experiment

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"
)

func sampleResult(policy string, seeds ...uint64) Result {
	r := Result{Format: Format, Experiment: "rahbo/sine-1", Policy: policy, Version: "v1", CPUSeconds: 2}
	for _, s := range seeds {
		held := 0.25
		r.Seeds = append(r.Seeds, Seed{Seed: s, Cost: Series{0, 0.5}, SimpleRegret: Series{1, 1.0 / 3}, CumulativeRegret: Series{1, 1.5},
			Recommended: &Recommended{Setting: map[string]float64{"x": 0.25}, Mean: 1, LowerBound: Number(math.NaN()), Regret: 0.125, Nearest: "quiet"},
			HeldRegret:  &held})
	}
	return r
}

// TestFormat pins the format: a change of it is a change of Format.
func TestFormat(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, []Result{sampleResult("rahbo", 3)}); err != nil {
		t.Fatal(err)
	}
	want := `{"format":1,"experiment":"rahbo/sine-1","policy":"rahbo","version":"v1","seeds":[{"seed":3,"cost":[0,0.5],` +
		`"simple_regret":[1,0.3333333],"cumulative_regret":[1,1.5],"recommended":{"control_set":0,"setting":{"x":0.25},` +
		`"mean":1,"lower_bound":null,"regret":0.125,"nearest":"quiet"},"held_regret":0.25}],"cpu_s":2}` + "\n"
	if b.String() != want {
		t.Errorf("got  %swant %s", b.String(), want)
	}
}

func TestReadWhatWasWritten(t *testing.T) {
	in := []Result{sampleResult("rahbo", 3, 4), sampleResult("gp-ucb", 3)}
	in[0].Seeds[1].Recommended = nil
	in[0].Seeds[1].Error = "propose step 3: \"x\" <&>"
	in[1].Steps = 2
	var b bytes.Buffer
	if err := Write(&b, in); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	out, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	b.Reset()
	if err := Write(&b, out); err != nil {
		t.Fatal(err)
	}
	if b.String() != text {
		t.Errorf("written again: %s", b.String())
	}
	if out[0].Seeds[1].Error != in[0].Seeds[1].Error || out[1].Steps != 2 || !math.IsNaN(float64(out[0].Seeds[0].Recommended.LowerBound)) {
		t.Errorf("read %+v", out)
	}
}

// TestNotFinite: no number in a file is NaN or infinite.
func TestNotFinite(t *testing.T) {
	text, err := Series{math.NaN(), math.Inf(1), 1e300, -0.1}.MarshalJSON()
	if err != nil || string(text) != "[null,null,1e+300,-0.1]" {
		t.Errorf("%s, %v", text, err)
	}
	var back Series
	if err := back.UnmarshalJSON(text); err != nil || len(back) != 4 || !math.IsNaN(back[0]) || back[3] != -0.1 {
		t.Errorf("%v, %v", back, err)
	}
}

func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "no result in it",
		"\n \n":                         "no result in it",
		"hello":                         "line 1: not a benchmark result",
		`{"format":1,`:                  "line 1: not a benchmark result",
		"{}":                            "result format 0",
		`{"format":2}`:                  "result format 2, this program reads 1",
		`{"format":1,"x":2}`:            `unknown field "x"`,
		`{"format":1,"experiment":"a"}`: "no policy is named",
		`{"format":1,"experiment":"a","policy":"b","seeds":[{"seed":1,"cost":[1],"simple_regret":[],"cumulative_regret":[1]}]}`: "seed 1: series of 1, 0 and 1 numbers",
		`{"format":1,"experiment":"a","policy":"b","seeds":[{"seed":1,"cost":["x"]}]}`:                                          "not a benchmark result",
		`{"format":1,"experiment":"a","policy":"b","seeds":[{"seed":1},{"seed":1}]}`:                                            "seed 1 is there twice",
		`{"format":1,"experiment":"a","policy":"b","seeds":[{"seed":-1}]}`:                                                      "not a benchmark result",
	} {
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestMerge(t *testing.T) {
	merged, err := Merge([]Named{
		{"a", []Result{sampleResult("rahbo", 2, 0), sampleResult("gp-ucb", 0, 2)}},
		{"b", []Result{sampleResult("gp-ucb", 1), sampleResult("rahbo", 1)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []Result{sampleResult("rahbo", 0, 1, 2), sampleResult("gp-ucb", 0, 1, 2)}
	for i := range want {
		want[i].CPUSeconds = 4
		for k := range want[i].Seeds { // NaN is not equal to itself
			want[i].Seeds[k].Recommended.LowerBound = 0
			merged[i].Seeds[k].Recommended.LowerBound = 0
		}
	}
	if !reflect.DeepEqual(merged, want) {
		t.Errorf("merged %+v", merged)
	}
}

func TestMergeRefuses(t *testing.T) {
	change := func(f func(*Result)) []Result {
		r := sampleResult("rahbo", 9)
		f(&r)
		return []Result{r}
	}
	first := Named{"a", []Result{sampleResult("rahbo", 0, 1)}}
	for want, other := range map[string][]Result{
		`"b" is of experiment "rahbo/sine-2", "a" of "rahbo/sine-1"`:       change(func(r *Result) { r.Experiment = "rahbo/sine-2" }),
		`"b" comes from version "v2", "a" from "v1"`:                       change(func(r *Result) { r.Version = "v2" }),
		`"b" was limited to 3 units of work a decision, "a" to 0 (0: not)`: change(func(r *Result) { r.WorkUnits = 3 }),
		`"b" was bounded to 7 steps, "a" to 0 (0: not)`:                    change(func(r *Result) { r.Steps = 7 }),
		`"b" holds the policies sobol, "a" holds rahbo`:                    change(func(r *Result) { r.Policy = "sobol" }),
		`seed 1 of policy "rahbo" is in "a" and in "b"`:                    change(func(r *Result) { r.Seeds[0].Seed = 1 }),
		`"b" holds the policies rahbo, sobol, "a" holds rahbo`:             {sampleResult("rahbo", 5), sampleResult("sobol", 5)},
	} {
		if _, err := Merge([]Named{first, {"b", other}}); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
