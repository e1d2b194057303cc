package outcome

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/runfiles"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/replay"
)

// Recorded is a run's record with what its model learns from it.
type Recorded struct {
	// Setup is the configuration that the run's next decision would go by.
	Setup  *setup.Setup
	Reader *journal.Reader

	env *host.Env
	all int
	// learnt counts the steps, of all, that the newest model knows.
	learnt int
}

// OpenRecorded opens a run's journal; folder has the files that its configuration names, ""
// the configuration's own. Its caller closes it.
//
// Errors: what reading the journal gives; a configuration that does not go on this computer.
func OpenRecorded(e *host.Env, path, folder string) (*Recorded, error) {
	reader, err := runfiles.OpenJournal(e, path)
	if err != nil {
		return nil, err
	}
	r := &Recorded{Reader: reader, env: e}
	if r.Setup, err = setup.OfJournal(reader, folder, e); err != nil {
		return nil, errors.Join(err, reader.Close())
	}
	status, err := reader.Status()
	if err != nil {
		return nil, errors.Join(err, reader.Close())
	}
	r.all = status.Steps
	return r, nil
}

// Close closes the journal.
func (r *Recorded) Close() error { return r.Reader.Close() }

// taught is a new policy of a specification that has learnt the record by a way; a terminal
// shows how far it is.
func (r *Recorded) taught(spec policy.Spec, by func(*replay.Decisions) error) (policy.Policy, error) {
	earlier, err := r.Reader.Warm()
	if err != nil {
		return nil, err
	}
	w := *r.Setup
	w.Spec = spec
	p, err := w.NewPolicy(earlier)
	if err != nil {
		return nil, err
	}
	tell := show.NewNarrator(r.env.Stderr, r.env.Style())
	defer tell.Close()
	r.learnt = 0
	return p, by(&replay.Decisions{Options: w.Options, Policy: p, Version: policy.DecisionsVersion, Lenient: true, Step: func(n int) {
		r.learnt++
		tell.Show(show.Counted(fmt.Sprintf("the model learns step %d/%d", n, r.all), n, r.all))
	}})
}

// model is a new policy of a specification that knows all that is on record.
func (r *Recorded) model(ctx context.Context, spec policy.Spec) (policy.Policy, error) {
	return r.taught(spec, func(d *replay.Decisions) error { return d.Teach(ctx, r.Reader) })
}

// derived is the run's policy after all its steps, with the verdict of deriving each anew.
func (r *Recorded) derived(ctx context.Context) (p policy.Policy, verdict string, err error) {
	if changes, err := plan.ChangesIn(r.Reader); err != nil || len(changes) > 0 {
		return nil, "", cmp.Or(err, errors.New("this run was changed while it went on: a report does not derive decisions, each of which went by the changes before it; tuner replay does"))
	}
	p, err = r.taught(r.Setup.Spec, func(d *replay.Decisions) error {
		done, err := d.Run(ctx, r.Reader)
		if err != nil {
			return err
		}
		if verdict = done.Summary(); done.First != nil {
			verdict = fmt.Sprintf("step %d differs, after %d that agree: the %s was %s, and is now %s", done.First.Step, done.Steps, done.First.What, done.First.Recorded, done.First.Derived)
		}
		return nil
	})
	return p, verdict, err
}
