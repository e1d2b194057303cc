package describe

import (
	"fmt"
	"math"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
)

// VariableLine is a variable as check tells of it. What does not hold for it is null: one that is
// only measured has no limits, and a dose neither slew nor tolerance.
type VariableLine struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
	// Low and High bound what is proposed; Grid says which values between them are, and on
	// which scale, "" for all of them.
	Low  journal.Number `json:"low"`
	High journal.Number `json:"high"`
	Grid string         `json:"grid"`
	// Actuated says that it can be set, Dose that it is an amount that is given.
	Actuated bool `json:"actuated"`
	Dose     bool `json:"dose"`
	// HardLow and HardHigh bound what is written. SlewUp and SlewDown are in Unit a second.
	HardLow  journal.Number `json:"hard_low"`
	HardHigh journal.Number `json:"hard_high"`
	SlewUp   journal.Number `json:"slew_up"`
	SlewDown journal.Number `json:"slew_down"`
	// Start is the starting setting, null: what is read then.
	Start  journal.Number `json:"start"`
	Settle journal.Number `json:"settle_s"`
	// Tolerance is how near a readback must come within Timeout.
	Tolerance journal.Number `json:"tolerance"`
	Timeout   journal.Number `json:"timeout_s"`
	// LeftAlone says what it does in a step that does not set it, AtEnd where a run leaves it.
	LeftAlone string `json:"left_alone"`
	AtEnd     string `json:"at_end"`
	Channel   string `json:"channel"`

	// ratio is High over Low where it spans so much that a logarithmic scale may be meant.
	ratio float64
}

// variablesOf are the variables of a configuration.
func variablesOf(w *setup.Setup) []VariableLine {
	out := make([]VariableLine, len(w.Options.Variables))
	for i := range out {
		v, c := &w.Options.Variables[i], &w.Config.Variables[i]
		none := journal.Number(math.NaN())
		l := VariableLine{Name: v.Name, Unit: v.Unit, Low: journal.Number(v.Low), High: journal.Number(v.High), Grid: grid(c), Actuated: v.Actuated, Dose: v.Dose,
			HardLow: none, HardHigh: none, SlewUp: none, SlewDown: none, Start: none, Settle: none, Tolerance: none, Timeout: none,
			LeftAlone: "only measured", Channel: w.ChannelName(v.Channel), ratio: wideRatio(c)}
		switch {
		case v.Dose:
			l.Start, l.Settle, l.LeftAlone, l.AtEnd = journal.Number(v.Start), seconds(v.Settle), "nothing is given", stopWords(v.Shutdown)
		case v.Actuated:
			l.HardLow, l.HardHigh = journal.Number(v.Limits.Low), journal.Number(v.Limits.High)
			l.SlewUp, l.SlewDown = journal.Number(v.Limits.SlewUp), journal.Number(v.Limits.SlewDown)
			l.Start, l.Settle = journal.Number(v.Start), seconds(v.Settle)
			l.Tolerance, l.Timeout = journal.Number(v.Tolerance), seconds(v.Timeout)
			l.LeftAlone, l.AtEnd = releaseWords(w, i), restWords(w, i)
		}
		out[i] = l
	}
	return out
}

func seconds(d time.Duration) journal.Number { return journal.Number(d.Seconds()) }

// inWords is a number of seconds as a person reads it.
func inWords(s journal.Number) string {
	return show.Duration(time.Duration(math.Round(float64(s) * float64(time.Second))))
}

// Variables prints a configuration's variables as a table.
func Variables(w *setup.Setup, t *tabwriter.Writer) { printVariables(t, variablesOf(w)) }

func printVariables(t *tabwriter.Writer, all []VariableLine) {
	fmt.Fprintln(t, "\nvariable\tunit\trange\thard limits\tslew per s\tstart\tsettle\treadback\tleft alone\tat the end\tchannel")
	for i := range all {
		v := &all[i]
		cells := []string{v.Name, v.Unit, show.Interval(float64(v.Low), float64(v.High)) + v.Grid}
		start := "as read"
		if v.Start.Known() {
			start = show.Number(float64(v.Start))
		}
		switch {
		case !v.Actuated:
			cells = append(cells, "-", "-", "-", "-", "-", v.LeftAlone, "-")
		case v.Dose:
			if !v.Start.Known() {
				start = "-"
			}
			cells = append(cells, "a dose", "-", start, inWords(v.Settle), "once", v.LeftAlone, v.AtEnd)
		default:
			slew := show.Number(float64(v.SlewUp))
			if v.SlewUp != v.SlewDown {
				slew = "+" + show.Number(float64(v.SlewUp)) + " -" + show.Number(float64(v.SlewDown))
			}
			cells = append(cells, show.Interval(float64(v.HardLow), float64(v.HardHigh)), slew, start, inWords(v.Settle),
				"±"+show.Number(float64(v.Tolerance))+" in "+inWords(v.Timeout), v.LeftAlone, v.AtEnd)
		}
		fmt.Fprintln(t, strings.Join(append(cells, v.Channel), "\t"))
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

// WideSpan is by how many times a range or the levels differ where the logarithm is offered.
const WideSpan = 30

// wideRatio is by how many times a variable's range or levels differ, where that is so much that
// low values lie almost together on the linear scale that it has; else 0.
func wideRatio(v *configs.Variable) float64 {
	low, high := v.Range.Lo, v.Range.Hi
	if n := len(v.Levels); n > 0 {
		low, high = v.Levels[0], v.Levels[n-1]
	}
	if v.Scale != "log" && v.Range.Lo > 0 && high/low >= WideSpan {
		return high / low
	}
	return 0
}

// offerLog says of which variables a logarithmic scale may be meant.
func offerLog(t *tabwriter.Writer, all []VariableLine) {
	for _, v := range all {
		if v.ratio > 0 {
			fmt.Fprintf(t, "\n%s spans %s times: where its effect goes with the ratio, write scale = \"log\" in its [[variable]] section\n", v.Name, show.Number(v.ratio))
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
func restWords(w *setup.Setup, i int) string {
	v := &w.Options.Variables[i]
	switch v.Shutdown {
	case plan.RestSafe:
		return "safe, " + show.Number(v.Limits.Safe)
	case plan.RestOff:
		return "let go"
	}
	if d := v.Channel.Device; d >= 0 && w.Devices[d].Exit > 0 {
		return "its program's own safe state"
	}
	if most, bounded := w.Options.Lasting(i); bounded {
		return "held, at most " + show.Number(most)
	}
	return "held"
}
