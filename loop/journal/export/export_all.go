package export

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/labtuner/tuner/loop/journal"
)

// The lines of a whole export, beside StepLine and UnfinishedLine. Each has its type, and
// records in time have the session, seconds of its monotonic clock and the wall clock's
// time, left out where that was not known. Numbers are in the units that the run line
// gives; null is no data.

type runLine struct {
	Type        string        `json:"type"` // run
	ID          string        `json:"id"`
	Name        string        `json:"name"`
	Site        string        `json:"site"`
	Mode        string        `json:"mode"`
	Policy      string        `json:"policy"`
	Seed        uint64        `json:"seed"`
	Objective   columnLine    `json:"objective"`
	Minimize    bool          `json:"minimize"`
	CostUnit    string        `json:"cost_unit"`
	Variables   []columnLine  `json:"variables"`
	Sensors     []columnLine  `json:"sensors"`
	ControlSets []controlLine `json:"control_sets"`
	Schema      int           `json:"schema"`
}

type columnLine struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
}

type controlLine struct {
	Variables []string       `json:"variables"`
	Cost      journal.Number `json:"cost"`
}

// timeLine is when something was.
type timeLine struct {
	Session int     `json:"session,omitempty"`
	Mono    float64 `json:"mono_s"`
	Time    string  `json:"time,omitempty"`
}

func newTimeLine(session int, at journal.Stamp) timeLine {
	l := timeLine{Session: session, Mono: at.Mono.Seconds()}
	if !at.Wall.IsZero() {
		l.Time = at.Wall.UTC().Format(time.RFC3339Nano)
	}
	return l
}

// decisionLine is what a StepLine leaves out.
type decisionLine struct {
	Type    string          `json:"type"` // decision
	N       int             `json:"n"`
	Initial bool            `json:"initial"`
	Work    int             `json:"work"`
	Cut     bool            `json:"cut"`
	Shots   int             `json:"shots,omitempty"` // that the policy asked for
	Why     json.RawMessage `json:"why"`
	Reasons []reasonLine    `json:"reasons"`
	timeLine
}

type reasonLine struct {
	Variable string         `json:"variable"`
	Rule     string         `json:"rule"`
	From     journal.Number `json:"from"`
	To       journal.Number `json:"to"`
}

type shotLine struct {
	Type      string                    `json:"type"` // shot
	N         int                       `json:"n"`
	Shot      int                       `json:"shot"`
	Objective journal.Number            `json:"objective"`
	X         map[string]journal.Number `json:"x"`
	Sensors   map[string]journal.Number `json:"sensors"`
	Quality   map[string]string         `json:"quality,omitempty"`
	timeLine
}

type actionLine struct {
	Type    string                    `json:"type"` // action
	ID      int64                     `json:"id"`
	N       int                       `json:"n"`
	Device  string                    `json:"device"`
	Kind    string                    `json:"kind"`
	Values  map[string]journal.Number `json:"values,omitempty"`
	Release []string                  `json:"release,omitempty"`
	States  []stateLine               `json:"states"`
	timeLine
}

type stateLine struct {
	State    string                    `json:"state"`
	Readback map[string]journal.Number `json:"readback,omitempty"`
	Message  string                    `json:"message,omitempty"`
	timeLine
}

// allWriter writes the lines of a whole export.
type allWriter struct {
	r     *journal.Reader
	run   journal.Run
	lines *json.Encoder
	// err is the first that a line could not be written with.
	err error
}

func (a *allWriter) put(line any) {
	if a.err == nil {
		a.err = a.lines.Encode(line)
	}
}

// exportAll writes everything: the run, its sessions and configurations, what it was told
// of earlier runs, each step with its decision and shots, then actions, events, commands,
// comparisons and the result.
func exportAll(w io.Writer, r *journal.Reader) error {
	a := &allWriter{r: r, run: r.Run(), lines: json.NewEncoder(w)}
	a.lines.SetEscapeHTML(false)
	result, finished, err := r.Result()
	if err != nil {
		return err
	}
	end := UnfinishedLine{Type: "unfinished", Message: "the run has no result: it is going on, or it was interrupted"}
	for _, part := range []func() error{a.head, func() error { return a.steps(&end) }, a.actions, a.story, a.comparisons} {
		if err := part(); err != nil {
			return err
		}
		if a.err != nil {
			return a.err
		}
	}
	if !finished {
		a.put(end)
		return a.err
	}
	_, err = fmt.Fprintf(w, "%s\n", result.Document)
	return err
}

// head writes what was there before the first step.
func (a *allWriter) head() error {
	run := a.run
	line := runLine{Type: "run", ID: run.ID, Name: run.Name, Site: run.Site, Mode: run.Mode, Policy: run.Policy, Seed: run.Seed,
		Objective: columnLine(run.Objective), Minimize: run.Minimize, CostUnit: run.CostUnit, Schema: a.r.Version(),
		Variables: []columnLine{}, Sensors: []columnLine{}, ControlSets: []controlLine{}}
	for _, c := range run.Variables {
		line.Variables = append(line.Variables, columnLine(c))
	}
	for _, c := range run.Sensors {
		line.Sensors = append(line.Sensors, columnLine(c))
	}
	for _, c := range run.ControlSets {
		line.ControlSets = append(line.ControlSets, controlLine{c.Variables, journal.Number(c.Cost)})
	}
	a.put(line)
	sessions, err := a.r.Sessions()
	if err != nil {
		return err
	}
	for _, s := range sessions {
		a.put(struct {
			Type    string `json:"type"`
			PID     int    `json:"pid"`
			Version string `json:"version"`
			BootID  string `json:"boot_id"`
			// Decisions is the version of what decided.
			Decisions int `json:"decisions"`
			timeLine
		}{"session", s.PID, s.Version, s.BootID, s.Decisions, newTimeLine(s.Number, s.Start)})
	}
	all, err := a.r.Configurations()
	if err != nil {
		return err
	}
	for _, c := range all {
		a.put(struct {
			Type    string `json:"type"`
			Session int    `json:"session"`
			File    string `json:"file"`
			SHA256  string `json:"sha256"`
			Text    string `json:"text"`
		}{"configuration", c.Session, c.File, c.SHA256, string(c.Text)})
	}
	return a.warm()
}

// warm writes what the policy was told of earlier runs.
func (a *allWriter) warm() error {
	sources, err := a.r.Warm()
	for _, s := range sources {
		for _, o := range s.Taken {
			a.put(struct {
				Type     string                    `json:"type"`
				File     string                    `json:"file"`
				X        map[string]journal.Number `json:"x"`
				Mean     journal.Number            `json:"mean"`
				Variance journal.Number            `json:"variance"`
				Shots    int                       `json:"shots"`
			}{"warm", s.File, byName(a.run.Variables, o.X), journal.Number(o.Mean), journal.Number(o.Variance), o.Shots})
		}
	}
	return err
}

// byName gives values by the names of their columns.
func byName(columns []journal.Column, x []float64) map[string]journal.Number {
	out := make(map[string]journal.Number, len(columns))
	for i, c := range columns {
		out[c.Name] = journal.Number(at(x, i))
	}
	return out
}

// numbers gives values as JSON can hold them.
func numbers(values map[string]float64) map[string]journal.Number {
	out := make(map[string]journal.Number, len(values))
	for name, v := range values {
		out[name] = journal.Number(v)
	}
	return out
}

// steps writes each step: its decision, its shots and what came of it.
func (a *allWriter) steps(end *UnfinishedLine) error {
	for s, err := range a.r.Steps() {
		if err != nil {
			return err
		}
		d := s.Decision
		line := decisionLine{Type: "decision", N: d.Step, Initial: d.Initial, Work: d.Work, Cut: d.Cut, Shots: d.Shots, Why: json.RawMessage(d.Why),
			Reasons: []reasonLine{}, timeLine: newTimeLine(s.Session, d.At)}
		if !json.Valid(line.Why) {
			line.Why = json.RawMessage("null")
		}
		for _, r := range d.Reasons {
			line.Reasons = append(line.Reasons, reasonLine{r.Variable, r.Rule, journal.Number(r.From), journal.Number(r.To)})
		}
		a.put(line)
		shots, err := a.r.Shots(d.Step)
		if err != nil {
			return err
		}
		for _, shot := range shots {
			a.shot(shot, s.Session)
		}
		a.put(NewStepLine(a.run, d, s.Outcome))
		if end.Steps++; !s.Concluded {
			end.OpenStep = &s.Decision.Step
		}
	}
	return nil
}

func (a *allWriter) shot(s journal.Shot, session int) {
	line := shotLine{Type: "shot", N: s.Step, Shot: s.Index, Objective: journal.Number(s.Objective), X: byName(a.run.Variables, s.X),
		Sensors: byName(a.run.Sensors, s.Sensors), timeLine: newTimeLine(session, s.At)}
	for i, q := range s.Quality {
		if q != "" {
			if line.Quality == nil {
				line.Quality = map[string]string{}
			}
			line.Quality[a.run.Sensors[i].Name] = q
		}
	}
	a.put(line)
}

func (a *allWriter) actions() error {
	for x, err := range a.r.AllActions() {
		if err != nil {
			return err
		}
		line := actionLine{Type: "action", ID: x.ID, N: x.Step, Device: x.Device, Kind: x.Kind, Values: numbers(x.Values), Release: x.Release,
			States: []stateLine{}, timeLine: newTimeLine(0, x.At)}
		for _, s := range x.Settlements {
			line.States = append(line.States, stateLine{string(s.State), numbers(s.Readback), s.Message, newTimeLine(0, s.At)})
		}
		a.put(line)
	}
	return nil
}

// story writes events and commands.
func (a *allWriter) story() error {
	for e, err := range a.r.Events() {
		if err != nil {
			return err
		}
		a.put(struct {
			Type    string `json:"type"`
			Level   string `json:"level"`
			Kind    string `json:"kind"`
			N       int    `json:"n"`
			Message string `json:"message"`
			// Facts are what programs read of it.
			Facts journal.Facts `json:"facts,omitzero"`
			timeLine
		}{"event", e.Level, e.Kind, e.Step, e.Message, e.Facts, newTimeLine(0, e.At)})
	}
	for c, err := range a.r.Commands() {
		if err != nil {
			return err
		}
		line := struct {
			Type        string `json:"type"`
			ID          int64  `json:"id"`
			Command     string `json:"command"`
			Who         string `json:"who"`
			Transport   string `json:"transport"`
			Transaction string `json:"transaction"`
			Args        string `json:"args"`
			Answered    bool   `json:"answered"`
			OK          bool   `json:"ok"`
			Code        string `json:"code"`
			Message     string `json:"message"`
			timeLine
		}{Type: "command", ID: c.ID, Command: c.Name, Who: c.Who, Transport: c.Transport, Transaction: c.Transaction, Args: c.Args,
			timeLine: newTimeLine(0, c.At)}
		if c.Answer != nil {
			line.Answered, line.OK, line.Code, line.Message = true, c.Answer.OK, c.Answer.Code, c.Answer.Message
		}
		a.put(line)
	}
	return nil
}

// comparisons writes what was compared with the starting setting, and what came of it.
func (a *allWriter) comparisons() error {
	all, err := a.r.Comparisons()
	if err != nil {
		return err
	}
	results, err := a.r.ComparisonResults()
	if err != nil {
		return err
	}
	came := map[int]json.RawMessage{}
	for _, r := range results {
		came[r.Comparison] = json.RawMessage(r.Document)
	}
	for _, c := range all {
		a.put(struct {
			Type        string                    `json:"type"`
			Number      int                       `json:"number"`
			Pairs       int                       `json:"pairs"`
			Shots       int                       `json:"shots"`
			Recommended map[string]journal.Number `json:"recommended"`
			Start       map[string]journal.Number `json:"start"`
			Result      json.RawMessage           `json:"result,omitempty"`
			timeLine
		}{"comparison", c.Number, c.Pairs, c.Shots, byName(a.run.Variables, c.Recommended), byName(a.run.Variables, c.Start),
			came[c.Number], newTimeLine(0, c.At)})
	}
	return nil
}
