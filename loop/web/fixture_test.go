package web

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
)

var began = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)

// labRun describes a run of two control sets over two variables; texts are of the kind
// that breaks pages.
func labRun() journal.Run {
	return journal.Run{ID: "lab-1", Name: "laser </script><b>", Site: "lab", Mode: "run", Policy: "rahbo", Version: "test", Seed: math.MaxUint64,
		Start: journal.Stamp{Wall: began}, ConfigFile: "laser.toml", ConfigText: []byte("name = \"</script><img src=x onerror=alert(1)>\"\n"),
		Objective: journal.Column{Name: "energy", Unit: "mJ"}, CostUnit: "min",
		Variables: []journal.Column{{Name: "mirror", Unit: "mrad"}, {Name: "pump", Unit: "A"}}, Sensors: []journal.Column{{Name: "energy", Unit: "mJ"}},
		ControlSets: []journal.ControlSet{{Variables: []string{"mirror"}, Cost: 1}, {Variables: []string{"mirror", "pump"}, Cost: 3}}}
}

// labOptions are the run's options, as far as pages need them.
func labOptions() plan.Options {
	o := plan.Options{Mode: plan.Live, Variables: []plan.Variable{
		{Name: "mirror", Unit: "mrad", Low: -2, High: 2, Start: 0, Actuated: true},
		{Name: "pump", Unit: "A", Low: 60, High: 95, Start: math.NaN(), Actuated: true}},
		ControlSets: []plan.ControlSet{{Variables: []int{0}, Cost: 1}, {Variables: []int{0, 1}, Cost: 3}}, Stop: plan.Stop{Steps: 50, Cost: 100}, Verify: plan.Verify{Pairs: 8}}
	o.Variables[0].Limits.Low, o.Variables[0].Limits.High = -3, 3
	o.Variables[1].Limits.Low, o.Variables[1].Limits.High = 50, 100
	return o
}

// labStep is step n of a run that approaches 5 mJ: what it decided and what came of it.
// Step 7 has failed, in step 9 the bounds changed the proposal.
func labStep(n int) (journal.Decision, journal.Outcome) {
	set, x, pump := n%2, 1/float64(n), 70+float64(n%20)
	d := journal.Decision{Step: n, ControlSet: set, Initial: n <= 5, Requested: []float64{x, math.NaN()}, Applied: []float64{x, math.NaN()},
		Took: 3 * time.Millisecond, Why: "{}", At: labStamp(n)}
	y := 5 - 3*x
	if n > 5 {
		d.Why = fmt.Sprintf(`{"mean":%g,"sd":0.1,"beta":2,"noise_variance":0.04,"risk":0.02,"value":%g,"best":%g,"best_noise_variance":0.04}`, y+0.1*math.Sin(float64(n)), y, y+0.15*float64(n%3))
	}
	if set == 1 {
		d.Requested[1], d.Applied[1] = pump, pump
	}
	if n == 9 {
		d.Requested[0], d.Reasons = 7, []journal.Reason{{Variable: "mirror", Rule: "hard-bounds", From: 7, To: d.Applied[0]}}
	}
	o := journal.Outcome{Step: n, X: []float64{x, pump}, Mean: y, Variance: 0.04, StandardError: 0.1, Shots: 4,
		Cost: []float64{1, 3}[set], Spent: float64(2 * n), Valid: true, At: labStamp(n)}
	if n == 7 {
		o.Valid, o.Problem, o.Mean, o.Variance, o.StandardError, o.Shots = false, "no light <i>", math.NaN(), math.NaN(), math.NaN(), 0
	}
	return d, o
}

func labStamp(n int) journal.Stamp {
	return journal.Stamp{Mono: time.Duration(n) * time.Second, Wall: began.Add(time.Duration(n) * time.Second)}
}

// labJournal writes a journal of so many steps and opens it for reading.
func labJournal(t *testing.T, steps int) *journal.Reader {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lab.db")
	j, err := journal.Create(path, labRun(), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	note := func(e journal.Event) {
		if err := j.Log(e); err != nil {
			t.Fatal(err)
		}
	}
	note(journal.Event{Level: "info", Kind: journal.EventStart, Message: "[0,null]", At: labStamp(0)})
	note(journal.Event{Level: "warn", Kind: journal.EventSafety, Message: "held: <script>alert(1)</script>", Step: 3, At: labStamp(3)})
	for n := 1; n <= steps; n++ {
		d, o := labStep(n)
		if err := j.Decide(d); err != nil {
			t.Fatal(err)
		}
		id, err := j.Intend(journal.Action{Step: n, Device: "bench", Kind: "move", Values: map[string]float64{"m": d.Applied[0]}, At: labStamp(n)})
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Resolve(id, journal.Confirmed, nil, "", labStamp(n)); err != nil {
			t.Fatal(err)
		}
		if err := j.Conclude(o); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// labPicture is a model of the run: a parabola along the mirror.
func labPicture() *control.Picture {
	estimate := control.PictureEstimate{Mean: 4.9, SD: 0.05, NoiseSD: 0.2, Bound: 4.8, Feasibility: none}
	best := &control.PicturePoint{ControlSet: 0, X: []journal.Number{0.1, none}, Feasible: true, PictureEstimate: estimate}
	p := &control.Picture{Best: best, Start: &control.PictureEstimate{Mean: 2, SD: 0.1, NoiseSD: 0.2, Bound: 1.8, Feasibility: none}, Sets: []*control.PicturePoint{best, nil}}
	s := control.PictureSlice{Variable: 0}
	for k := range 41 {
		x := -2 + 0.1*float64(k)
		s.X, s.Mean = append(s.X, journal.Number(x)), append(s.Mean, journal.Number(5-(x-0.1)*(x-0.1)))
		s.SD, s.NoiseSD = append(s.SD, 0.1), append(s.NoiseSD, journal.Number(0.1+0.05*math.Abs(x)))
	}
	p.Slices = append(p.Slices, s)
	return p
}

func labDocument(t *testing.T, steps int) *Document {
	t.Helper()
	d, err := Collect(Source{Reader: labJournal(t, steps), Options: labOptions(), Risk: 0.5, Picture: labPicture()})
	if err != nil {
		t.Fatal(err)
	}
	return d
}
