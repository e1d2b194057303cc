package dump

import (
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/describe"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/export"
)

// dumpRun is the run as it was when it began.
type dumpRun struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	Mode      string   `json:"mode"`
	Policy    string   `json:"policy"`
	Seed      uint64   `json:"seed"`
	Objective string   `json:"objective"`
	Unit      string   `json:"unit"`
	Minimize  bool     `json:"minimize"`
	Variables []string `json:"variables"`
	Sensors   []string `json:"sensors"`
	Sets      int      `json:"control_sets"`
	Finished  bool     `json:"finished"`
	Reason    string   `json:"reason"`
}

// dumpSession is one process of the run.
type dumpSession struct {
	Number  int       `json:"number"`
	Version string    `json:"version"`
	Start   time.Time `json:"start"`
}

// dumpConfiguration is what a session took over.
type dumpConfiguration struct {
	Session  int                    `json:"session"`
	File     string                 `json:"file"`
	SHA256   string                 `json:"sha256"`
	Settings []describe.SettingLine `json:"settings"`
}

// dumpCounts says how much of what there is.
type dumpCounts struct {
	Steps    int            `json:"steps"`
	Compared int            `json:"compared"`
	Open     bool           `json:"open"`
	Invalid  map[string]int `json:"invalid_by_problem"`
	Events   map[string]int `json:"events_by_kind"`
	Actions  map[string]int `json:"actions_by_state"`
	Warm     int            `json:"warm_observations"`
}

// dumpStep is a step with its decision's work and reasons.
type dumpStep struct {
	export.StepLine
	Session int             `json:"session"`
	Work    int             `json:"work"`
	Cut     bool            `json:"cut"`
	Why     json.RawMessage `json:"why"`
	Rules   []string        `json:"rules"`
	AtMS    int64           `json:"at_ms"`
}

// dumpEvent is a line of the run's story.
type dumpEvent struct {
	Level   string `json:"level"`
	Kind    string `json:"kind"`
	Step    int    `json:"step"`
	Message string `json:"message"`
	AtMS    int64  `json:"at_ms"`
}

// dumpAction is what was done to the instrument, or was meant to be.
type dumpAction struct {
	ID       int64              `json:"id"`
	Step     int                `json:"step"`
	Device   string             `json:"device"`
	Kind     string             `json:"kind"`
	Values   map[string]float64 `json:"values,omitempty"`
	Release  []string           `json:"release,omitempty"`
	States   []string           `json:"states"`
	Messages []string           `json:"messages,omitempty"`
	AtMS     int64              `json:"at_ms"`
}

// describe collects what does not change while the run goes on.
func (d *Collector) describe() {
	r, run := d.Reader, d.Reader.Run()
	status, err := r.Status()
	d.problem("how far the run has come", err)
	d.Doc.Run = &dumpRun{ID: run.ID, Name: run.Name, Mode: run.Mode, Policy: run.Policy, Seed: run.Seed, Objective: run.Objective.Name,
		Unit: run.Objective.Unit, Minimize: run.Minimize, Variables: columnWords(run.Variables), Sensors: columnWords(run.Sensors),
		Sets: len(run.ControlSets), Finished: status.Finished, Reason: status.Reason}
	d.Doc.Counts = dumpCounts{Steps: status.Steps - status.Compared, Compared: status.Compared, Open: status.Steps > status.Concluded,
		Invalid: map[string]int{}, Events: map[string]int{}, Actions: map[string]int{}}
	sessions, err := r.Sessions()
	d.problem("sessions", err)
	for _, s := range sessions {
		d.Doc.Sessions = append(d.Doc.Sessions, dumpSession{s.Number, s.Version, s.Start.Wall})
	}
	all, err := r.Configurations()
	d.problem("configurations", err)
	var settings []journal.Setting
	for _, c := range all {
		settings = append(settings, c.Effective...)
		d.Folders = append(d.Folders, filepath.Dir(c.File))
	}
	d.redact = newRedactor(settings, d.Env.Lookup, d.Folders)
	for _, c := range all {
		out := dumpConfiguration{Session: c.Session, File: c.File, SHA256: c.SHA256, Settings: []describe.SettingLine{}}
		for _, s := range c.Effective {
			out.Settings = append(out.Settings, describe.SettingLine(d.redact.setting(s)))
		}
		d.Doc.Configurations = append(d.Doc.Configurations, out)
	}
	warm, err := r.Warm()
	d.problem("earlier observations", err)
	for _, s := range warm {
		d.Doc.Counts.Warm += len(s.Taken)
	}
	result, finished, err := r.Result()
	if d.problem("result", err); finished {
		d.Doc.Result = result.Document
	}
	results, err := r.ComparisonResults()
	d.problem("comparisons", err)
	for _, c := range results {
		d.Doc.Comparisons = append(d.Doc.Comparisons, c.Document)
	}
}

// columnWords names columns with their units.
func columnWords(columns []journal.Column) []string {
	out := []string{}
	for _, c := range columns {
		out = append(out, c.Name+" ["+c.Unit+"]")
	}
	return out
}

// newest keeps the last n of a list.
func newest[T any](list []T, n int) []T { return list[max(len(list)-n, 0):] }

// story collects the newest steps, events and actions, and counts all.
func (d *Collector) story() {
	r, doc := d.Reader, d.Doc
	for s, err := range r.Steps() {
		if err != nil {
			d.problem("steps", err)
			break
		}
		if s.Concluded && !s.Outcome.Valid {
			doc.Counts.Invalid[s.Outcome.Problem]++
		}
		doc.Steps = newest(append(doc.Steps, shownStep(r.Run(), s)), d.Last)
	}
	for e, err := range r.Events() {
		if err != nil {
			d.problem("events", err)
			break
		}
		doc.Counts.Events[e.Level+" "+e.Kind]++
		doc.Events = newest(append(doc.Events, dumpEvent{e.Level, e.Kind, e.Step, e.Message, e.At.Mono.Milliseconds()}), d.Last)
	}
	for a, err := range r.AllActions() {
		if err != nil {
			d.problem("actions", err)
			break
		}
		out := dumpAction{ID: a.ID, Step: a.Step, Device: a.Device, Kind: a.Kind, Values: a.Values, Release: a.Release,
			States: []string{}, AtMS: a.At.Mono.Milliseconds()}
		state := "nobody knows"
		for _, s := range a.Settlements {
			state = string(s.State)
			out.States = append(out.States, state)
			if s.Message != "" {
				out.Messages = append(out.Messages, s.Message)
			}
		}
		doc.Counts.Actions[a.Kind+" "+state]++
		doc.Actions = newest(append(doc.Actions, out), d.Last)
	}
}

// shownStep is a step as a dump shows it.
func shownStep(run journal.Run, s journal.Step) dumpStep {
	out := dumpStep{StepLine: export.NewStepLine(run, s.Decision, s.Outcome), Session: s.Session, Work: s.Decision.Work, Cut: s.Decision.Cut,
		Why: json.RawMessage(s.Decision.Why), Rules: []string{}, AtMS: s.Decision.At.Mono.Milliseconds()}
	if !json.Valid(out.Why) {
		out.Why = json.RawMessage("null")
	}
	for _, r := range s.Decision.Reasons {
		out.Rules = append(out.Rules, r.Rule+" of "+r.Variable)
	}
	return out
}
