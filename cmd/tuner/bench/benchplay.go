// Package bench is tuner bench: it runs experiments of loop/benchmarks and writes their results.
//
// [Run] plays every policy of an experiment with every seed on several workers and writes each
// seed's regret as it ends; [MergeFiles] puts shards together, [PrintSummary] prints a table for
// each metric, and the lists say which experiments there are. What an experiment is, and what
// is measured, is loop/benchmarks' own.
package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop/benchmarks"
	"github.com/labtuner/tuner/loop/benchmarks/experiment"
)

// Flags are the flags of tuner bench run.
type Flags struct {
	Policies  []string
	Seeds     int
	FirstSeed uint64
	Workers   int
	Steps     int
	WorkUnits int
	Shard     string
	Out       string
	JSON      bool
}

// Run is one run of an experiment.
type Run struct {
	Env        *host.Env
	Experiment *experiment.Experiment
	Flags      *Flags
	run        experiment.Run
	tell       *show.Narrator
}

// Prepare checks the flags and turns them into a run.
func (b *Run) Prepare(seedsGiven bool) error {
	f, x := b.Flags, b.Experiment
	if !seedsGiven {
		f.Seeds = x.Seeds
	}
	switch {
	case f.Seeds < 1:
		return fault.Usage(fault.WithHint(fmt.Errorf("--seeds %d: at least one seed is needed", f.Seeds), fmt.Sprintf("without --seeds this experiment takes %d", x.Seeds)))
	case f.Workers < 1:
		return fault.Usage(fault.WithHint(fmt.Errorf("--workers %d: at least one is needed", f.Workers), "without --workers every core gets one"))
	case f.Steps < 0:
		return fault.Usage(fault.WithHint(fmt.Errorf("--steps %d must be positive", f.Steps), "leave it out for the experiment's own length"))
	case f.WorkUnits < 0:
		return fault.Usage(fault.WithHint(fmt.Errorf("--work-units %d must be positive", f.WorkUnits), "leave it out, and no decision is cut"))
	case f.FirstSeed > 1<<63:
		return fault.Usage(fmt.Errorf("--first-seed %d is above %d", f.FirstSeed, uint64(1)<<63))
	}
	b.run = experiment.Run{Experiment: x, Workers: f.Workers, Steps: f.Steps, WorkUnits: f.WorkUnits, Version: host.Version(),
		CPU: processorTime, Competitors: x.Competitors}
	if len(f.Policies) > 0 {
		b.run.Competitors = nil
		for _, name := range f.Policies {
			c, err := x.Competitor(name)
			if err != nil {
				names := x.CompetitorNames()
				return fault.Usage(fault.WithHint(err, nearestOf(name, names, "it has "+strings.Join(names, ", "))))
			}
			b.run.Competitors = append(b.run.Competitors, c)
		}
	}
	for i := range f.Seeds {
		b.run.Seeds = append(b.run.Seeds, f.FirstSeed+uint64(i))
	}
	if f.Shard != "" {
		s, err := parseShard(f.Shard)
		if err != nil {
			return fault.Usage(err)
		}
		if b.run.Seeds = s.Of(b.run.Seeds); len(b.run.Seeds) == 0 {
			return fault.Usage(fault.WithHint(fmt.Errorf("shard %s has no seed: there are %s", f.Shard, show.Count(f.Seeds, "seed")), "take no more shards than seeds"))
		}
	}
	if f.Out == "" || f.Out == "-" {
		return nil
	}
	return Usable(f.Out)
}

// Play runs the experiment, and writes what is done also when it is interrupted.
func (b *Run) Play(ctx context.Context) error {
	b.tell = show.NewNarrator(b.Env.Stderr, b.Env.Style())
	b.tell.Say("tuner: %s: %s on %s, %d at a time", b.Experiment.Name, policiesWords(b.run.Competitors),
		show.Count(len(b.run.Seeds), "seed"), b.run.Workers)
	b.run.Progress = b.progress(b.Env.Now())
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
	if b.Flags.JSON || b.Flags.Out == "-" {
		err = experiment.Write(b.Env.Stdout, results)
	} else {
		err = PrintSummary(b.Env.Stdout, b.Experiment, results)
	}
	return errors.Join(err, failures(results))
}

func (b *Run) toFile() bool { return b.Flags.Out != "" && b.Flags.Out != "-" }

// write puts results into the file, where there is one, in one piece.
func (b *Run) write(results []experiment.Result) error {
	if !b.toFile() || len(results) == 0 {
		return nil
	}
	return host.WriteFile(b.Flags.Out, func(w io.Writer) error { return experiment.Write(w, results) })
}

// narrateEnd says what an interrupted run left.
func (b *Run) narrateEnd(results []experiment.Result) {
	done := 0
	for _, r := range results {
		done += len(r.Seeds)
	}
	where := "nothing was written"
	if b.toFile() && done > 0 {
		where = fmt.Sprintf("they are in %s", b.Flags.Out)
	}
	fmt.Fprintf(b.Env.Stderr, "tuner: %d of %s done; %s\n", done,
		show.Count(len(b.run.Seeds)*len(b.run.Competitors), "repetition"), where)
}

// progress draws the progress line.
func (b *Run) progress(start time.Time) func(experiment.Progress) {
	return func(p experiment.Progress) {
		if p.Policy == "" {
			b.tell.Show(show.Progress{Head: b.Experiment.Name + ": drawing the problems of " + show.Count(len(b.run.Seeds), "seed"), Done: math.NaN()})
			return
		}
		line := show.Counted(fmt.Sprintf("%d/%d", p.Done, p.Total), p.Done, p.Total)
		line.Parts = []show.Part{{Text: p.Policy, Rank: 1}}
		if spent := b.Env.Now().Sub(start); p.Done > 0 && p.Done < p.Total {
			line.Parts = append(line.Parts, show.Part{Text: show.Duration(spent*time.Duration(p.Total-p.Done)/time.Duration(p.Done)) + " left"})
		}
		b.tell.Show(line)
	}
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

// Usable says why results could not be written to path, before hours of work.
func Usable(path string) error {
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
		return 0 // printed as 0 s, which no run takes
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

// nearestOf is the hint for an unknown name.
func nearestOf(name string, names []string, otherwise string) string {
	if near := configs.Nearest(name, names); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return otherwise
}

// FindExperiment is the experiment of this name; the error names the nearest.
func FindExperiment(name string) (*experiment.Experiment, error) {
	x, err := benchmarks.Find(name)
	if err != nil {
		return nil, fault.Usage(fault.WithHint(err, nearestOf(name, benchmarks.Names(), "tuner bench list names them all")))
	}
	return x, nil
}
