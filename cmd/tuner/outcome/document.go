package outcome

import (
	"context"
	"errors"
	"math"
	"strings"

	"github.com/labtuner/tuner/loop/advisor"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/export"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/web"
	"github.com/labtuner/tuner/loop/web/figure"
	"github.com/labtuner/tuner/loop/web/plots"
)

// Document is the record as the renderer draws it, with the model that its steps give. Where
// derive is true every decision is derived anew, and Replay has the verdict.
func (r *Recorded) Document(ctx context.Context, derive bool) (d *web.Document, err error) {
	var p policy.Policy
	var verdict string
	if derive {
		p, verdict, err = r.derived(ctx)
	} else {
		p, err = r.model(ctx, r.Setup.Spec)
	}
	if err != nil {
		return nil, err
	}
	s, err := r.figureSource(p)
	if err != nil {
		return nil, err
	}
	d = s.Document
	if d.Figures, err = pictures(s); err != nil {
		return nil, err
	}
	d.Replay = verdict
	d.Hash, err = export.Hash(r.Reader)
	return d, err
}

// Figures is what the figures of the record are made from, with the model that its steps give.
func (r *Recorded) Figures(ctx context.Context) (plots.Source, error) {
	p, err := r.model(ctx, r.Setup.Spec)
	if err != nil {
		return plots.Source{}, err
	}
	return r.figureSource(p)
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

// figureSource is what the figures of the record are made from, with the model of a policy.
func (r *Recorded) figureSource(p policy.Policy) (plots.Source, error) {
	w := r.Setup
	picture, err := advisor.Picture(&w.Options, p)
	if err != nil {
		return plots.Source{}, err
	}
	d, err := web.Collect(web.Source{Reader: r.Reader, Options: w.Options, Devices: w.DeviceNames(), Risk: w.Spec.Risk, Picture: &picture})
	if err != nil {
		return plots.Source{}, err
	}
	s := plots.Source{Document: d, Sensors: sensorMeans(r.Reader)}
	if v, ok := p.(policy.Predictor); ok && picture.Best != nil {
		s.Model = advisor.Model{Options: &w.Options, Policy: v}
	}
	for i := range w.Spec.Variables {
		s.Log = append(s.Log, w.Spec.Variables[i].Log)
	}
	return s, nil
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
