package plots

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/front"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/web"
	"github.com/labtuner/tuner/loop/web/figure"
)

// ishigami is a model whose indices are known in closed form.
type ishigami struct{}

func (ishigami) Predict(_ int, x [][]float64) ([]control.PictureEstimate, error) {
	out := make([]control.PictureEstimate, len(x))
	for i, v := range x {
		y := math.Sin(v[0]) + 7*math.Pow(math.Sin(v[1]), 2) + 0.1*math.Pow(v[2], 4)*math.Sin(v[0])
		out[i] = control.PictureEstimate{Mean: journal.Number(y), SD: 0.1, NoiseSD: journal.Number(0.5 + math.Abs(v[1])), Bound: journal.Number(y - 0.2), Feasibility: 0.9}
	}
	return out, nil
}

// run is a run of the Ishigami function over three variables and two control sets.
func run(minimize bool) Source {
	d := &web.Document{Run: web.RunPart{Run: control.Run{Name: "ishigami", CostUnit: "EUR", Minimize: minimize,
		Sensors: []control.Scalar{{Name: "signal", Unit: "mV"}, {Name: "temperature", Unit: "degC"}}}, Objective: "signal", Unit: "mV", Risk: 10, Constraints: []web.ConstraintPart{{Sensor: 1, Low: journal.Number(math.NaN()), High: 40}}}}
	for _, name := range []string{"a", "b", "c"} {
		d.Run.Variables = append(d.Run.Variables, web.VariablePart{Name: name, Unit: "rad", Low: -math.Pi, High: math.Pi, Start: 0, Actuated: true})
	}
	d.Sets = []web.SetPart{{Variables: []string{"a", "b"}, Cost: 1}, {Variables: []string{"a", "b", "c"}, Cost: 2}}
	draw := rand.New(rand.NewPCG(1, 1))
	spent := journal.Number(0)
	for n := 1; n <= 20; n++ {
		x := []journal.Number{journal.Number(draw.Float64()), journal.Number(draw.Float64()), journal.Number(draw.Float64())}
		set := n % 2
		spent += d.Sets[set].Cost
		d.Sets[set].Steps, d.Sets[set].Spent = d.Sets[set].Steps+1, d.Sets[set].Spent+d.Sets[set].Cost
		seen, _ := ishigami{}.Predict(0, [][]float64{numbers(x)})
		d.Steps = append(d.Steps, web.StepPart{N: n, Set: set, Valid: n != 5, Mean: seen[0].Mean, SD: 0.5, SE: 0.1, Cost: d.Sets[set].Cost, Spent: spent, X: x,
			Predicted: seen[0].Mean, PredictedSD: 0.1})
	}
	best := &control.PicturePoint{ControlSet: 1, X: []journal.Number{1, 1, 1}, PictureEstimate: control.PictureEstimate{Mean: 5, SD: 0.1, NoiseSD: 1, Bound: 4.8}}
	d.Picture = &control.Picture{Best: best, Start: &control.PictureEstimate{Mean: 0, NoiseSD: 0.5}, Sets: []*control.PicturePoint{best, best}}
	price := func() ([]front.Price, error) {
		var out []front.Price
		for k := range 4 { // the greater the risk, the steadier and the lower
			v := journal.Number(k)
			parts := []control.SettingPart{{How: control.HowSet, Value: v / 4}, {How: control.HowSet, Value: 1}, {How: control.HowMeasured, Value: 1}}
			out = append(out, front.Price{Risk: math.Pow(10, float64(k)), Point: front.Point{Variables: parts, First: front.Value{Value: 5 - v, SE: 0.1}, Second: front.Value{Value: 1 - v/5, Low: 0.9 - v/5, High: 1.2 - v/5}}})
		}
		return out, nil
	}
	lengths := func() (log, sd []float64, err error) {
		return []float64{-1, -2, 0.5}, []float64{0.1, 0, math.NaN()}, nil
	}
	asked := func(set int, x [][]float64) ([]float64, error) { return make([]float64, len(x)), nil }
	return Source{Document: d, Model: ishigami{}, Prices: price, Lengthscales: lengths, Acquisition: asked, Sensors: func(step int) ([]float64, error) { return []float64{float64(step), 30}, nil }}
}

func svg(t *testing.T, s Source, kind string, o Options) string {
	t.Helper()
	f, err := Draw(s, kind, o)
	if err != nil {
		t.Fatalf("%s: %v", kind, err)
	}
	var out bytes.Buffer
	if err := f.Write(&out, "svg", figure.Page); err != nil {
		t.Fatalf("%s: %v", kind, err)
	}
	return out.String()
}

// TestKinds draws every kind, and finds in each what a reader looks for.
func TestKinds(t *testing.T) {
	want := map[string][]string{
		"progress":   {"signal (mV)", "best measured so far", "best pessimistic bound so far", "starting setting"},
		"tradeoff":   {"noise of a shot, standard deviation (mV)", "front", "recommended"},
		"risk":       {"risk alpha (1/mV)", "noise of a shot, SD (mV)", "share of the range", "recommended at some alpha", "own alpha is 10"},
		"sets":       {"mean cost of a step (EUR)", "a, b, c", "start"},
		"contour":    {"b (rad)", "recommended", "tried"},
		"slices":     {"a (rad)", "b (rad)", "c (rad)"},
		"importance": {"total index", "share of the variance", "range over lengthscale"},
		"parallel":   {"share of the range", "recommended"},
		"sensors":    {"temperature (degC)", "stroke-dasharray"},
		"predicted":  {"signal measured (mV)", "as predicted"},
	}
	for _, minimize := range []bool{false, true} {
		for _, k := range Kinds() {
			out := svg(t, run(minimize), k.Name, Options{})
			for _, words := range append(want[k.Name], "ishigami") {
				if !strings.Contains(out, words) {
					t.Errorf("%s lacks %q", k.Name, words)
				}
			}
			if len(want[k.Name]) == 0 {
				t.Errorf("nothing is asked of %s", k.Name)
			}
		}
	}
}

func TestOptions(t *testing.T) {
	if out := svg(t, run(false), "contour", Options{X: "a", Y: "c", Of: "noise"}); !strings.Contains(out, "noise of a shot") || !strings.Contains(out, "At b 1 rad") {
		t.Error("the map does not say what it shows")
	}
	if out := svg(t, run(false), "progress", Options{Over: "cost"}); !strings.Contains(out, "spent (EUR)") {
		t.Error("progress over cost has another axis")
	}
	for want, o := range map[string]Options{"there is no variable \"d\"; there are a, b, c": {X: "d", Y: "a"}, "both are a": {X: "a", Y: "a"}, "of is \"x\", and may be mean": {Of: "x"}} {
		if _, err := Draw(run(false), "contour", o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %q", err, want)
		}
	}
	for kind, o := range map[string]Options{"slices": {X: "x"}, "progress": {Of: "sd"}, "contour": {Over: "cost"}} {
		if _, err := Draw(run(false), kind, o); !errors.Is(err, ErrChoice) || !strings.Contains(err.Error(), "belongs to --kind") {
			t.Errorf("an option that %s does not have: %v", kind, err)
		}
	}
	if _, err := Draw(run(false), "map", Options{}); err == nil || !strings.Contains(err.Error(), "there are progress") {
		t.Errorf("%v does not list the kinds", err)
	}
}

// TestAspects: a map of all that the run has, and the acquisition only while a next step is to be chosen.
func TestAspects(t *testing.T) {
	all := svg(t, run(false), "contour", Options{Of: "all"})
	for _, words := range []string{"uncertainty of the mean", "noise of a shot", "probability that the constraints hold", "acquisition of the next step"} {
		if !strings.Contains(all, words) {
			t.Errorf("all of the model lacks %q", words)
		}
	}
	over := run(false)
	over.Acquisition = nil
	if out := svg(t, over, "contour", Options{Of: "all"}); strings.Contains(out, "acquisition") {
		t.Error("a run that is over shows an acquisition")
	}
	for _, err := range []error{nil, policy.ErrDesign, policy.ErrNotEligible} {
		s := run(false)
		if s.Acquisition = nil; err != nil {
			s.Acquisition = func(int, [][]float64) ([]float64, error) { return nil, err }
		}
		if _, got := Draw(s, "contour", Options{Of: "acquisition"}); !errors.Is(got, ErrNothing) {
			t.Errorf("%v: %v", err, got)
		}
	}
	s := run(false)
	pairs, err := s.Pairs(2)
	if err != nil || len(pairs) != 2 || pairs[0] != [2]string{"a", "b"} {
		t.Errorf("pairs %v, %v", pairs, err)
	}
}

// TestRiskSaysWhyNot: what the record cannot tell of risk is said, and is no failure.
func TestRiskSaysWhyNot(t *testing.T) {
	for _, err := range []error{policy.ErrNoNoise, front.ErrOneNoise} {
		s := run(false)
		s.Prices = func() ([]front.Price, error) { return nil, err }
		if _, got := Draw(s, "risk", Options{}); !errors.Is(got, ErrNothing) || !strings.Contains(got.Error(), err.Error()) {
			t.Errorf("%v: %v", err, got)
		}
	}
}

// TestOneLengthscale: a model that has the same for all variables tells none from another, and the figure says so.
func TestOneLengthscale(t *testing.T) {
	s := run(false)
	s.Lengthscales = func() (log, sd []float64, err error) { return make([]float64, 3), make([]float64, 3), nil }
	if out := svg(t, s, "importance", Options{}); strings.Contains(out, "range over lengthscale") || !strings.Contains(out, "one lengthscale for all variables") {
		t.Error("one lengthscale is drawn, or is not said")
	}
}

// TestNothingToDraw: a run without steps, model or sensors says so for every kind.
func TestNothingToDraw(t *testing.T) {
	for _, k := range Kinds() {
		if k.Name == "slices" {
			continue // variables can be shown without a step
		}
		s := run(false)
		s.Document.Steps, s.Document.Picture, s.Document.Run.Sensors, s.Model, s.Prices = nil, nil, nil, nil, nil
		if _, err := Draw(s, k.Name, Options{}); !errors.Is(err, ErrNothing) {
			t.Errorf("%s: %v", k.Name, err)
		}
	}
}

// TestIndices compares the indices of the Ishigami function (a = 7, b = 0.1) with their closed forms
// (Sobol' and Levitan 1999), within four of the standard errors that the estimate tells of itself.
func TestIndices(t *testing.T) {
	s := run(false)
	v, err := s.sensitivity()
	if err != nil {
		t.Fatal(err)
	}
	first, total := []float64{0.3139, 0.4424, 0}, []float64{0.5576, 0.4424, 0.2437}
	for i := range first {
		if off := math.Abs(v.first[i] - first[i]); off > 4*v.firstError[i]+1e-3 || v.firstError[i] > 0.1 {
			t.Errorf("first-order index of %d: %g ± %g, not %g", i, v.first[i], v.firstError[i], first[i])
		}
		if off := math.Abs(v.total[i] - total[i]); off > 4*v.totalSE[i]+1e-3 || v.totalSE[i] > 0.1 {
			t.Errorf("total index of %d: %g ± %g, not %g", i, v.total[i], v.totalSE[i], total[i])
		}
	}
	order, err := s.byImportance()
	if err != nil || order[0] != 0 || order[2] != 2 {
		t.Errorf("order %v, %v", order, err)
	}
}

// TestFront compares with the definition: no other pair has less noise and a better mean.
func TestFront(t *testing.T) {
	for _, minimize := range []bool{false, true} {
		s, draw := run(minimize), rand.New(rand.NewPCG(5, 6))
		var x, y []float64
		for range 60 {
			x, y = append(x, float64(draw.IntN(20))), append(y, float64(draw.IntN(20)))
		}
		want := 0
		seen := map[[2]float64]bool{}
		for i := range x {
			beaten := false
			for k := range x {
				beaten = beaten || (x[k] <= x[i] && !s.worse(y[k], y[i]) && (x[k] < x[i] || s.worse(y[i], y[k])))
			}
			if !beaten && !seen[[2]float64{x[i], y[i]}] {
				seen[[2]float64{x[i], y[i]}] = true
				want++
			}
		}
		fx, fy := s.front(x, y)
		if len(fx) != want {
			t.Errorf("%d on the front, not %d", len(fx), want)
		}
		for i := range fx {
			if !seen[[2]float64{fx[i], fy[i]}] {
				t.Errorf("%g, %g is beaten", fx[i], fy[i])
			}
		}
	}
}

// TestCompare: two runs over shared axes, the second without a model yet; over cost only where something was spent; what
// each recommends.
func TestCompare(t *testing.T) {
	a, b := run(false), run(false)
	b.Model, b.Document.Picture = nil, nil
	labels := []string{"before", "after"}
	write := func(f *figure.Figure, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := f.Write(&out, "svg", figure.Page); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	for over, axis := range map[string]string{"steps": ">step<", "cost": "spent (EUR)"} {
		if out := write(Compare(labels, []Source{a, b}, over)); !strings.Contains(out, axis) || !strings.Contains(out, "before") || strings.Count(out, "stroke-dasharray") != 1 {
			t.Errorf("over %s: no axis %q, no label, or not one bound", over, axis)
		}
	}
	if out := write(CompareBest(labels, []Source{a, b})); !strings.Contains(out, "after") || !strings.Contains(out, "noise of a shot there, SD (mV)") {
		t.Error("a run without a recommendation has lost its row, or the noise is not drawn")
	}
	if _, err := CompareBest(labels, []Source{b, b}); !errors.Is(err, ErrNothing) {
		t.Errorf("nothing recommended: %v", err)
	}
	for i := range a.Document.Steps {
		a.Document.Steps[i].Spent = 0
	}
	if _, err := Compare(labels[:1], []Source{a}, "cost"); !errors.Is(err, ErrNothing) {
		t.Errorf("nothing spent: %v", err)
	}
	a.Document.Steps = nil
	if _, err := Compare(labels[:1], []Source{a}, "steps"); !errors.Is(err, ErrNothing) {
		t.Errorf("no step: %v", err)
	}
}
