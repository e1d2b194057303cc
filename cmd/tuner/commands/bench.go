package commands

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/bench"
	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/loop/benchmarks"
	"github.com/labtuner/tuner/loop/benchmarks/experiment"
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

func newBenchRunCommand(e *host.Env) *cobra.Command {
	var f bench.Flags
	cmd := &cobra.Command{
		Use:   "run NAME",
		Short: "Run one experiment and print a summary",
		Long: `Run one experiment: every policy, or those that --policy names, on a number of
seeds. A seed gives the same result on any number of workers and in any shard.

Prints mean, standard error and median of what the experiment measures. With --out
every step's cost and regret go to FILE, one line of JSON per policy; it must not exist
yet. A run that is interrupted leaves the seeds that were done there.`,
		Args: oneFile("an experiment; tuner bench list names them"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return benchmarks.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			x, err := bench.FindExperiment(args[0])
			if err != nil {
				return err
			}
			b := &bench.Run{Env: e, Experiment: x, Flags: &f}
			if err := b.Prepare(cmd.Flags().Changed("seeds")); err != nil {
				return err
			}
			return b.Play(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.Policies, "policy", nil, "run this policy only (may be repeated)")
	flags.IntVar(&f.Seeds, "seeds", 0, "number of seeds (default the experiment's)")
	flags.Uint64Var(&f.FirstSeed, "first-seed", 0, "the first seed; the others follow it")
	flags.IntVar(&f.Workers, "workers", runtime.GOMAXPROCS(0), "seeds played at a time")
	flags.Lookup("workers").DefValue = "every core" // the same text on every computer
	flags.IntVar(&f.Steps, "steps", 0, "end after so many counted steps, for a quick look (default the experiment's)")
	flags.IntVar(&f.WorkUnits, "work-units", 0, "cut each decision after so many units of work, as a deadline does (default none is cut)")
	flags.StringVar(&f.Shard, "shard", "", "i/n: every n-th seed only, from the i-th on; i counts from 0")
	flags.StringVar(&f.Out, "out", "", "file for the results, - for stdout")
	flags.BoolVar(&f.JSON, "json", false, "print the results as JSON lines instead of a summary")
	return cmd
}

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
