package web

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
)

// Document is a run as the renderer draws it. Numbers are in the user's units and sense;
// null is no data.
type Document struct {
	// Type is "tuner-run/1".
	Type string  `json:"type"`
	Run  RunPart `json:"run"`
	// Total counts the steps of the run. Where it is more than are shown, Steps has the
	// newest, and of the older ones every Stride-th.
	Total  int        `json:"total"`
	Stride int        `json:"stride"`
	Steps  []StepPart `json:"steps"`
	// Cut counts the decisions that the deadline cut.
	Cut int `json:"cut"`
	// Sets has one entry for each control set.
	Sets []SetPart `json:"sets"`
	// Rules says which safety rule changed which variable in how many proposals.
	Rules  []RulePart  `json:"rules"`
	Events []EventPart `json:"events"`
	// Actions counts what was sent to the instrument, by what became of it.
	Actions map[string]int `json:"actions"`
	// Doses are what was given through each variable of doses.
	Doses  []DosePart   `json:"doses"`
	Health []HealthPart `json:"health"`
	// Picture is the model; null where it was not asked for.
	Picture *control.Picture `json:"picture"`
	// Figures are drawings of the run as SVG, in a report alone.
	Figures []FigurePart `json:"figures,omitempty"`
	// Result is the line that the run ended with, null while it goes on.
	Result json.RawMessage `json:"result"`
	// Status is the running tuner's, null in a report.
	Status any `json:"status"`
	// Replay is the verdict of deriving every decision anew, "" where it was not done.
	Replay string `json:"replay"`
	// Hash is the SHA-256 of what the journal exports as JSON lines, in hexadecimal.
	Hash string `json:"hash"`
}

// lineSteps is how many steps a line of a document has: a browser reads them in a few milliseconds.
const lineSteps = 500

// lines is the document without its steps, and then those, some a line: who reads it line by line answers in between.
func (d *Document) lines() ([]byte, error) {
	head := *d
	head.Steps = []StepPart{}
	text, err := json.Marshal(&head)
	for steps := range slices.Chunk(d.Steps, lineSteps) {
		if err != nil {
			break
		}
		var line []byte
		line, err = json.Marshal(steps)
		text = append(append(text, '\n'), line...)
	}
	return text, err
}

// FigurePart is a drawing of the run.
type FigurePart struct {
	Kind  string `json:"kind"`
	Title string `json:"title"`
	SVG   string `json:"svg"`
	// Folded is for what is looked at after all else, and is not printed.
	Folded bool `json:"folded,omitempty"`
}

// RunPart is the run as the page shows it: what every other way out says of it, with its limits,
// its stop conditions and its configuration. Four members have a form of the page's own, and hide
// those of the same name below them.
type RunPart struct {
	control.Run
	// Seed is text: JavaScript's numbers are exact up to 2^53.
	Seed string `json:"seed"`
	// Objective is a name, Unit its unit.
	Objective string         `json:"objective"`
	Unit      string         `json:"unit"`
	Variables []VariablePart `json:"variables"`
	// ControlSets are left out: Document.Sets has them.
	ControlSets *struct{} `json:"control_sets,omitempty"`

	Version  string `json:"version"`
	Start    string `json:"start"`
	Sessions int    `json:"sessions"`
	Finished bool   `json:"finished"`
	Reason   string `json:"reason"`
	// Endings says in words what each reason to end means.
	Endings map[string]string `json:"endings"`
	// Risk is alpha of the mean-variance objective, in 1/Unit; 0: none.
	Risk journal.Number `json:"risk"`
	// Stop holds the stop conditions, null where there is none.
	StopSteps   *int           `json:"stop_steps"`
	StopCost    journal.Number `json:"stop_cost"`
	StopSeconds journal.Number `json:"stop_seconds"`
	// Unverified says why the recommended setting will not be compared with the starting one,
	// "" where it will be.
	Unverified string `json:"unverified,omitempty"`
	// Constraints are those on sensors.
	Constraints []ConstraintPart `json:"constraints"`
	ConfigFile  string           `json:"config_file"`
	ConfigText  string           `json:"config_text"`
	ConfigHash  string           `json:"config_sha256"`
}

// VariablePart is a variable with its limits.
type VariablePart struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
	// Low and High bound what the policy may ask for, HardLow and HardHigh what may be
	// written; null where nothing is written.
	Low      journal.Number `json:"low"`
	High     journal.Number `json:"high"`
	HardLow  journal.Number `json:"hard_low"`
	HardHigh journal.Number `json:"hard_high"`
	Start    journal.Number `json:"start"`
	Actuated bool           `json:"actuated"`
}

// ConstraintPart is a bound on a sensor; null: none on that side.
type ConstraintPart struct {
	Sensor int            `json:"sensor"`
	Low    journal.Number `json:"low"`
	High   journal.Number `json:"high"`
}

// StepPart is a step. Vectors have one entry per variable.
type StepPart struct {
	N       int            `json:"n"`
	Set     int            `json:"set"`
	Initial bool           `json:"initial"`
	Valid   bool           `json:"valid"`
	Problem string         `json:"problem"`
	Mean    journal.Number `json:"mean"`
	// SD is the standard deviation of one shot, SE that of Mean.
	SD    journal.Number `json:"sd"`
	SE    journal.Number `json:"se"`
	Shots int            `json:"shots"`
	Cost  journal.Number `json:"cost"`
	Spent journal.Number `json:"spent"`
	// Predicted is the model's mean for the setting when it was decided, PredictedSD
	// that mean's standard deviation, NoiseSD that of one shot as far as it was known,
	// Explore what the confidence bound added, Risk what the risk term took off, Value the
	// acquisition's.
	Predicted   journal.Number `json:"predicted"`
	PredictedSD journal.Number `json:"predicted_sd"`
	NoiseSD     journal.Number `json:"noise_sd"`
	Explore     journal.Number `json:"explore"`
	Risk        journal.Number `json:"risk"`
	Value       journal.Number `json:"value"`
	TookMS      journal.Number `json:"took_ms"`
	// Wall is when the step was concluded, in milliseconds since 1970.
	Wall      journal.Number   `json:"wall_ms"`
	Requested []journal.Number `json:"requested"`
	Applied   []journal.Number `json:"applied"`
	X         []journal.Number `json:"x"`
	// Clamped names the variables and rules that changed the proposal.
	Clamped string `json:"clamped"`
	// Because says why the setting was decided, by what was known when it was; BestThen is the
	// model's mean for what was recommended then.
	Because  string         `json:"because"`
	BestThen journal.Number `json:"best_then"`
	// By is who asked for the step, where a person has; left out where the policy has decided.
	By string `json:"by,omitempty"`
	// Struck says who has struck the step, which the model then does not know of, and why.
	Struck string `json:"struck,omitempty"`
}

// SetPart says what a control set cost and brought.
type SetPart struct {
	Variables []string       `json:"variables"`
	Cost      journal.Number `json:"cost"`
	Steps     int            `json:"steps"`
	FirstStep int            `json:"first_step"`
	Spent     journal.Number `json:"spent"`
	// Mean and SE are over its last ten valid steps.
	Mean journal.Number `json:"mean"`
	SE   journal.Number `json:"se"`
}

// RulePart counts what a rule changed.
type RulePart struct {
	Variable string `json:"variable"`
	Rule     string `json:"rule"`
	Count    int    `json:"count"`
}

// EventPart is a line of the run's story.
type EventPart struct {
	Wall    journal.Number `json:"wall_ms"`
	Level   string         `json:"level"`
	Kind    string         `json:"kind"`
	Step    int            `json:"step"`
	Message string         `json:"message"`
}

// Source is what a document is made from.
type Source struct {
	Reader *journal.Reader
	// Options are the run's.
	Options plan.Options
	// Devices are their names, in the order of the run's.
	Devices []string
	// Risk is alpha, 0: none.
	Risk float64
	// Picture is the model, nil: not shown.
	Picture *control.Picture
	// Concluded leaves out the step that is under way.
	Concluded bool
}

// shownSteps bounds the steps of a document: more would be wider than any screen and
// slow to draw.
const shownSteps = 4000

// shownEvents bounds the events: the newest are shown.
const shownEvents = 500

// Collect makes a document. A journal may be collected while a run writes it.
//
// Errors: what reading the journal gives.
func Collect(s Source) (*Document, error) {
	d, _, err := collect(s)
	return d, err
}

// collect gives the collector as well, which later steps can be added by.
func collect(s Source) (*Document, *collector, error) {
	run := s.Reader.Run()
	status, err := s.Reader.Status()
	if err != nil {
		return nil, nil, err
	}
	d := &Document{Type: "tuner-run/1", Run: describe(run, status, s), Stride: 1, Steps: []StepPart{}, Picture: s.Picture, Rules: []RulePart{},
		Events: []EventPart{}, Actions: map[string]int{}}
	c := newCollector(d, run)
	for step, err := range s.Reader.Steps() {
		if err != nil {
			return nil, nil, err
		}
		if step.Decision.Compared.Comparison > 0 {
			continue // no part of the search: the result has what came of it
		}
		if step.Concluded || !s.Concluded {
			c.addStep(step)
		}
	}
	c.sum()
	struck, err := s.Reader.Struck()
	if err != nil {
		return nil, nil, err
	}
	for i := range d.Steps {
		if by, ok := struck[d.Steps[i].N]; ok {
			d.Steps[i].Struck = by.String()
		}
	}
	if err := d.addRecorded(s); err != nil {
		return nil, nil, err
	}
	d.Health = examine(d)
	return d, c, nil
}

// addRecorded collects events, actions, doses and the result.
func (d *Document) addRecorded(s Source) error {
	r, doses := s.Reader, newDoseCounter(&s.Options, s.Devices)
	for e, err := range r.Events() {
		if err != nil {
			return err
		}
		if e.Kind == journal.EventStart {
			continue
		}
		d.addEvent(eventPart(e))
	}
	for a, err := range r.AllActions() {
		if err != nil {
			return err
		}
		state := journal.Unknown
		if n := len(a.Resolutions); n > 0 {
			state = a.Resolutions[n-1].State
		}
		d.Actions[string(state)]++
		doses.add(a)
	}
	d.Doses = doses.parts
	result, ok, err := r.Result()
	if ok {
		d.Result = result.Document
	}
	return err
}

func eventPart(e journal.Event) EventPart {
	return EventPart{wallMS(e.At), e.Level, e.Kind, e.Step, e.Message}
}

// addEvent appends an event; of too many the oldest go.
func (d *Document) addEvent(e EventPart) {
	d.Events = append(d.Events, e)
	if len(d.Events) > 2*shownEvents {
		d.Events = slices.Clone(d.Events[len(d.Events)-shownEvents:])
	}
}

// changed marks the steps that a change strikes, or has count again. A change that cannot be read
// is told by the run; here it marks nothing.
func (d *Document) changed(e journal.Event) {
	c, err := plan.ReadChange(e)
	if err != nil {
		return
	}
	for i := range d.Steps {
		switch s := &d.Steps[i]; {
		case slices.Contains(c.Strike, s.N):
			s.Struck = c.By()
		case slices.Contains(c.Unstrike, s.N):
			s.Struck = ""
		}
	}
}

// last is the number of the last step that is shown, 0 before the first.
func (d *Document) last() int {
	if n := len(d.Steps); n > 0 {
		return d.Steps[n-1].N
	}
	return 0
}

// describe is the head of the document.
func describe(run journal.Run, status journal.Status, s Source) RunPart {
	o := &s.Options
	p := RunPart{Run: control.RunOf(run), Version: run.Version, Seed: uintText(run.Seed), Start: run.Start.Wall.UTC().Format("2006-01-02 15:04:05 UTC"),
		Objective: run.Objective.Name, Unit: run.Objective.Unit, Sessions: status.Sessions,
		Finished: status.Finished, Reason: status.Reason, Endings: control.Endings(), Risk: journal.Number(s.Risk), StopCost: none, StopSeconds: none,
		Constraints: []ConstraintPart{}, ConfigFile: run.ConfigFile, ConfigText: string(run.ConfigText), ConfigHash: hashOf(run.ConfigText)}
	for i, v := range run.Variables {
		part := VariablePart{Name: v.Name, Unit: v.Unit, Low: none, High: none, HardLow: none, HardHigh: none, Start: none}
		if i < len(o.Variables) {
			x := &o.Variables[i]
			part.Low, part.High, part.Start, part.Actuated = journal.Number(x.Low), journal.Number(x.High), journal.Number(x.Start), x.Actuated
			if x.Actuated {
				part.HardLow, part.HardHigh = journal.Number(x.Limits.Low), journal.Number(x.Limits.High)
			}
		}
		p.Variables = append(p.Variables, part)
	}
	for _, c := range o.Constraints {
		p.Constraints = append(p.Constraints, ConstraintPart{c.Sensor, journal.Number(c.Low), journal.Number(c.High)})
	}
	switch {
	case o.Mode == plan.Shadow: // the page says so itself
	case o.Verify.Pairs == 0:
		p.Unverified = cmp.Or(o.Verify.Why, "the configuration asks for no comparison")
	default:
		p.Unverified = o.Unverifiable()
	}
	if o.Stop.Steps > 0 && o.Mode != plan.Shadow { // a dry run ends by time alone
		p.StopSteps = &o.Stop.Steps
	}
	if o.Stop.Cost > 0 && o.Mode != plan.Shadow {
		p.StopCost = journal.Number(o.Stop.Cost)
	}
	if o.Stop.Time > 0 {
		p.StopSeconds = journal.Number(o.Stop.Time.Seconds())
	}
	return p
}

// none is no number.
var none = journal.Number(math.NaN())

func wallMS(at journal.Stamp) journal.Number {
	if at.Wall.IsZero() {
		return none
	}
	return journal.Number(float64(at.Wall.UnixMilli()))
}

// countRules orders what rules did: most often first.
func countRules(counts map[[2]string]int) []RulePart {
	out := []RulePart{}
	for key, n := range counts {
		out = append(out, RulePart{key[0], key[1], n})
	}
	slices.SortFunc(out, func(a, b RulePart) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Variable, b.Variable), strings.Compare(a.Rule, b.Rule))
	})
	return out
}
