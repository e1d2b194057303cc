package experiment

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Run plays policies against the seeds of one experiment.
type Run struct {
	Experiment  *Experiment
	Competitors []Competitor
	Seeds       []uint64
	// Workers is how many seeds are played at a time.
	Workers int
	// Steps bounds the counted steps below the experiment's own; 0: it does not.
	Steps int
	// WorkUnits cut each decision after so many units of work, as a deadline may; 0: none is cut.
	WorkUnits int
	// Version is written into the results.
	Version string
	// CPU is the processor time of this process so far; nil: not known, 0 is written.
	CPU func() time.Duration
	// Save, where not nil, is given all results so far after each policy but the last, so
	// that hours of work are not lost with the process.
	Save func([]Result) error
	// Progress, where not nil, is told after each seed. It is called from several
	// goroutines, one at a time.
	Progress func(Progress)
}

// Progress is how far a run is.
type Progress struct {
	// Policy that is at work, "" while the problems are drawn.
	Policy string
	// Done of Total repetitions, over all policies.
	Done, Total int
}

// Do runs all. Seeds are played in parallel, policies one after the other, so that
// processor time can be told apart. The results do not depend on Workers, except for
// CPUSeconds. When ctx ends, the results hold the seeds that were completed and the
// error is the context's; a policy without any is left out.
func (r *Run) Do(ctx context.Context) ([]Result, error) {
	problems, err := r.draw(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.check(problems); err != nil {
		return nil, err
	}
	var out []Result
	for i, c := range r.Competitors {
		one, err := r.compete(ctx, c, problems, i*len(r.Seeds))
		if len(one.Seeds) > 0 {
			out = append(out, one)
		}
		if err == nil && r.Save != nil && i < len(r.Competitors)-1 {
			err = r.Save(out)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// draw makes every seed's problem, which all policies share.
func (r *Run) draw(ctx context.Context) ([]*Problem, error) {
	r.tell(Progress{Total: len(r.Competitors) * len(r.Seeds)})
	problems := make([]*Problem, len(r.Seeds))
	err := r.each(ctx, func(i int) error {
		p, err := r.Experiment.Draw(r.Seeds[i])
		if err != nil {
			return fmt.Errorf("experiment %q, seed %d: %w", r.Experiment.Name, r.Seeds[i], err)
		}
		problems[i] = p
		return nil
	})
	return problems, err
}

// check makes every policy once, so that one that is refused is told before hours of
// work.
func (r *Run) check(problems []*Problem) error {
	for _, c := range r.Competitors {
		if _, err := makePolicy(r.Experiment, c, problems[0], r.of(0)); err != nil {
			return err
		}
	}
	return nil
}

// compete plays one policy; before is how many repetitions were done already.
func (r *Run) compete(ctx context.Context, c Competitor, problems []*Problem, before int) (Result, error) {
	out := Result{Format: Format, Experiment: r.Experiment.Name, Policy: c.Name, Version: r.Version, Steps: r.Steps, WorkUnits: r.WorkUnits}
	start := r.cpu()
	played := make([]*Seed, len(r.Seeds))
	var mutex sync.Mutex
	done := before
	err := r.each(ctx, func(i int) error {
		s, err := play(ctx, r.Experiment, c, problems[i], r.of(i))
		if err != nil {
			return err
		}
		mutex.Lock()
		defer mutex.Unlock()
		played[i] = &s
		done++
		r.tell(Progress{Policy: c.Name, Done: done, Total: len(r.Competitors) * len(r.Seeds)})
		return nil
	})
	for _, s := range played {
		if s != nil {
			out.Seeds = append(out.Seeds, *s)
		}
	}
	out.CPUSeconds = float64((r.cpu() - start).Milliseconds()) / 1e3
	return out, err
}

// of is seed number i with the bounds of the run.
func (r *Run) of(i int) seedOf { return seedOf{r.Seeds[i], r.Steps, r.WorkUnits} }

// each calls job(i) for every seed on Workers goroutines until one fails or ctx ends,
// and returns the first error.
func (r *Run) each(ctx context.Context, job func(i int) error) error {
	var next atomic.Int64
	var wait sync.WaitGroup
	errs := make([]error, len(r.Seeds))
	var stop atomic.Bool
	for range max(1, min(r.Workers, len(r.Seeds))) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(errs) && ctx.Err() == nil && !stop.Load(); i = int(next.Add(1)) - 1 {
				if errs[i] = job(i); errs[i] != nil {
					stop.Store(true)
				}
			}
		})
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	return errors.Join(errs...)
}

func (r *Run) tell(p Progress) {
	if r.Progress != nil {
		r.Progress(p)
	}
}

func (r *Run) cpu() time.Duration {
	if r.CPU == nil {
		return 0
	}
	return r.CPU()
}

// Shard is the part of a campaign that one of several machines runs: seeds index,
// index+count, ... of the list.
type Shard struct{ Index, Count int }

// Of returns the shard's seeds.
func (s Shard) Of(seeds []uint64) []uint64 {
	var out []uint64
	for i := s.Index; i < len(seeds); i += s.Count {
		out = append(out, seeds[i])
	}
	return out
}
