package commands

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/bench"
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
			merged, err := bench.MergeFiles(args)
			if err != nil {
				return err
			}
			if output == "-" {
				return experiment.Write(e.Stdout, merged)
			}
			if err := bench.Usable(output); err != nil {
				return err
			}
			if err := host.WriteFile(output, func(w io.Writer) error { return experiment.Write(w, merged) }); err != nil {
				return err
			}
			x, err := benchmarks.Find(merged[0].Experiment)
			if err != nil { // of another version: merged all the same
				fmt.Fprintf(e.Stderr, "tuner: no summary: %v in this version\n", err)
				return nil
			}
			return bench.PrintSummary(e.Stdout, x, merged)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write, - for stdout")
	return cmd
}
