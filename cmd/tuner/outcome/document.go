package outcome

import (
	"context"
	"fmt"

	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/loop/advisor"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/export"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/replay"
	"github.com/labtuner/tuner/loop/web"
)

// Document is a journal as the renderer draws it, with the model that its steps give; step is
// told of each as the model learns it.
func Document(ctx context.Context, w *setup.Setup, r *journal.Reader, derive bool, step func(n int)) (*web.Document, error) {
	earlier, err := r.Warm()
	if err != nil {
		return nil, err
	}
	p, err := w.NewPolicy(earlier)
	if err != nil {
		return nil, err
	}
	replay, verdict := replay.Decisions{Options: w.Options, Policy: p, Version: policy.DecisionsVersion, Lenient: true, Step: step}, ""
	if derive {
		done, err := replay.Run(ctx, r)
		if err != nil {
			return nil, err
		}
		if verdict = done.Summary(); done.First != nil {
			verdict = fmt.Sprintf("step %d differs, after %d that agree: the %s was %s, and is now %s", done.First.Step, done.Steps, done.First.What, done.First.Recorded, done.First.Derived)
		}
	} else if err := replay.Teach(ctx, r); err != nil {
		return nil, err
	}
	picture, err := advisor.Picture(&w.Options, p)
	if err != nil {
		return nil, err
	}
	d, err := web.Collect(web.Source{Reader: r, Options: w.Options, Devices: w.DeviceNames(), Risk: w.Spec.Risk, Picture: &picture})
	if err != nil {
		return nil, err
	}
	d.Replay = verdict
	d.Hash, err = export.Hash(r)
	return d, err
}
