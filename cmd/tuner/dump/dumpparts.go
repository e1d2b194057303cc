package dump

import (
	"path/filepath"

	"github.com/labtuner/tuner/cmd/tuner/describe"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/export"
)

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

// dumpStep is a step: its decision and what came of it.
type dumpStep struct {
	Decision export.DecisionLine `json:"decision"`
	Outcome  control.Step        `json:"outcome"`
}

// describe collects what does not change while the run goes on.
func (d *Collector) describe() {
	r := d.Reader
	status, err := r.Status()
	d.problem("how far the run has come", err)
	run := export.NewRunLine(r)
	d.Doc.Run, d.Doc.Finished, d.Doc.Reason = &run, status.Finished, status.Reason
	d.Doc.Counts = dumpCounts{Steps: status.Steps - status.Compared, Compared: status.Compared, Open: status.Steps > status.Concluded,
		Invalid: map[string]int{}, Events: map[string]int{}, Actions: map[string]int{}}
	sessions, err := r.Sessions()
	d.problem("sessions", err)
	for _, s := range sessions {
		d.Doc.Sessions = append(d.Doc.Sessions, export.NewSessionLine(s))
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

// newest keeps the last n of a list.
func newest[T any](list []T, n int) []T { return list[max(len(list)-n, 0):] }

// story collects the newest steps, events and actions, and counts all.
func (d *Collector) story() {
	r, doc := d.Reader, d.Doc
	struck, damaged := r.Struck()
	for s, err := range r.Steps() {
		if err != nil {
			d.problem("steps", err)
			break
		}
		if s.Concluded && !s.Outcome.Valid {
			doc.Counts.Invalid[s.Outcome.Problem]++
		}
		doc.Steps = newest(append(doc.Steps, dumpStep{export.NewDecisionLine(s), control.StepOf(r.Run(), s.Decision, s.Outcome).Marked(struck)}), d.Last)
	}
	for e, err := range r.Events() {
		if err != nil {
			d.problem("events", err)
			damaged = nil // what the strikes are read from is what was reported
			break
		}
		doc.Counts.Events[e.Level+" "+e.Kind]++
		doc.Events = newest(append(doc.Events, export.NewEventLine(e)), d.Last)
	}
	if damaged != nil {
		d.problem("events", damaged)
	}
	for a, err := range r.AllActions() {
		if err != nil {
			d.problem("actions", err)
			break
		}
		state := "unknown"
		if n := len(a.Resolutions); n > 0 {
			state = string(a.Resolutions[n-1].State)
		}
		doc.Counts.Actions[a.Kind+" "+state]++
		doc.Actions = newest(append(doc.Actions, export.NewActionLine(a)), d.Last)
	}
}
