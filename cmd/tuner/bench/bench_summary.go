package bench

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/loop/benchmarks/experiment"
)

// PrintSummary prints one table for each metric, with a line for each policy.
func PrintSummary(w io.Writer, x *experiment.Experiment, results []experiment.Result) error {
	if _, err := fmt.Fprintf(w, "%s: %s (%s)\n", x.Name, x.About, x.Paper); err != nil {
		return err
	}
	summaries := make([][]experiment.Summary, len(results))
	for i := range results {
		summaries[i] = experiment.Summarise(x, &results[i])
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for m, metric := range x.Metrics {
		fmt.Fprintf(t, "\n%s\n  policy\tmean\tstandard error\tmedian\tseeds\n", metric.Name)
		for i, r := range results {
			s := summaries[i][m]
			fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\n", r.Policy, cell(s.Mean), cell(s.StandardError), cell(s.Median), seedsCell(s, r.Failed()))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, r := range results {
		if len(r.Seeds) > 0 && r.CPUSeconds > 0 {
			fmt.Fprintf(t, "\n%s\t%s of processor time a seed", r.Policy, processorWords(r.CPUSeconds/float64(len(r.Seeds))))
		}
	}
	fmt.Fprintln(t)
	return t.Flush()
}

func processorWords(seconds float64) string { return show.Digits(seconds, 3) + " s" }

// cell writes a number of the table, - for one that there is not.
func cell(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return show.Digits(v, 4)
}

// seedsCell says how many seeds a number is of.
func seedsCell(s experiment.Summary, failed int) string {
	all := s.Count + s.Missing + failed
	if s.Count == all {
		return fmt.Sprint(all)
	}
	return fmt.Sprintf("%d of %d", s.Count, all)
}
