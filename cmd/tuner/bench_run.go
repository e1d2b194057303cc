package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/loop/benchmarks"
	"github.com/labtuner/tuner/loop/benchmarks/experiment"
)

// benchFlags are the flags of tuner bench run.
type benchFlags struct {
	policies  []string
	seeds     int
	firstSeed uint64
	workers   int
	steps     int
	shard     string
	out       string
	json      bool
}

func newBenchRunCommand(e *host.Env) *cobra.Command {
	var f benchFlags
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
			x, err := findExperiment(args[0])
			if err != nil {
				return err
			}
			b := &benchRun{env: e, experiment: x, flags: &f}
			if err := b.prepare(cmd.Flags().Changed("seeds")); err != nil {
				return err
			}
			return b.play(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.policies, "policy", nil, "run this policy only (may be repeated)")
	flags.IntVar(&f.seeds, "seeds", 0, "number of seeds (default the experiment's)")
	flags.Uint64Var(&f.firstSeed, "first-seed", 0, "the first seed; the others follow it")
	flags.IntVar(&f.workers, "workers", runtime.GOMAXPROCS(0), "seeds played at a time")
	flags.Lookup("workers").DefValue = "every core" // the same text on every computer
	flags.IntVar(&f.steps, "steps", 0, "end after so many counted steps, for a quick look (default the experiment's)")
	flags.StringVar(&f.shard, "shard", "", "i/n: every n-th seed only, from the i-th on; i counts from 0")
	flags.StringVar(&f.out, "out", "", "file for the results, - for stdout")
	flags.BoolVar(&f.json, "json", false, "print the results as JSON lines instead of a summary")
	return cmd
}

// benchRun is one run of an experiment.
type benchRun struct {
	env        *host.Env
	experiment *experiment.Experiment
	flags      *benchFlags
	run        experiment.Run
	tell       *show.Narrator
}

// prepare checks the flags and turns them into a run.
func (b *benchRun) prepare(seedsGiven bool) error {
	f, x := b.flags, b.experiment
	if !seedsGiven {
		f.seeds = x.Seeds
	}
	switch {
	case f.seeds < 1:
		return fault.Usage(fault.WithHint(fmt.Errorf("--seeds %d: at least one seed is needed", f.seeds), fmt.Sprintf("without --seeds this experiment takes %d", x.Seeds)))
	case f.workers < 1:
		return fault.Usage(fault.WithHint(fmt.Errorf("--workers %d: at least one is needed", f.workers), "without --workers every core gets one"))
	case f.steps < 0:
		return fault.Usage(fault.WithHint(fmt.Errorf("--steps %d must be positive", f.steps), "leave it out for the experiment's own length"))
	case f.firstSeed > 1<<63:
		return fault.Usage(fmt.Errorf("--first-seed %d is above %d", f.firstSeed, uint64(1)<<63))
	}
	b.run = experiment.Run{Experiment: x, Workers: f.workers, Steps: f.steps, Version: host.Version(),
		CPU: processorTime, Competitors: x.Competitors}
	if len(f.policies) > 0 {
		b.run.Competitors = nil
		for _, name := range f.policies {
			c, err := x.Competitor(name)
			if err != nil {
				names := x.CompetitorNames()
				return fault.Usage(fault.WithHint(err, nearestOf(name, names, "it has "+strings.Join(names, ", "))))
			}
			b.run.Competitors = append(b.run.Competitors, c)
		}
	}
	for i := range f.seeds {
		b.run.Seeds = append(b.run.Seeds, f.firstSeed+uint64(i))
	}
	if f.shard != "" {
		s, err := parseShard(f.shard)
		if err != nil {
			return fault.Usage(err)
		}
		if b.run.Seeds = s.Of(b.run.Seeds); len(b.run.Seeds) == 0 {
			return fault.Usage(fault.WithHint(fmt.Errorf("shard %s has no seed: there are %s", f.shard, show.Count(f.seeds, "seed")), "take no more shards than seeds"))
		}
	}
	if f.out == "" || f.out == "-" {
		return nil
	}
	return usable(f.out)
}

// parseShard reads i/n.
func parseShard(text string) (experiment.Shard, error) {
	const hint = "--shard 0/4 is the first of four, --shard 3/4 the last"
	index, number, ok := strings.Cut(text, "/")
	i, err := strconv.Atoi(index)
	n, err2 := strconv.Atoi(number)
	switch {
	case !ok || err != nil || err2 != nil:
		return experiment.Shard{}, fault.WithHint(fmt.Errorf("--shard %q is not of the form i/n", text), hint)
	case n < 1 || i < 0 || i >= n:
		return experiment.Shard{}, fault.WithHint(fmt.Errorf("--shard %s: the index must be at least 0 and below the number of shards", text), hint)
	}
	return experiment.Shard{Index: i, Count: n}, nil
}

// usable says why results could not be written to path, before hours of work.
func usable(path string) error {
	if _, err := os.Stat(path); err == nil {
		return fault.Usage(fault.WithHint(fmt.Errorf("--out %q already exists", path), "give another name, or remove the file"))
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		if p, ok := errors.AsType[*os.PathError](err); ok {
			err = p.Err // the name in it is of the trial file
		}
		return fault.Usage(fault.WithHint(fmt.Errorf("--out %q cannot be written: %w", path, err), "give a file in a folder that exists and may be written to"))
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// play runs the experiment, and writes what is done also when it is interrupted.
func (b *benchRun) play(ctx context.Context) error {
	b.tell = show.NewNarrator(b.env.Stderr, b.env.Style())
	b.tell.Say("tuner: %s: %s on %s, %d at a time", b.experiment.Name, policiesWords(b.run.Competitors),
		show.Count(len(b.run.Seeds), "seed"), b.run.Workers)
	b.run.Progress = b.progress(b.env.Now())
	if b.toFile() {
		b.run.Save = b.write
	}
	results, err := b.run.Do(ctx)
	b.tell.Close()
	if err == nil || len(results) > 0 {
		err = errors.Join(err, b.write(results))
	}
	if err != nil {
		b.narrateEnd(results)
		return err
	}
	if b.flags.json || b.flags.out == "-" {
		err = experiment.Write(b.env.Stdout, results)
	} else {
		err = printSummary(b.env.Stdout, b.experiment, results)
	}
	return errors.Join(err, failures(results))
}

func (b *benchRun) toFile() bool { return b.flags.out != "" && b.flags.out != "-" }

// write puts results into the file, where there is one, in one piece.
func (b *benchRun) write(results []experiment.Result) error {
	if !b.toFile() || len(results) == 0 {
		return nil
	}
	return writeFile(b.flags.out, func(w io.Writer) error { return experiment.Write(w, results) })
}

// narrateEnd says what an interrupted run left.
func (b *benchRun) narrateEnd(results []experiment.Result) {
	done := 0
	for _, r := range results {
		done += len(r.Seeds)
	}
	where := "nothing was written"
	if b.toFile() && done > 0 {
		where = fmt.Sprintf("they are in %s", b.flags.out)
	}
	fmt.Fprintf(b.env.Stderr, "tuner: %d of %s done; %s\n", done,
		show.Count(len(b.run.Seeds)*len(b.run.Competitors), "repetition"), where)
}

// progress draws the progress line.
func (b *benchRun) progress(start time.Time) func(experiment.Progress) {
	return func(p experiment.Progress) {
		if p.Policy == "" {
			b.tell.Show(b.experiment.Name + ": drawing the problems of " + show.Count(len(b.run.Seeds), "seed"))
			return
		}
		const width = 20
		full := width * p.Done / p.Total
		line := fmt.Sprintf("[%s%s] %d of %d  %s", strings.Repeat("#", full), strings.Repeat(".", width-full), p.Done, p.Total, p.Policy)
		if spent := b.env.Now().Sub(start); p.Done > 0 && p.Done < p.Total {
			line += ", " + show.Duration(spent*time.Duration(p.Total-p.Done)/time.Duration(p.Done)) + " left"
		}
		b.tell.Show(line)
	}
}

// failures is an error where repetitions failed.
func failures(results []experiment.Result) error {
	var errs []error
	for i := range results {
		n := results[i].Failed()
		if n == 0 {
			continue
		}
		for _, s := range results[i].Seeds {
			if s.Error != "" {
				errs = append(errs, fmt.Errorf("policy %q failed on %d of %s, first on seed %d: %s", results[i].Policy, n,
					show.Count(len(results[i].Seeds), "seed"), s.Seed, s.Error))
				break
			}
		}
	}
	return errors.Join(errs...)
}

// processorTime is what this process has used so far, all threads.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0 // told as 0 s, which no run takes
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// policiesWords counts policies.
func policiesWords(c []experiment.Competitor) string {
	if len(c) == 1 {
		return "policy " + c[0].Name
	}
	return fmt.Sprintf("%d policies", len(c))
}
