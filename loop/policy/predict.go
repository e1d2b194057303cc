package policy

import (
	"fmt"
	"math"

	"github.com/labtuner/tuner/loop/policy/space"
)

// Predictor is a policy whose model can be looked at. Looking changes no decision: the
// sequence of proposals is the same with and without it.
type Predictor interface {
	// Predict describes the objective (to be maximised) at settings of a control set, one
	// Estimate for each: X has one value per variable, in its unit, and those that the
	// control set does not hold are not read. Values outside a variable's range are taken
	// at its end. ErrNoData: there is no valid observation yet. Cost: a few expectations
	// for each setting.
	Predict(controlSet int, x [][]float64) ([]Estimate, error)
	// BestOf recommends among the settings that one control set has played; ok is false
	// where no step with it gave valid data.
	BestOf(controlSet int) (best Recommendation, ok bool, err error)
}

// Predict implements [Viewer].
func (e *engine) Predict(controlSet int, x [][]float64) ([]Estimate, error) {
	d, err := e.readyDomain(controlSet)
	if err != nil {
		return nil, err
	}
	rows := make([]float64, 0, len(x)*d.Size())
	for k := range x {
		if len(x[k]) != len(e.axes) {
			return nil, fmt.Errorf("setting %d has %d values for %d variables", k, len(x[k]), len(e.axes))
		}
		for _, i := range d.Coords {
			u := e.axes[i].Unit(x[k][i])
			if math.IsNaN(u) {
				return nil, fmt.Errorf("setting %d has no value for variable %d, which control set %d holds", k, i, controlSet)
			}
			rows = append(rows, min(max(u, 0), 1))
		}
	}
	if len(x) == 0 {
		return nil, nil
	}
	if d.Size() == 0 { // nothing is controlled: one estimate stands for all
		one, err := e.estimates(d, nil)
		if err != nil {
			return nil, err
		}
		out := make([]Estimate, len(x))
		for k := range out {
			out[k] = one[0]
		}
		return out, nil
	}
	return e.estimates(d, rows)
}

// BestOf implements [Viewer].
func (e *engine) BestOf(controlSet int) (Recommendation, bool, error) {
	if _, err := e.readyDomain(controlSet); err != nil {
		return Recommendation{}, false, err
	}
	settings := make([][]float64, len(e.domains))
	settings[controlSet] = e.playedPoints(controlSet, false)
	return e.bestOf(settings)
}

// readyDomain is the domain of a control set, with the model ready to be asked.
func (e *engine) readyDomain(controlSet int) (*space.Domain, error) {
	if controlSet < 0 || controlSet >= len(e.domains) {
		return nil, fmt.Errorf("there is no control set %d, they are 0 to %d", controlSet, len(e.domains)-1)
	}
	if len(e.model.Data.Rows) == 0 {
		return nil, ErrNoData
	}
	return e.domains[controlSet], e.refresh()
}
