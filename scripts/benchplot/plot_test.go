package main

import (
	"bytes"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/labtuner/tuner/loop/web/figure"
)

const sample = `{"format":1,"experiment":"e","policy":"a","seeds":[{"seed":0,"cost":[1,3],"simple_regret":[4,2],"cumulative_regret":[4,6]},{"seed":1,"cost":[2,3],"simple_regret":[2,0],"cumulative_regret":[2,2]},{"seed":2,"cost":[9],"simple_regret":[9],"cumulative_regret":[9],"error":"x"}],"cpu_s":1}
{"format":1,"experiment":"e","policy":"b","seeds":[{"seed":0,"cost":[1],"simple_regret":[null],"cumulative_regret":[1]}]}
`

func TestAverage(t *testing.T) {
	results, err := read(strings.NewReader(sample))
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != 2 || len(results[0].Seeds) != 2 || !math.IsNaN(results[1].Seeds[0].SimpleRegret[0]) {
		t.Fatalf("read %+v", results)
	}
	curves, err := axes{x: "cost", y: "simple"}.curves(results[:1])
	if err != nil {
		t.Fatal(err)
	}
	c := curves[0]
	// At cost 1 the second seed has paid nothing: its first regret stands for it.
	if !slices.Equal(c.x, []float64{1, 2, 3}) || !slices.Equal(c.mean, []float64{3, 3, 1}) || !slices.Equal(c.standardError, []float64{1, 1, 1}) {
		t.Errorf("%+v", c)
	}
	curves, err = axes{x: "step", y: "cumulative"}.curves(results[:1])
	if err != nil {
		t.Fatal(err)
	}
	if c := curves[0]; !slices.Equal(c.x, []float64{1, 2}) || !slices.Equal(c.mean, []float64{3, 4}) || !slices.Equal(c.standardError, []float64{1, 2}) {
		t.Errorf("%+v", c)
	}
	// Regrets 4, 2 at costs 1, 2 and 2, 0 at costs 2, 1: 4 + 4 and 4 + 0.
	if curves, err = (axes{x: "step", y: "weighted"}).curves(results[:1]); err != nil || !slices.Equal(curves[0].mean, []float64{4, 6}) {
		t.Errorf("cost-weighted: %+v, %v", curves, err)
	}
	if _, err = (axes{x: "step", y: "entropy"}).curves(results[:1]); err == nil || !strings.Contains(err.Error(), "no policy has it") {
		t.Errorf("entropy of what has none: %v", err)
	}
	if thin := c.thinned(2); !slices.Equal(thin.x, []float64{1, 3}) || !slices.Equal(thin.mean, []float64{3, 1}) {
		t.Errorf("thinned: %+v", thin)
	}
	if cheaper(results) != "cost" {
		t.Errorf("axis %s", cheaper(results))
	}
}

// TestConfusion: the share of decisions, mean over the seeds of each true prior.
func TestConfusion(t *testing.T) {
	two, none := 2, 0
	chart, ok := confusion(result{Policy: "p", Seeds: []seed{{Prior: &two, Choices: series{1, 0, 3}}, {Prior: &two, Choices: series{0, 5, 5}}, {Choices: series{1, 1, 1}}, {Prior: &none, Choices: series{4, 0, 0}}}})
	if !ok {
		t.Fatal("no chart")
	}
	z := chart.Layers[0].(figure.Map).Z
	if !slices.Equal(z[2], []float64{0.125, 0.25, 0.625}) || !slices.Equal(z[0], []float64{1, 0, 0}) || !math.IsNaN(z[1][1]) {
		t.Errorf("%v", z)
	}
	if err := (style{}).drawConfusion([]result{{Seeds: []seed{{}}}}, filepath.Join(t.TempDir(), "x.svg")); err == nil || !strings.Contains(err.Error(), "no policy") {
		t.Errorf("of results without priors: %v", err)
	}
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.json")
	if err := os.WriteFile(in, []byte(sample), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"out.svg", "out.png"} {
		out := filepath.Join(dir, name)
		if err := run([]string{"-log", "-y", "cumulative", "-o", out, in}, io.Discard); err != nil {
			t.Fatal(err)
		}
		picture, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if name == "out.svg" && (!bytes.Contains(picture, []byte("a (2)")) || !bytes.Contains(picture, []byte("cumulative regret"))) {
			t.Errorf("the picture has no legend or no axis")
		}
	}
	out := filepath.Join(dir, "x.svg")
	for want, args := range map[string][]string{
		"give -o FILE":                       {in},
		"-x \"time\"":                        {"-x", "time", "-o", out, in},
		"-y \"all\"":                         {"-y", "all", "-o", out, in},
		"no policy \"c\"":                    {"-policy", "a,c", "-o", out, in},
		"no such file":                       {"-o", out, in + "x"},
		"not benchmark results":              {"-o", out, "plot_test.go"},
		"as svg, pdf or png, not as \"bmp\"": {"-o", out + ".bmp", "-policy", "a", in},
	} {
		if err := run(args, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
}
