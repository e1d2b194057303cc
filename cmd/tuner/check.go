package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop/plan"
)

func newCheckCommand(e *env) *cobra.Command {
	var probe, effective, asJSON bool
	cmd := &cobra.Command{
		Use:   "check CONFIG",
		Short: "Check a configuration and say what it will do",
		Long: `Check a configuration, with everything that its drivers, policy and plant have to
say against it, and print what it will do. No device is opened.

With --probe the devices are opened and each sensor and variable is read once.
Nothing is moved and nothing is written; an exec child is killed afterwards, because
the end of its input would ask it to go safe.

With --effective every key is printed with its value and where that comes from.`,
		Args:              oneFile("a configuration file"),
		ValidArgsFunction: completeFiles("toml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := loadWiring(args[0], e.executable)
			if err == nil {
				err = w.tryWarm()
			}
			if err != nil {
				if asJSON {
					err = errors.Join(err, problemsJSON(e.stdout, err))
				}
				return err
			}
			var readings []probed
			var probeErr error
			if probe {
				readings, probeErr = w.probe(cmd.Context(), e)
			}
			if asJSON {
				err = w.checkJSON(e.stdout, readings, effective)
			} else {
				err = w.checkText(e.stdout, readings, effective)
			}
			if probeErr != nil {
				if errors.Is(probeErr, syscall.ECONNREFUSED) {
					return probeErr // which has a hint of its own
				}
				return withHint(probeErr, "tuner doctor "+args[0]+" looks at its ports and brokers; the driver's README lists what else may be wrong")
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&probe, "probe", false, "open the devices and read everything once")
	cmd.Flags().BoolVar(&effective, "effective", false, "print every key with its value and its origin")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

// problemsJSON prints a file's problems as one document.
func problemsJSON(out io.Writer, err error) error {
	type problem struct {
		File string `json:"file"`
		Line int    `json:"line"`
		Key  string `json:"key"`
		What string `json:"what"`
		Hint string `json:"hint,omitempty"`
	}
	doc := struct {
		Type     string    `json:"type"`
		OK       bool      `json:"ok"`
		Problems []problem `json:"problems"`
	}{Type: "check"}
	if file, ok := errors.AsType[*configs.Error](err); ok {
		for _, p := range file.Problems {
			doc.Problems = append(doc.Problems, problem(p))
		}
	}
	return json.NewEncoder(out).Encode(doc)
}

// checkText prints what the configuration will do.
func (w *wiring) checkText(out io.Writer, readings []probed, effective bool) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s: %s at %s, in order\n\n", w.cfg.File, w.cfg.Name, w.cfg.Site)
	fmt.Fprintf(t, "objective\t%s\n", w.objectiveWords())
	fmt.Fprintf(t, "policy\t%s\n", w.policyWords())
	fmt.Fprintf(t, "model\t%s\n", w.modelWords())
	if n := len(w.spec.Candidates); n > 0 {
		fmt.Fprintf(t, "domain\t%d candidates\n", n)
	}
	fmt.Fprintf(t, "run\t%s\n", w.stopWords())
	if text := w.verifyWords(); text != "" {
		fmt.Fprintf(t, "\t%s\n", text)
	}
	if w.cfg.MQTT != nil {
		fmt.Fprintf(t, "mqtt\t%s\n", w.mqttWords())
	}
	for _, text := range w.plantNotes {
		fmt.Fprintf(t, "plant\t%s\n", text)
	}
	for _, text := range w.warmNotes {
		fmt.Fprintf(t, "model\t%s\n", text)
	}
	t.Flush()
	w.checkVariables(t)
	w.checkSensors(t)
	w.checkSets(t)
	w.checkSafety(t)
	if readings != nil {
		printProbe(t, readings)
	}
	if doubts := append(w.bypassDoubts(time.Now()), w.doubts...); len(doubts) > 0 {
		fmt.Fprintln(t, "\nwarnings: legal, but is it meant?")
		for _, d := range doubts {
			fmt.Fprintf(t, "  line %d\t%s\t%s\n", d.Line, d.Key, doubtWords(d))
		}
	}
	if effective {
		fmt.Fprintln(t, "\nevery key:")
		for _, s := range w.cfg.Effective() {
			fmt.Fprintf(t, "  %s\t= %s\t%s\n", s.Key, s.Value, s.Origin)
		}
	}
	return t.Flush()
}

// doubtWords is a doubt with what to do about it.
func doubtWords(d configs.Problem) string {
	if d.Hint == "" {
		return d.What
	}
	return d.What + " (" + d.Hint + ")"
}

// objectiveWords says what is measured.
func (w *wiring) objectiveWords() string {
	o := &w.opt.Objective
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
	return fmt.Sprintf("%s %s, %s a step, at most %s for a shot", goal, what, shots, duration(o.Timeout))
}

func (w *wiring) checkVariables(t *tabwriter.Writer) {
	fmt.Fprintln(t, "\nvariable\tunit\trange\thard limits\tslew per s\tstart\tsettle\treadback\tleft alone\tat the end\tchannel")
	for i := range w.opt.Variables {
		v := &w.opt.Variables[i]
		fmt.Fprintf(t, "%s\t%s\t%s%s\t", v.Name, v.Unit, interval(v.Low, v.High), grid(&w.cfg.Variables[i]))
		if !v.Actuated {
			fmt.Fprintf(t, "-\t-\t-\t-\t-\tonly measured\t-\t%s\n", w.channelWords(v.Channel))
			continue
		}
		if v.Dose {
			fmt.Fprint(t, w.doseCells(i))
			continue
		}
		l := &v.Limits
		slew := number(l.SlewUp)
		if l.SlewUp != l.SlewDown {
			slew = "+" + number(l.SlewUp) + " -" + number(l.SlewDown)
		}
		start := "as read"
		if !math.IsNaN(v.Start) {
			start = number(v.Start)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s in %s\t%s\t%s\t%s\n", interval(l.Low, l.High), slew, start, duration(v.Settle),
			"±"+number(v.Tolerance), duration(v.Timeout), w.releaseWords(i), w.restWords(v), w.channelWords(v.Channel))
	}
	t.Flush()
}

// grid says which values within its range a variable may take.
func grid(v *configs.Variable) string {
	switch {
	case len(v.Levels) > 0:
		return fmt.Sprintf(", %d levels", len(v.Levels))
	case v.Integer:
		return ", whole"
	case v.Resolution != nil:
		return " by " + number(*v.Resolution)
	}
	return ""
}

// releaseWords says what variable i does in a step that leaves it random.
func (w *wiring) releaseWords(i int) string {
	v := &w.opt.Variables[i]
	switch v.OnRelease {
	case plan.Hold:
		return "held"
	case plan.Park:
		return "parked at " + number(v.Limits.Safe)
	}
	r := &w.cfg.Variables[i].WhenRandom
	switch r.Distribution {
	case "normal":
		return fmt.Sprintf("let go: normal %s sd %s", number(orZero(r.Mean)), number(orZero(r.SD)))
	case "uniform":
		return "let go: uniform"
	}
	return "let go: learnt"
}

// restWords says where a variable is left at the end of a run.
func (w *wiring) restWords(v *plan.Variable) string {
	switch v.Shutdown {
	case plan.RestSafe:
		return "safe, " + number(v.Limits.Safe)
	case plan.RestOff:
		return "let go"
	}
	if d := v.Channel.Device; d >= 0 && w.cfg.Devices[d].Driver == "exec" {
		return "its program's own safe state"
	}
	return "held"
}

func (w *wiring) checkSensors(t *tabwriter.Writer) {
	fmt.Fprintln(t, "\nsensor\tunit\tbelieved\tmax age\tchannel")
	for _, s := range w.opt.Sensors {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", s.Name, s.Unit, interval(s.Low, s.High), duration(s.MaxAge), w.channelWords(s.Channel))
	}
	t.Flush()
}

func (w *wiring) checkSets(t *tabwriter.Writer) {
	fmt.Fprintln(t, "\ncontrol set\tcost of a step")
	for i := range w.opt.ControlSets {
		fmt.Fprintf(t, "%s\t%s\n", strings.Join(w.setNames(i), ", "), quantity(w.spec.ControlSets[i].Cost, w.opt.Cost.Unit))
	}
	for i, v := range w.opt.Variables {
		if c := w.opt.Cost.PerMove[i]; c > 0 {
			fmt.Fprintf(t, "and moving %s\t%s per %s\n", v.Name, quantity(c, w.opt.Cost.Unit), v.Unit)
		}
	}
	t.Flush()
}

// channelWords names a channel as DEVICE.CHANNEL.
func (w *wiring) channelWords(c plan.Channel) string {
	if c.Device < 0 {
		return "-"
	}
	return w.devices[c.Device].name + "." + c.Name
}

func interval(low, high float64) string { return "[" + number(low) + ", " + number(high) + "]" }

// checkJSON prints the same as one document.
func (w *wiring) checkJSON(out io.Writer, readings []probed, effective bool) error {
	type set struct {
		Variables []string `json:"variables"`
		Cost      float64  `json:"cost"`
	}
	doc := struct {
		Type        string        `json:"type"`
		File        string        `json:"file"`
		Name        string        `json:"name"`
		Site        string        `json:"site"`
		Objective   string        `json:"objective"`
		Policy      string        `json:"policy"`
		Model       string        `json:"model"`
		Run         string        `json:"run"`
		Verify      string        `json:"verify,omitempty"`
		MQTT        string        `json:"mqtt"`
		Plant       []string      `json:"plant,omitempty"`
		WarmStart   []string      `json:"warm_start,omitempty"`
		ControlSets []set         `json:"control_sets"`
		Warnings    []note        `json:"warnings"`
		Probe       []probed      `json:"probe,omitempty"`
		Effective   []settingLine `json:"effective,omitempty"`
	}{Type: "check", File: w.cfg.File, Name: w.cfg.Name, Site: w.cfg.Site, Objective: w.objectiveWords(),
		Policy: w.policyWords(), Model: w.modelWords(), Run: w.stopWords(), Verify: w.verifyWords(), MQTT: w.mqttWords(), Plant: w.plantNotes, WarmStart: w.warmNotes, Probe: readings}
	doc.Warnings = []note{}
	for _, d := range append(w.bypassDoubts(time.Now()), w.doubts...) {
		doc.Warnings = append(doc.Warnings, note{d.Line, d.Key, doubtWords(d)})
	}
	for i := range w.opt.ControlSets {
		doc.ControlSets = append(doc.ControlSets, set{w.setNames(i), w.spec.ControlSets[i].Cost})
	}
	if effective {
		for _, s := range w.cfg.Effective() {
			doc.Effective = append(doc.Effective, settingLine(s))
		}
	}
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e.Encode(doc)
}

// settingLine is one key of the effective configuration in JSON.
type settingLine struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
}
