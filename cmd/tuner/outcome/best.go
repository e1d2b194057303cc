package outcome

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/front"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
)

// Best is a recommended setting with all that it takes to set it again.
type Best struct {
	// Type is "best".
	Type string `json:"type"`
	// Run is the journal's run, Name the configuration's.
	Run  string `json:"run"`
	Name string `json:"name"`
	// Steps is how many the recommendation rests on.
	Steps     int                     `json:"steps"`
	Objective control.ObjectiveStatus `json:"objective"`
	// Risk is alpha of the mean-variance objective that Bound is of; null where it is not known.
	// NoiseFitted says that the run itself did not learn how the noise depends on the setting, and
	// that it was learnt afterwards, from its shots.
	Risk        journal.Number `json:"risk"`
	NoiseFitted bool           `json:"noise_fitted"`
	*control.RecommendedStatus
	// SetBest is the command that ends a running search there.
	SetBest string `json:"set_best"`
}

// BestOfStatus is what a running tuner recommends.
func BestOfStatus(s *control.Status) (*Best, error) {
	if s.Recommended == nil {
		return nil, errNothingYet
	}
	return &Best{Type: "best", Run: s.Run, Name: s.Name, Steps: s.Steps - len(s.Struck), Objective: s.Objective, Risk: NaN(), RecommendedStatus: s.Recommended, SetBest: setBestOf(s.Name)}, nil
}

var errNothingYet = fmt.Errorf("nothing is recommended yet: %w", policy.ErrNoData)

func setBestOf(name string) string { return "tuner set-best " + name }

// weigher is a policy that knows how steady settings are; fitted says that it is not the run's own.
func (r *Recorded) weigher(ctx context.Context) (w policy.Weigher, fitted bool, err error) {
	spec := policy.ForRisk(r.Setup.Spec)
	p, err := r.model(ctx, spec)
	if err != nil {
		return nil, false, err
	}
	w, ok := p.(policy.Weigher)
	if !ok {
		return nil, false, fmt.Errorf("policy %q cannot weigh another risk", spec.Kind)
	}
	return w, spec.Kind != r.Setup.Spec.Kind, nil
}

// Best is what the record recommends: with the run's own risk, or where risk is not nil as if that
// had been the risk.
func (r *Recorded) Best(ctx context.Context, risk *float64) (*Best, error) {
	found, alpha, fitted, err := r.recommend(ctx, risk)
	if errors.Is(err, policy.ErrNoData) {
		return nil, errNothingYet
	}
	if err != nil {
		return nil, err
	}
	o := &r.Setup.Options
	found.Mean, found.LowerBound = o.Sense(found.Mean), o.Sense(found.LowerBound)
	run := r.Reader.Run()
	return &Best{Type: "best", Run: run.ID, Name: run.Name, Steps: r.learnt, Objective: control.ObjectiveStatus{Name: o.Objective.Name, Unit: o.Objective.Unit, Minimize: o.Objective.Minimize},
		Risk: journal.Number(alpha), NoiseFitted: fitted, RecommendedStatus: control.RecommendedOf(o, run.Name, &found), SetBest: setBestOf(run.Name)}, nil
}

func (r *Recorded) recommend(ctx context.Context, risk *float64) (found policy.Recommendation, alpha float64, fitted bool, err error) {
	if risk == nil || *risk == r.Setup.Spec.Risk {
		p, err := r.model(ctx, r.Setup.Spec)
		if err != nil {
			return found, 0, false, err
		}
		found, err = p.Recommend()
		return found, r.Setup.Spec.Risk, false, err
	}
	w, fitted, err := r.weigher(ctx)
	if err != nil {
		return found, 0, false, err
	}
	found, err = w.RecommendAt(*risk)
	return found, *risk, fitted, err
}

// Front weighs how high settings are against how steady; fitted is as NoiseFitted.
func (r *Recorded) Front(ctx context.Context) (f *front.Front, fitted bool, err error) {
	w, fitted, err := r.weigher(ctx)
	if err != nil {
		return nil, false, err
	}
	f, err = front.OfModel(&r.Setup.Options, w, r.Setup.Spec.Beta)
	if errors.Is(err, policy.ErrNoData) {
		err = errNothingYet
	}
	return f, fitted, err
}

// fittedWords say that the noise was learnt afterwards.
const fittedWords = "the run itself took the noise for constant; how it depends on the setting was learnt from its shots just now"

// WriteText tells a person.
func (b *Best) WriteText(out io.Writer) error {
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, "recommended setting of %s, after %s:\n", show.Printable(b.Name), show.Count(b.Steps, "step"))
	writeSetting(w, b.Variables)
	fmt.Fprintf(w, "\n%s there: %s expected", show.Printable(b.Objective.Name), show.Quantity(float64(b.Mean), b.Objective.Unit))
	if b.NoiseSD.Known() {
		fmt.Fprintf(w, ", one shot scatters by %s (sd, by the model)", show.Quantity(float64(b.NoiseSD), b.Objective.Unit))
	}
	fmt.Fprintf(w, "\n%s: %s\n", boundWords(float64(b.Risk), b.Objective.Minimize), show.Quantity(float64(b.Bound), b.Objective.Unit))
	if !b.Feasible {
		fmt.Fprintln(w, "constraints: NOT known to be kept there: no setting that was tried is")
	}
	if b.NoiseFitted {
		fmt.Fprintln(w, fittedWords)
	}
	fmt.Fprintln(w)
	if b.Try != "" {
		fmt.Fprintf(w, "measure it again:             %s\n", b.Try)
	}
	if b.TryAll != "" {
		fmt.Fprintf(w, "the same, with what is held:  %s\n", b.TryAll)
	}
	fmt.Fprintf(w, "end the search there:         %s\n", b.SetBest)
	return w.Flush()
}

// writeSetting lists what each variable does.
func writeSetting(out io.Writer, parts []control.SettingPart) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, p := range parts {
		text := p.Text
		if p.How == control.HowSet {
			text = show.Quantity(float64(p.Value), p.Unit)
		}
		fmt.Fprintf(t, "  %s\t%s\n", show.Printable(p.Variable), show.Printable(text))
	}
	t.Flush()
}

// WriteCSV writes a row a variable.
func (b *Best) WriteCSV(out io.Writer) error {
	w := csv.NewWriter(out)
	rows := [][]string{{"variable", "unit", "how", "value", "sd", "distribution"}}
	number := func(n journal.Number) string {
		if !n.Known() {
			return ""
		}
		return strconv.FormatFloat(float64(n), 'g', -1, 64)
	}
	for _, p := range b.Variables {
		rows = append(rows, []string{p.Variable, p.Unit, p.How, number(p.Value), number(p.SD), p.Distribution})
	}
	if err := w.WriteAll(rows); err != nil {
		return err
	}
	return w.Error()
}

// WriteJSON writes one document.
func (b *Best) WriteJSON(out io.Writer) error { return json.NewEncoder(out).Encode(b) }

// FrontDocument is a front as one JSON document.
type FrontDocument struct {
	// Type is "front"; Run, Name and NoiseFitted are as in Best.
	Type        string `json:"type"`
	Run         string `json:"run"`
	Name        string `json:"name"`
	NoiseFitted bool   `json:"noise_fitted"`
	*front.Front
}

// WriteText tells a person: a row a setting.
func (d *FrontDocument) WriteText(out io.Writer, constrained bool) error {
	w := bufio.NewWriter(out)
	first, second := d.First, d.Second
	better := map[bool]string{true: "more", false: "less"}
	fmt.Fprintf(w, "%s: of %s none is better by both than these %d\n", show.Printable(d.Name), show.Count(d.Among, "setting"), len(d.Points))
	for _, a := range []front.Axis{first, second} {
		fmt.Fprintf(w, "  %s: %s is better; %s\n", a.Name, better[a.Maximize], show.Printable(a.Of))
	}
	if d.NoiseFitted {
		fmt.Fprintln(w, "  "+fittedWords)
	}
	if len(d.Points) == 0 {
		return w.Flush()
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s\tlow to high\t%s\tlow to high\t", show.WithUnit(first.Name, first.Unit), show.WithUnit(second.Name, second.Unit))
	counted := d.Points[0].Shots > 0
	if counted {
		fmt.Fprint(t, "shots\t")
	}
	if constrained {
		fmt.Fprint(t, "constraints\t")
	}
	for _, v := range d.Points[0].Variables {
		fmt.Fprint(t, show.WithUnit(v.Variable, v.Unit)+"\t")
	}
	fmt.Fprintln(t)
	for i := range d.Points {
		p := &d.Points[i]
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t", inColumn(p.First.Value), interval(p.First), inColumn(p.Second.Value), interval(p.Second))
		if counted {
			fmt.Fprintf(t, "%d\t", p.Shots)
		}
		if constrained {
			fmt.Fprintf(t, "%s\t", constraintWord(p, counted))
		}
		for _, v := range p.Variables {
			word := map[string]string{control.HowSet: "", control.HowHeld: "held ", control.HowParked: "parked "}
			text, plain := word[v.How]
			if text += inColumn(v.Value); !plain {
				text = v.How
			}
			fmt.Fprint(t, text+"\t")
		}
		fmt.Fprintln(t)
	}
	t.Flush()
	fmt.Fprintln(w, "\n--json has the command that measures each of them again")
	return w.Flush()
}

// constraintWord says how the constraints are at a setting, measured or by the model.
func constraintWord(p *front.Point, measured bool) string {
	switch {
	case p.Feasible:
		return "kept"
	case measured:
		return "broken"
	}
	return "not known to be kept"
}

// interval is where a value may be.
func interval(v front.Value) string {
	if !v.Low.Known() {
		return "not known"
	}
	return inColumn(v.Low) + " to " + inColumn(v.High)
}

// inColumn is a number in a table.
func inColumn(n journal.Number) string {
	if !n.Known() {
		return "-"
	}
	return show.Digits(float64(n), 4)
}

// WriteJSON writes one document.
func (d *FrontDocument) WriteJSON(out io.Writer) error { return json.NewEncoder(out).Encode(d) }

// FrontOf makes the document of a front of a run.
func FrontOf(r *Recorded, f *front.Front, fitted bool) *FrontDocument {
	run := r.Reader.Run()
	return &FrontDocument{Type: "front", Run: run.ID, Name: run.Name, NoiseFitted: fitted, Front: f}
}

// Quantities finds the two that a person has named, as NAME:max or NAME:min; of the objective's own
// sensor the file says which.
func Quantities(o *plan.Options, words []string) (both [2]front.Quantity, err error) {
	if len(words) != 2 {
		return both, fmt.Errorf("%d sensors; two are compared, as in power:max,temperature:min", len(words))
	}
	for i, word := range words {
		if both[i], err = quantity(o, word); err != nil {
			return both, err
		}
	}
	own := func(q front.Quantity) int {
		if q.Sensor < 0 {
			return o.Objective.Sensor
		}
		return q.Sensor
	}
	if own(both[0]) == own(both[1]) {
		return both, errors.New("one sensor is named twice: it is the objective's")
	}
	return both, nil
}
