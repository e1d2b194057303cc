package commands

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/bench"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/loop/benchmarks"
)

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
	flags.StringVar(&f.Shard, "shard", "", "i/n: every n-th seed only, from the i-th on; i counts from 0")
	flags.StringVar(&f.Out, "out", "", "file for the results, - for stdout")
	flags.BoolVar(&f.JSON, "json", false, "print the results as JSON lines instead of a summary")
	return cmd
}
