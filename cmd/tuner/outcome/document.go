package outcome

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/loop/advisor"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/export"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/replay"
	"github.com/labtuner/tuner/loop/web"
	"github.com/labtuner/tuner/loop/web/figure"
	"github.com/labtuner/tuner/loop/web/plots"
)

// Document is a journal as the renderer draws it, with the model that its steps give; step is
// told of each as the model learns it.
func Document(ctx context.Context, w *setup.Setup, r *journal.Reader, derive bool, step func(n int)) (*web.Document, error) {
	p, verdict, err := taught(ctx, w, r, derive, step)
	if err != nil {
		return nil, err
	}
	s, err := figureSource(w, r, p)
	if err != nil {
		return nil, err
	}
	d := s.Document
	if d.Figures, err = pictures(s); err != nil {
		return nil, err
	}
	d.Replay = verdict
	d.Hash, err = export.Hash(r)
	return d, err
}

// Figures is what the figures of a journal are made from, with the model that its steps give.
func Figures(ctx context.Context, w *setup.Setup, r *journal.Reader, step func(n int)) (plots.Source, error) {
	p, _, err := taught(ctx, w, r, false, step)
	if err != nil {
		return plots.Source{}, err
	}
	return figureSource(w, r, p)
}

// pictures are the figures of a report: those that the run has something for.
func pictures(s plots.Source) ([]web.FigurePart, error) {
	var out []web.FigurePart
	for _, kind := range []string{"progress", "tradeoff", "contour", "importance", "parallel", "predicted", "sets", "sensors"} {
		f, err := plots.Draw(s, kind, plots.Options{})
		if errors.Is(err, plots.ErrNothing) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var text strings.Builder
		if err := f.Write(&text, "svg", figure.Page); err != nil {
			return nil, err
		}
		out = append(out, web.FigurePart{Kind: kind, Title: f.Title, SVG: text.String()})
	}
	return out, nil
}

// figureSource is what the figures of a journal are made from, with the model of a policy.
func figureSource(w *setup.Setup, r *journal.Reader, p policy.Policy) (plots.Source, error) {
	d, err := collected(w, r, p)
	if err != nil {
		return plots.Source{}, err
	}
	s := plots.Source{Document: d, Sensors: sensorMeans(r)}
	if v, ok := p.(policy.Predictor); ok && d.Picture.Best != nil {
		s.Model = advisor.Model{Options: &w.Options, Policy: v}
	}
	for i := range w.Spec.Variables {
		s.Log = append(s.Log, w.Spec.Variables[i].Log)
	}
	return s, nil
}

// taught is the run's policy after all its steps, with the verdict of deriving them where that is asked for.
func taught(ctx context.Context, w *setup.Setup, r *journal.Reader, derive bool, step func(n int)) (policy.Policy, string, error) {
	earlier, err := r.Warm()
	if err != nil {
		return nil, "", err
	}
	p, err := w.NewPolicy(earlier)
	if err != nil {
		return nil, "", err
	}
	replay := replay.Decisions{Options: w.Options, Policy: p, Version: policy.DecisionsVersion, Lenient: true, Step: step}
	if !derive {
		return p, "", replay.Teach(ctx, r)
	}
	if changes, err := plan.ChangesIn(r); err != nil || len(changes) > 0 {
		return nil, "", cmp.Or(err, errors.New("this run was changed while it went on: a report does not derive decisions, each of which went by the changes before it; tuner replay does"))
	}
	done, err := replay.Run(ctx, r)
	if err != nil {
		return nil, "", err
	}
	verdict := done.Summary()
	if done.First != nil {
		verdict = fmt.Sprintf("step %d differs, after %d that agree: the %s was %s, and is now %s", done.First.Step, done.Steps, done.First.What, done.First.Recorded, done.First.Derived)
	}
	return p, verdict, nil
}

// collected is the document of a journal with the picture of a policy.
func collected(w *setup.Setup, r *journal.Reader, p policy.Policy) (*web.Document, error) {
	picture, err := advisor.Picture(&w.Options, p)
	if err != nil {
		return nil, err
	}
	return web.Collect(web.Source{Reader: r, Options: w.Options, Devices: w.DeviceNames(), Risk: w.Spec.Risk, Picture: &picture})
}

// sensorMeans gives each sensor's mean over the shots of a step; steps are asked for in their order.
func sensorMeans(r *journal.Reader) func(step int) ([]float64, error) {
	shots, names := r.ShotsAhead(), r.Run().Sensors
	return func(step int) ([]float64, error) {
		of, err := shots(step)
		if err != nil {
			return nil, err
		}
		out := make([]float64, len(names))
		for i := range out {
			sum, n := 0.0, 0.0
			for _, shot := range of {
				if v := shot.Sensors[i]; !math.IsNaN(v) {
					sum, n = sum+v, n+1
				}
			}
			out[i] = sum / n
		}
		return out, nil
	}
}
