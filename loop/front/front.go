// Package front compares settings by two quantities at once: it lists those of which no other is
// as good by both and better by one. [OfModel] weighs how high a setting is against how steady,
// as a policy's model has it; [OfSensors] weighs two sensors, as they were measured.
package front

import (
	"encoding/csv"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
)

// Front is what a comparison came to.
type Front struct {
	// First and Second are what settings are compared by.
	First  Axis `json:"first"`
	Second Axis `json:"second"`
	// Among is how many settings were compared.
	Among int `json:"among"`
	// Points are those that remain: by First, the best first.
	Points []Point `json:"points"`
}

// Axis is one of the two quantities.
type Axis struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
	// Maximize: more is better; else less is.
	Maximize bool `json:"maximize"`
	// Of says what its values are, and their Low and High, in words.
	Of string `json:"of"`
}

// Point is one setting.
type Point struct {
	// ControlSet names the variables that it sets; Variables says what each does there, Try which
	// command measures it again.
	ControlSet []string              `json:"control_set"`
	Variables  []control.SettingPart `json:"variables"`
	Try        string                `json:"try"`
	First      Value                 `json:"first"`
	Second     Value                 `json:"second"`
	// Feasible says that the model knows the constraints to be kept there; of what was measured
	// it says that each step's mean kept them.
	Feasible bool `json:"feasible"`
	// Steps and Shots are how often it was measured, 0 where that is not counted.
	Steps int `json:"steps,omitempty"`
	Shots int `json:"shots,omitempty"`
}

// Value is a number with what is known of its error: null where nothing is.
type Value struct {
	Value journal.Number `json:"value"`
	// SE is its standard error, Low and High an interval for it.
	SE   journal.Number `json:"standard_error"`
	Low  journal.Number `json:"low"`
	High journal.Number `json:"high"`
}

// setPoints lists the points that no other dominates, by the first axis, the best first. Of equal ones
// all stay. Points without both values are left out. Cost: n log n.
func (f *Front) setPoints(points []Point) {
	sense := func(a Axis, v Value) float64 {
		if a.Maximize {
			return float64(v.Value)
		}
		return -float64(v.Value)
	}
	first := func(p *Point) float64 { return sense(f.First, p.First) }
	second := func(p *Point) float64 { return sense(f.Second, p.Second) }
	points = slices.DeleteFunc(points, func(p Point) bool { return math.IsNaN(first(&p)) || math.IsNaN(second(&p)) })
	f.Among, f.Points = len(points), []Point{}
	slices.SortStableFunc(points, func(a, b Point) int {
		switch x, y := [2]float64{first(&a), second(&a)}, [2]float64{first(&b), second(&b)}; {
		case x == y:
			return 0
		case x[0] > y[0] || x[0] == y[0] && x[1] > y[1]:
			return -1
		}
		return 1
	})
	for i := range points {
		p := &points[i]
		if n := len(f.Points); n == 0 || second(p) > second(&f.Points[n-1]) || second(p) == second(&f.Points[n-1]) && first(p) == first(&f.Points[n-1]) {
			f.Points = append(f.Points, *p)
		}
	}
}

// WriteCSV writes a row a setting: the two values with what is known of their errors, then each
// variable, empty where it is not known.
func (f *Front) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	head := []string{"control_set"}
	for _, a := range []string{column(f.First.Name), column(f.Second.Name)} {
		head = append(head, a, a+"_se", a+"_low", a+"_high")
	}
	head = append(head, "feasible", "steps", "shots")
	if len(f.Points) > 0 {
		for _, v := range f.Points[0].Variables {
			head = append(head, "x_"+v.Variable)
		}
	}
	if err := out.Write(head); err != nil {
		return err
	}
	for _, p := range f.Points {
		row := []string{strings.Join(p.ControlSet, "+")}
		for _, v := range []Value{p.First, p.Second} {
			row = append(row, cell(v.Value), cell(v.SE), cell(v.Low), cell(v.High))
		}
		row = append(row, strconv.FormatBool(p.Feasible), strconv.Itoa(p.Steps), strconv.Itoa(p.Shots))
		for _, v := range p.Variables {
			row = append(row, cell(v.Value))
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// column is a name as the head of a column.
func column(name string) string { return strings.ReplaceAll(name, " ", "_") }

// cell is a number that reads back as the same, "" for none.
func cell(n journal.Number) string {
	if !n.Known() {
		return ""
	}
	return strconv.FormatFloat(float64(n), 'g', -1, 64)
}
