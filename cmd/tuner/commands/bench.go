package commands

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/bench"
	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/loop/benchmarks"
)

func newBenchCommand(e *host.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "The papers' experiments: list, run, merge",
		Long: `Play policies against the experiments of the papers that they come from, and some
of our own. loop/benchmarks/README.md describes problems, results and the format of
the files, and shows how a campaign is spread over a cluster.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			hint := "tuner bench --help lists the commands"
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				hint = "did you mean tuner bench " + strings.Join(near, " or ") + "?"
			}
			return fault.Usage(fault.WithHint(fmt.Errorf("no such command: %q", "bench "+args[0]), hint))
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.SuggestionsMinimumDistance = 2
	cmd.AddCommand(newBenchListCommand(e), newBenchRunCommand(e), newBenchMergeCommand(e))
	return cmd
}

func newBenchListCommand(e *host.Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List experiments with their papers, budgets and policies",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return bench.ListAsJSON(e.Stdout, benchmarks.All())
			}
			return bench.ListAsText(e.Stdout, benchmarks.All())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}
