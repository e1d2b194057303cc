package export

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
)

type shotLine struct {
	Type      string                    `json:"type"` // shot
	N         int                       `json:"n"`
	Shot      int                       `json:"shot"`
	Objective journal.Number            `json:"objective"`
	X         map[string]journal.Number `json:"x"`
	Sensors   map[string]journal.Number `json:"sensors"`
	Quality   map[string]string         `json:"quality,omitempty"`
	When
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

// exportAll writes everything: the run, its sessions and configurations, what it learnt
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
	a.put(NewRunLine(a.r))
	sessions, err := a.r.Sessions()
	if err != nil {
		return err
	}
	for _, s := range sessions {
		a.put(NewSessionLine(s))
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

// warm writes the observations of earlier runs that the policy learnt from.
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

// steps writes each step: its decision, its shots and what came of it.
func (a *allWriter) steps(end *UnfinishedLine) error {
	struck, err := a.r.Struck()
	if err != nil {
		return err
	}
	for s, err := range a.r.Steps() {
		if err != nil {
			return err
		}
		d := s.Decision
		a.put(NewDecisionLine(s))
		shots, err := a.r.Shots(d.Step)
		if err != nil {
			return err
		}
		for _, shot := range shots {
			a.shot(shot, s.Session)
		}
		a.put(control.StepOf(a.run, d, s.Outcome).Marked(struck))
		if end.Steps++; !s.Concluded {
			end.OpenStep = &s.Decision.Step
		}
	}
	return nil
}

func (a *allWriter) shot(s journal.Shot, session int) {
	line := shotLine{Type: "shot", N: s.Step, Shot: s.Index, Objective: journal.Number(s.Objective), X: byName(a.run.Variables, s.X),
		Sensors: byName(a.run.Sensors, s.Sensors), When: newWhen(session, s.At)}
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
		a.put(NewActionLine(x))
	}
	return nil
}

// story writes events and commands.
func (a *allWriter) story() error {
	for e, err := range a.r.Events() {
		if err != nil {
			return err
		}
		a.put(NewEventLine(e))
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
			When
		}{Type: "command", ID: c.ID, Command: c.Name, Who: c.Who, Transport: c.Transport, Transaction: c.Transaction, Args: c.Args,
			When: newWhen(0, c.At)}
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
			When
		}{"comparison", c.Number, c.Pairs, c.Shots, byName(a.run.Variables, c.Recommended), byName(a.run.Variables, c.Start),
			came[c.Number], newWhen(0, c.At)})
	}
	return nil
}
