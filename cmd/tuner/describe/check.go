// Package describe says in words, or as JSON, what a configuration will do: what is measured
// and set, who decides, what the safety layer watches and how it reacts.
package describe

import (
	"encoding/json"
	"io"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/loop/journal"
)

// Check is what check tells of a configuration that is in order: its text is made from this.
type Check struct {
	// Type is "check".
	Type string `json:"type"`
	File string `json:"file"`
	Name string `json:"name"`
	Site string `json:"site"`
	// OK says that the file is in order.
	OK        bool         `json:"ok"`
	Objective string       `json:"objective"`
	Policy    string       `json:"policy"`
	Model     string       `json:"model"`
	Decision  decisionLine `json:"decision"`
	// Candidates counts the settings of a finite domain, 0: any within the ranges.
	Candidates int    `json:"candidates,omitempty"`
	Run        string `json:"run"`
	// Verify says what follows the search, MQTT what the broker is used for.
	Verify      string           `json:"verify,omitempty"`
	MQTT        string           `json:"mqtt"`
	Plant       []string         `json:"plant,omitempty"`
	WarmStart   []string         `json:"warm_start,omitempty"`
	Variables   []VariableLine   `json:"variables"`
	Sensors     []sensorLine     `json:"sensors"`
	Messages    []shownMessage   `json:"messages,omitempty"`
	ControlSets []controlSetLine `json:"control_sets"`
	// Moves are the variables of which moving costs something.
	Moves    []moveLine `json:"moves,omitempty"`
	CostUnit string     `json:"cost_unit"`
	// CostReading is the formula over sensors that reads what a control set has cost; the costs of
	// control sets are then first guesses.
	CostReading string        `json:"cost_reading,omitempty"`
	Warnings    []note        `json:"warnings"`
	Probe       []Probed      `json:"probe,omitempty"`
	Effective   []SettingLine `json:"effective,omitempty"`

	setup *setup.Setup
	timed *DecisionTime
}

// sensorLine is a sensor: what it may say, and how old that may be.
type sensorLine struct {
	Name    string         `json:"name"`
	Unit    string         `json:"unit"`
	Low     journal.Number `json:"low"`
	High    journal.Number `json:"high"`
	MaxAge  journal.Number `json:"max_age_s"`
	Channel string         `json:"channel"`
}

// controlSetLine is what a step of a control set costs.
type controlSetLine struct {
	Variables []string `json:"variables"`
	Cost      float64  `json:"cost"`
}

// moveLine is what moving a variable costs for each of its units.
type moveLine struct {
	Variable string  `json:"variable"`
	Unit     string  `json:"unit"`
	Cost     float64 `json:"cost"`
}

// SettingLine is one key of the effective configuration in JSON.
type SettingLine struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
}

// note is a remark about a key of the file.
type note struct {
	// Line of the file, 0 where unknown.
	Line int    `json:"line"`
	Key  string `json:"key"`
	What string `json:"what"`
}

// NewCheck describes a configuration, with what was read (nil: nothing was), what a decision takes,
// and every key where effective is true.
func NewCheck(w *setup.Setup, readings []Probed, timed *DecisionTime, effective bool) *Check {
	o := &w.Options
	c := &Check{Type: "check", OK: true, File: w.Config.File, Name: w.Config.Name, Site: w.Config.Site, Objective: objectiveWords(w),
		Policy: policyWords(w), Model: modelWords(w), Decision: timed.line(), Candidates: len(w.Spec.Candidates), Run: Endings(w), Verify: Verification(w), MQTT: mqttWords(w),
		Plant: w.PlantNotes, WarmStart: w.WarmNotes, Variables: variablesOf(w), Messages: messagesOf(w), CostUnit: o.Cost.Unit, CostReading: w.Config.Cost.Reading,
		Warnings: []note{}, Probe: readings, setup: w, timed: timed}
	for _, s := range o.Sensors {
		c.Sensors = append(c.Sensors, sensorLine{s.Name, s.Unit, journal.Number(s.Low), journal.Number(s.High), seconds(s.MaxAge), w.ChannelName(s.Channel)})
	}
	for i := range o.ControlSets {
		c.ControlSets = append(c.ControlSets, controlSetLine{w.SetNames(i), w.Spec.ControlSets[i].Cost})
	}
	for i, v := range o.Variables {
		if cost := o.Cost.PerMove[i]; cost > 0 {
			c.Moves = append(c.Moves, moveLine{v.Name, v.Unit, cost})
		}
	}
	for _, d := range append(w.BypassDoubts(time.Now()), w.Doubts...) {
		c.Warnings = append(c.Warnings, note{d.Line, d.Key, Doubt(d)})
	}
	if effective {
		for _, s := range w.Config.Effective() {
			c.Effective = append(c.Effective, SettingLine(s))
		}
	}
	return c
}

// WriteJSON writes it as one document.
func (c *Check) WriteJSON(out io.Writer) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e.Encode(c)
}
