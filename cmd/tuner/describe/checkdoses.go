package describe

import (
	"fmt"
	"math"
	"text/tabwriter"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/loop/plan"
)

// doseCells are the cells of a variable of doses in the table of variables, after its
// range.
func doseCells(w *setup.Setup, i int) string {
	v := &w.Options.Variables[i]
	start := "-"
	if !math.IsNaN(v.Start) {
		start = show.Number(v.Start)
	}
	return fmt.Sprintf("a dose\t-\t%s\t%s\tonce\tnothing is given\t%s\t%s\n", start, show.Duration(v.Settle), stopWords(v.Shutdown), w.ChannelName(v.Channel))
}

// stopWords says what becomes of a dose that runs.
func stopWords(r plan.RestState) string {
	if r == plan.RestOff {
		return "stopped, if it can be"
	}
	return "let end"
}

// checkDoses prints the budgets of everything that adds.
func checkDoses(w *setup.Setup, t *tabwriter.Writer) {
	if len(w.Options.Safety.Doses) == 0 {
		return
	}
	amount := func(x float64, unit string) string {
		if x == 0 {
			return "-"
		}
		return show.Quantity(x, unit)
	}
	interval := func(d time.Duration) string {
		if d == 0 {
			return "-"
		}
		return show.Duration(d)
	}
	fmt.Fprint(t, "\ndose\tat once\tin an hour\tin a day\tin the run\treservoir\tapart\ton a fault\n")
	for _, d := range w.Options.Safety.Doses {
		v := &w.Options.Variables[d.Variable]
		fault := "of each rise of a setpoint"
		if v.Dose {
			fault = stopWords(v.OnFault)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", v.Name, amount(d.PerDose, v.Unit), amount(d.Hour, v.Unit), amount(d.Day, v.Unit),
			amount(d.Run, v.Unit), amount(d.Reservoir, v.Unit), interval(d.MinInterval), fault)
	}
}
