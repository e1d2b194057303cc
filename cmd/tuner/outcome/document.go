package outcome

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/labtuner/tuner/loop/advisor"
	"github.com/labtuner/tuner/loop/front"
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
	s, err := r.figureSource(ctx, p)
	if err != nil {
		return nil, err
	}
	d = s.Document
	if d.Figures, err = r.pictures(s); err != nil {
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
	return r.figureSource(ctx, p)
}

// pictures are the figures of a report: those that the run has something for. The price of risk is there where
// risk is the run's own concern: for others another model would have to learn the whole record.
func (r *Recorded) pictures(s plots.Source) (out []web.FigurePart, err error) {
	asked := []pictureOf{{kind: "progress"}, {kind: "progress", by: "cost", options: plots.Options{Over: "cost"}}, {kind: "tradeoff"}, {kind: "risk"}, {kind: "sets"},
		{kind: "contour", options: plots.Options{Of: "all"}}, {kind: "slices"}, {kind: "importance"}, {kind: "parallel"}, {kind: "predicted"}, {kind: "sensors"}}
	if !r.weighs() {
		asked = slices.DeleteFunc(asked, func(p pictureOf) bool { return p.kind == "risk" })
	}
	pairs, err := s.Pairs(reportPairs)
	if err != nil {
		return nil, err
	}
	for _, pair := range pairs[min(1, len(pairs)):] { // the first is above
		asked = append(asked, pictureOf{kind: "contour", by: pair[0] + "-" + pair[1], options: plots.Options{Of: "all", X: pair[0], Y: pair[1]}, folded: true})
	}
	for _, p := range asked {
		from := s
		if p.folded {
			from.Cells = foldedCells
		}
		f, err := plots.Draw(from, p.kind, p.options)
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
		name := p.kind
		if p.by != "" {
			name += "-" + p.by
		}
		out = append(out, web.FigurePart{Kind: name, Title: f.Title, Folded: p.folded, SVG: text.String()})
	}
	return out, nil
}

// pictureOf asks for a figure of a report.
type pictureOf struct {
	// by tells figures of one kind apart.
	kind, by string
	options  plots.Options
	// folded is for what is looked at after all else.
	folded bool
}

// reportPairs is how many pairs of variables have their maps in a report, those that matter most first: those of
// four variables. foldedCells is how many values stand along a side of a map that is folded.
const (
	reportPairs = 6
	foldedCells = 33
)

// figureSource is what the figures of the record are made from, with the model of a policy.
func (r *Recorded) figureSource(ctx context.Context, p policy.Policy) (plots.Source, error) {
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
		s.Model, s.Lengthscales = advisor.Model{Options: &w.Options, Policy: v}, v.Lengthscales
		if !d.Run.Finished {
			s.Acquisition = v.Acquisition
		}
		s.Prices = func() ([]front.Price, error) { return r.prices(ctx, p) }
	}
	for i := range w.Spec.Variables {
		s.Log = append(s.Log, w.Spec.Variables[i].Log)
	}
	return s, nil
}

// prices lists what would be recommended at other risks: by the run's own policy where that weighs risk, else
// by one that learns the noise from the same record.
func (r *Recorded) prices(ctx context.Context, p policy.Policy) ([]front.Price, error) {
	w, ok := p.(policy.Weigher)
	if !ok || !r.weighs() {
		var err error
		if w, _, err = r.weigher(ctx); err != nil {
			return nil, err
		}
	}
	return front.Prices(&r.Setup.Options, w, r.Setup.Spec.Risk, r.Setup.Spec.Beta)
}

// weighs says that the run's own policy knows how steady settings are.
func (r *Recorded) weighs() bool {
	return r.Setup.Spec.Risk > 0 && policy.ForRisk(r.Setup.Spec).Kind == r.Setup.Spec.Kind
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
