package outcome

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/sim"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/policy"
)

// TestTruthOfAHeldVariable: a variable that a control set holds where another one put it counts where it is
// held, in what a recommendation is worth; and the best setting is the best of all places that it can be held at.
func TestTruthOfAHeldVariable(t *testing.T) {
	samples := configs.Samples()
	text := string(samples[slices.IndexFunc(samples, func(s configs.Sample) bool { return s.Name == "quiet-and-cheap" })].Text)
	e, _, _, _ := hosttest.Env()
	ask := func(text string, found policy.Recommendation) *truth {
		w, err := setup.Parse("held.toml", []byte(text), e)
		if err != nil {
			t.Fatal(err)
		}
		plant, err := sim.New(*w.Plant, drivers.Env{Clock: setup.StoppedClock()})
		if err != nil {
			t.Fatal(err)
		}
		out, err := AskPlant(t.Context(), w, plant, loop.Result{HasFound: true, Found: found})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	all := ask(text, policy.Recommendation{ControlSet: 1, X: []float64{-0.8, -0.5, 12.7}})
	const set = `["mirror_x", "mirror_y", "grating"]`
	if strings.Count(text, set) != 1 {
		t.Fatal("the sample has another control set of all variables")
	}
	held := ask(strings.Replace(text, set, `["mirror_x", "grating"]`, 1), policy.Recommendation{ControlSet: 1, X: []float64{-0.8, math.NaN(), 12.7},
		Left: []policy.Left{{}, {Kind: policy.Held, Mean: -0.5}, {}}})
	if math.Abs(held.value-all.value) > 1e-9 || math.Abs(held.Value-all.Value) > 1e-9 || math.Abs(held.Regret-all.Regret) > 1e-9 {
		t.Errorf("held: %g of %g, regret %g; set: %g of %g, %g", held.value, held.Value, held.Regret, all.value, all.Value, all.Regret)
	}
}
