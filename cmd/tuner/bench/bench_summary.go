package bench

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"text/tabwriter"

	"github.com/labtuner/tuner/cmd/tuner/fault"
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

// MergeFiles reads and merges result files. Whatever is wrong is a usage error that
// names the file.
func MergeFiles(paths []string) ([]experiment.Result, error) {
	var files []experiment.Named
	var errs []error
	for _, path := range paths {
		results, err := readResults(path)
		if err != nil {
			errs = append(errs, fault.Usage(err))
			continue
		}
		files = append(files, experiment.Named{Name: path, Results: results})
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	merged, err := experiment.Merge(files)
	if err != nil {
		return nil, fault.Usage(fault.WithHint(err, "merge the shards of one run of one experiment"))
	}
	return merged, nil
}

func readResults(path string) (results []experiment.Result, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if results, err = experiment.Read(f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return results, nil
}
