// Package describe says in words, or as JSON, what a configuration will do: what is measured
// and set, who decides, what the safety layer watches and how it reacts.
package describe

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/remote"
)

// Text prints what the configuration will do.
func Text(w *setup.Setup, out io.Writer, readings []Probed, timed *DecisionTime, effective bool) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s: %s at %s, in order\n\n", w.Config.File, w.Config.Name, w.Config.Site)
	fmt.Fprintf(t, "objective\t%s\n", objectiveWords(w))
	fmt.Fprintf(t, "policy\t%s\n", policyWords(w))
	fmt.Fprintf(t, "model\t%s\n", modelWords(w))
	fmt.Fprintf(t, "decision\t%s\n", timed.Words())
	if n := len(w.Spec.Candidates); n > 0 {
		fmt.Fprintf(t, "domain\t%d candidates\n", n)
	}
	fmt.Fprintf(t, "run\t%s\n", Endings(w))
	if text := Verification(w); text != "" {
		fmt.Fprintf(t, "\t%s\n", text)
	}
	if w.Config.MQTT != nil {
		fmt.Fprintf(t, "mqtt\t%s\n", mqttWords(w))
	}
	for _, text := range w.PlantNotes {
		fmt.Fprintf(t, "plant\t%s\n", text)
	}
	for _, text := range w.WarmNotes {
		fmt.Fprintf(t, "model\t%s\n", text)
	}
	t.Flush()
	Variables(w, t)
	offerLog(w, t)
	checkSensors(w, t)
	checkMessages(w, t)
	checkSets(w, t)
	Safety(w, t)
	if readings != nil {
		printProbe(t, readings)
	}
	if doubts := append(w.BypassDoubts(time.Now()), w.Doubts...); len(doubts) > 0 {
		fmt.Fprintln(t, "\nwarnings: legal, but is it meant?")
		for _, d := range doubts {
			fmt.Fprintf(t, "  line %d\t%s\t%s\n", d.Line, d.Key, Doubt(d))
		}
	}
	if effective {
		fmt.Fprintln(t, "\nevery key:")
		for _, s := range w.Config.Effective() {
			fmt.Fprintf(t, "  %s\t= %s\t%s\n", s.Key, s.Value, s.Origin)
		}
	}
	return t.Flush()
}

// Doubt is a doubt with what to do about it.
func Doubt(d configs.Problem) string {
	if d.Hint == "" {
		return d.What
	}
	return d.What + " (" + d.Hint + ")"
}

// objectiveWords says what is measured.
func objectiveWords(w *setup.Setup) string {
	o := &w.Options.Objective
	goal := "maximize"
	if o.Minimize {
		goal = "minimize"
	}
	what := o.Name
	if o.Unit != "" && o.Unit != "1" {
		what += " in " + o.Unit
	}
	shots := "one shot"
	if o.Shots > 1 {
		shots = fmt.Sprintf("%s of %d shots", o.Statistic, o.Shots)
	}
	return fmt.Sprintf("%s %s, %s a step, at most %s for a shot", goal, what, shots, show.Duration(o.Timeout))
}

func Variables(w *setup.Setup, t *tabwriter.Writer) {
	fmt.Fprintln(t, "\nvariable\tunit\trange\thard limits\tslew per s\tstart\tsettle\treadback\tleft alone\tat the end\tchannel")
	for i := range w.Options.Variables {
		v := &w.Options.Variables[i]
		fmt.Fprintf(t, "%s\t%s\t%s%s\t", v.Name, v.Unit, show.Interval(v.Low, v.High), grid(&w.Config.Variables[i]))
		if !v.Actuated {
			fmt.Fprintf(t, "-\t-\t-\t-\t-\tonly measured\t-\t%s\n", w.ChannelName(v.Channel))
			continue
		}
		if v.Dose {
			fmt.Fprint(t, doseCells(w, i))
			continue
		}
		l := &v.Limits
		slew := show.Number(l.SlewUp)
		if l.SlewUp != l.SlewDown {
			slew = "+" + show.Number(l.SlewUp) + " -" + show.Number(l.SlewDown)
		}
		start := "as read"
		if !math.IsNaN(v.Start) {
			start = show.Number(v.Start)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s in %s\t%s\t%s\t%s\n", show.Interval(l.Low, l.High), slew, start, show.Duration(v.Settle),
			"±"+show.Number(v.Tolerance), show.Duration(v.Timeout), releaseWords(w, i), restWords(w, v), w.ChannelName(v.Channel))
	}
	t.Flush()
}

// grid says which values within its range a variable may take, and on which scale.
func grid(v *configs.Variable) string {
	scale := ""
	if v.Scale == "log" {
		scale = ", log"
	}
	switch {
	case len(v.Levels) > 0:
		return fmt.Sprintf(", %d levels", len(v.Levels)) + scale
	case v.Integer:
		return ", whole" + scale
	case v.Resolution != nil:
		return " by " + show.Number(*v.Resolution) + scale
	}
	return scale
}

// wideSpan is by how many times a range or the levels differ where the logarithm is offered.
const wideSpan = 30

// offerLog says of which variables the logarithm may be meant: one that spans so much that
// its low values lie almost together on a linear scale.
func offerLog(w *setup.Setup, t *tabwriter.Writer) {
	for i := range w.Config.Variables {
		v := &w.Config.Variables[i]
		low, high := v.Range.Lo, v.Range.Hi
		if n := len(v.Levels); n > 0 {
			low, high = v.Levels[0], v.Levels[n-1]
		}
		if v.Scale != "log" && v.Range.Lo > 0 && high/low >= wideSpan {
			fmt.Fprintf(t, "\n%s spans %s times: where its effect goes with the ratio, write scale = \"log\" in its [[variable]] section\n", v.Name, show.Number(high/low))
		}
	}
	t.Flush()
}

// releaseWords says what variable i does in a step that leaves it random.
func releaseWords(w *setup.Setup, i int) string {
	v := &w.Options.Variables[i]
	switch v.OnRelease {
	case plan.Hold:
		return "held"
	case plan.Park:
		return "parked at " + show.Number(v.Limits.Safe)
	}
	r := &w.Config.Variables[i].WhenRandom
	switch r.Distribution {
	case "normal":
		return fmt.Sprintf("let go: normal %s sd %s", show.Number(setup.OrZero(r.Mean)), show.Number(setup.OrZero(r.SD)))
	case "uniform":
		return "let go: uniform"
	}
	return "let go: learnt"
}

// restWords says where a variable is left at the end of a run.
func restWords(w *setup.Setup, v *plan.Variable) string {
	switch v.Shutdown {
	case plan.RestSafe:
		return "safe, " + show.Number(v.Limits.Safe)
	case plan.RestOff:
		return "let go"
	}
	if d := v.Channel.Device; d >= 0 && w.Devices[d].Exit > 0 {
		return "its program's own safe state"
	}
	return "held"
}

func checkSensors(w *setup.Setup, t *tabwriter.Writer) {
	fmt.Fprintln(t, "\nsensor\tunit\tbelieved\tmax age\tchannel")
	for _, s := range w.Options.Sensors {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", s.Name, s.Unit, show.Interval(s.Low, s.High), show.Duration(s.MaxAge), w.ChannelName(s.Channel))
	}
	t.Flush()
}

func checkSets(w *setup.Setup, t *tabwriter.Writer) {
	fmt.Fprintln(t, "\ncontrol set\tcost of a step")
	for i := range w.Options.ControlSets {
		fmt.Fprintf(t, "%s\t%s\n", strings.Join(w.SetNames(i), ", "), show.Quantity(w.Spec.ControlSets[i].Cost, w.Options.Cost.Unit))
	}
	for i, v := range w.Options.Variables {
		if c := w.Options.Cost.PerMove[i]; c > 0 {
			fmt.Fprintf(t, "and moving %s\t%s per %s\n", v.Name, show.Quantity(c, w.Options.Cost.Unit), v.Unit)
		}
	}
	t.Flush()
}

// JSON prints the same as one document.
func JSON(w *setup.Setup, out io.Writer, readings []Probed, timed *DecisionTime, effective bool) error {
	type set struct {
		Variables []string `json:"variables"`
		Cost      float64  `json:"cost"`
	}
	doc := struct {
		Type        string         `json:"type"`
		File        string         `json:"file"`
		Name        string         `json:"name"`
		Site        string         `json:"site"`
		Objective   string         `json:"objective"`
		Policy      string         `json:"policy"`
		Model       string         `json:"model"`
		Decision    decisionLine   `json:"decision"`
		Run         string         `json:"run"`
		Verify      string         `json:"verify,omitempty"`
		MQTT        string         `json:"mqtt"`
		Plant       []string       `json:"plant,omitempty"`
		WarmStart   []string       `json:"warm_start,omitempty"`
		Messages    []shownMessage `json:"messages,omitempty"`
		ControlSets []set          `json:"control_sets"`
		Warnings    []note         `json:"warnings"`
		Probe       []Probed       `json:"probe,omitempty"`
		Effective   []SettingLine  `json:"effective,omitempty"`
	}{Type: "check", File: w.Config.File, Name: w.Config.Name, Site: w.Config.Site, Objective: objectiveWords(w),
		Policy: policyWords(w), Model: modelWords(w), Decision: timed.line(), Run: Endings(w), Verify: Verification(w), MQTT: mqttWords(w), Plant: w.PlantNotes, WarmStart: w.WarmNotes, Probe: readings, Messages: messagesOf(w)}
	doc.Warnings = []note{}
	for _, d := range append(w.BypassDoubts(time.Now()), w.Doubts...) {
		doc.Warnings = append(doc.Warnings, note{d.Line, d.Key, Doubt(d)})
	}
	for i := range w.Options.ControlSets {
		doc.ControlSets = append(doc.ControlSets, set{w.SetNames(i), w.Spec.ControlSets[i].Cost})
	}
	if effective {
		for _, s := range w.Config.Effective() {
			doc.Effective = append(doc.Effective, SettingLine(s))
		}
	}
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e.Encode(doc)
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

// mqttWords says what check tells of [mqtt].
func mqttWords(w *setup.Setup) string {
	m := w.Config.MQTT
	if m == nil {
		return "off: no status, no commands"
	}
	words := []string{"status at " + setup.Broker(w.Config).Broker + " under " + remote.NewTopics(w.Config.Site, w.Config.Name).Tree()}
	switch {
	case m.KeysFile != "":
		words = append(words, "signed commands are taken")
	case m.Commands:
		words = append(words, "commands are taken from whoever the broker lets publish them")
	default:
		words = append(words, "no commands")
	}
	if m.Discovery != "" {
		words = append(words, "Home Assistant finds it")
	}
	if w.Config.BrokerInsecure() {
		words = append(words, "INSECURE: not encrypted or without a login, as allow_insecure says")
	}
	return strings.Join(words, "; ")
}

// Verification says what follows the search, "" if nothing does.
func Verification(w *setup.Setup) string {
	v := &w.Options.Verify
	if v.Pairs == 0 {
		return ""
	}
	if why := w.Options.Unverifiable(); why != "" {
		return "then does not measure the recommended setting against the starting one: " + why
	}
	var bounds []string
	if v.Cost > 0 {
		bounds = append(bounds, "at most "+show.Quantity(v.Cost, w.Options.Cost.Unit))
	}
	if v.Time > 0 {
		bounds = append(bounds, "at most "+show.Duration(v.Time))
	}
	text := fmt.Sprintf("then measures the recommended and the starting setting %d times each", v.Pairs)
	if len(bounds) > 0 {
		text += ", " + strings.Join(bounds, " and ") + " beside that"
	}
	return text
}

// Endings says when the run ends.
func Endings(w *setup.Setup) string {
	var ends []string
	stop := &w.Options.Stop
	if w.Options.Mode != plan.Shadow {
		if stop.Steps > 0 {
			ends = append(ends, "after "+show.Count(stop.Steps, "step"))
		}
		if n := stop.NoImprovement; n.Steps > 0 {
			ends = append(ends, "after "+show.Count(n.Steps, "step")+" without a better bound")
		}
		if n := stop.NoImprovement; n.Cost > 0 {
			ends = append(ends, "after a cost of "+show.Quantity(n.Cost, w.Options.Cost.Unit)+" without a better bound")
		}
		if stop.Target != nil {
			most := map[bool]string{false: "at least ", true: "at most "}[w.Options.Objective.Minimize]
			ends = append(ends, "when the recommended setting gives "+most+show.Quantity(*stop.Target, w.Options.Objective.Unit)+" by its pessimistic bound")
		}
		if stop.Cost > 0 {
			ends = append(ends, "at a cost of "+show.Quantity(stop.Cost, w.Options.Cost.Unit))
		}
	}
	if stop.Time > 0 {
		ends = append(ends, "after "+show.Duration(stop.Time))
	}
	switch len(ends) {
	case 0:
		return "ends when it is interrupted, as nothing is written and stop.time is absent"
	case 1:
		return "ends " + ends[0]
	}
	return "ends " + strings.Join(ends, " or ") + ", whichever comes first"
}
