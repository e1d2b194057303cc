package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/loop/benchmarks"
	"github.com/labtuner/tuner/loop/benchmarks/experiment"
)

func newBenchMergeCommand(e *host.Env) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "merge FILE... -o FILE",
		Short: "Put the results of several shards together",
		Long: `Put result files of one experiment together, policy by policy, with the seeds in
order, and print the summary. The files must come from one version of tuner and hold
the same policies, and no seed may be there twice.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return nil
			}
			return fault.Usage(fault.WithHint(errors.New("tuner bench merge takes at least one file of results"), cmd.UseLine()))
		},
		ValidArgsFunction: completeFiles("json"),
		RunE: func(_ *cobra.Command, args []string) error {
			if output == "" {
				return fault.Usage(fault.WithHint(errors.New("tuner bench merge needs -o FILE"), "-o - writes to stdout"))
			}
			merged, err := mergeFiles(args)
			if err != nil {
				return err
			}
			if output == "-" {
				return experiment.Write(e.Stdout, merged)
			}
			if err := usable(output); err != nil {
				return err
			}
			if err := writeFile(output, func(w io.Writer) error { return experiment.Write(w, merged) }); err != nil {
				return err
			}
			x, err := benchmarks.Find(merged[0].Experiment)
			if err != nil { // of another version: merged all the same
				fmt.Fprintf(e.Stderr, "tuner: no summary: %v in this version\n", err)
				return nil
			}
			return printSummary(e.Stdout, x, merged)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write, - for stdout")
	return cmd
}

// mergeFiles reads and merges result files. Whatever is wrong is a usage error that
// names the file.
func mergeFiles(paths []string) ([]experiment.Result, error) {
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
