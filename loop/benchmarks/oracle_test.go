package benchmarks

import (
	"encoding/csv"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/labtuner/tuner/loop/benchmarks/cvs"
	"github.com/labtuner/tuner/loop/benchmarks/experiment"
	"github.com/labtuner/tuner/loop/benchmarks/irgp"
	"github.com/labtuner/tuner/loop/benchmarks/landscape"
	"github.com/labtuner/tuner/scripts/testsize"
)

// oracleRow is one line of scripts/benchmarks_oracle.py: a value computed apart from
// the Go code.
type oracleRow struct {
	what  string
	value float64
	x     []float64
}

func readOracle(t *testing.T) []oracleRow {
	t.Helper()
	file, err := os.Open("testdata/oracle.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := csv.NewReader(file)
	r.Comment, r.FieldsPerRecord = '#', -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := make([]oracleRow, len(rows))
	for i, row := range rows {
		out[i].what = row[0]
		for k, text := range row[1:] {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			if k == 0 {
				out[i].value = v
			} else {
				out[i].x = append(out[i].x, v)
			}
		}
	}
	return out
}

// drawn draws seed 0 of an experiment.
func drawn(t *testing.T, name string) *experiment.Problem {
	t.Helper()
	x, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := x.Draw(0)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestAgainstOracle compares every deterministic problem, its best worth and the
// truncated normal with an independent script.
func TestAgainstOracle(t *testing.T) {
	problems := map[string]*experiment.Problem{}
	problem := func(name string) *experiment.Problem {
		if problems[name] == nil {
			problems[name] = drawn(t, name)
		}
		return problems[name]
	}
	compared := map[string]int{}
	for _, row := range readOracle(t) {
		name, isMax := strings.CutSuffix(row.what, "-max")
		if name == "airfoil" && !testsize.Whole() { // its maximum is sought for seconds
			continue
		}
		var got float64
		switch {
		case name == "truncated-variance":
			got = sampledVariance(landscape.Truncated{SD: row.x[0]})
		case name == "truncated-quantile":
			got = landscape.Truncated{SD: row.x[0]}.Quantile(row.x[1])
		case name == "airfoil" || name == "plant":
			p := problem("cvs/" + name + "-cheap-0.02")
			if isMax {
				got = p.Best(1)
			} else {
				got = p.Truth(1, row.x)
			}
		case slices.Contains([]string{"holder", "cross-in-tray", "ackley"}, name):
			p := problem("irgp/" + name)
			if isMax {
				got = p.Best(1)
			} else {
				got = p.Truth(1, row.x)
			}
		default:
			p := problem("rahbo/" + name)
			if isMax {
				got = p.Best(1)
			} else {
				got = p.WorthOf(1, 0, row.x)
			}
		}
		compared[row.what]++
		// Both sides are float64; 1500 terms, weights up to 40 that cancel, and values up
		// to 300 leave 1e-8. The plant's maximum is over all control sets' expectations
		// too, and the full set's is the greatest.
		tolerance := 1e-8 * max(1, math.Abs(row.value))
		if name == "truncated-variance" {
			tolerance = 1e-6 // a quadrature of 20000 intervals
		}
		if !(math.Abs(got-row.value) <= tolerance) {
			t.Errorf("%s at %v: %v, oracle %v", row.what, row.x, got, row.value)
		}
	}
	for _, must := range []string{"airfoil", "plant", "plant-max", "branin-1-max", "branin-2-max", "branin-1-alpha-0.5-max",
		"sine-1", "fel", "fel-max", "holder-max", "cross-in-tray-max", "ackley", "truncated-variance"} {
		if compared[must] == 0 && (must != "airfoil" || testsize.Whole()) {
			t.Errorf("the oracle has no %s", must)
		}
	}
}

// sampledVariance is the variance of the distribution by the midpoint rule over its
// quantiles.
func sampledVariance(d landscape.Truncated) float64 {
	const n = 20000
	mean, square := 0.0, 0.0
	for i := range n {
		v := d.Quantile((float64(i) + 0.5) / n)
		mean += v / n
		square += v * v / n
	}
	return square - mean*mean
}

// TestPublishedOptima compares with the digits that the literature gives.
func TestPublishedOptima(t *testing.T) {
	h := cvs.Hartmann3()
	for _, c := range []struct {
		what        string
		got, want   float64
		places      float64
		description string
	}{
		{"Hartmann-3", h.At([]float64{0.114614, 0.555649, 0.852547}), 3.86278, 5e-6, "botorch"},
		{"Hartmann-3, best", drawn(t, "cvs/hartmann-cheap-0.02").Best(1), 3.86278, 5e-6, "the full set's maximum"},
		{"Branin at A", landscape.Branin(9.42478, 2.475), 0.397887, 1e-6, "Dixon and Szego"},
		{"Branin at B", landscape.Branin(math.Pi, 2.275), 0.397887, 1e-6, "Dixon and Szego"},
		{"Branin at C", landscape.Branin(-math.Pi, 12.275), 0.397887, 1e-6, "Dixon and Szego"},
		{"Holder", irgp.Holder([]float64{8.05502, 9.66459}), 19.2085, 5e-5, "Surjanovic and Bingham"},
		{"cross-in-tray", irgp.CrossInTray([]float64{1.3491, -1.3491}), 2.06261, 5e-6, "Surjanovic and Bingham"},
		{"Ackley", irgp.Ackley(make([]float64, 4)), 0, 1e-12, "Surjanovic and Bingham"},
		{"costids", drawn(t, "costids/branin").Best(1), math.Log(100) - 0.397887, 1e-6, "B at the greatest l"},
		{"costids at A", drawn(t, "costids/branin").Truth(1, []float64{9.42478, 2.475, 1}), 1 - 0.397887, 1e-6, "l - b"},
		{"rahbo/branin-1, rho at A", math.Sqrt(drawn(t, "rahbo/branin-1").NoiseVariance([]float64{9.42478, 2.475})), 1.4316, 5e-5, "research page"},
		{"rahbo/branin-1, rho at B", math.Sqrt(drawn(t, "rahbo/branin-1").NoiseVariance([]float64{math.Pi, 2.275})), 0.7980, 5e-5, "research page"},
		{"rahbo/branin-1, rho at C", math.Sqrt(drawn(t, "rahbo/branin-1").NoiseVariance([]float64{-math.Pi, 12.275})), 0.2400, 5e-5, "research page"},
	} {
		if !(math.Abs(c.got-c.want) <= c.places) {
			t.Errorf("%s: %v, want %v (%s)", c.what, c.got, c.want, c.description)
		}
	}
}

// TestExpectations compares the worth of every control set with a plain average of the
// truth over the seed's sample, and looks for a better setting than the best.
func TestExpectations(t *testing.T) {
	families := []cvs.Family{cvs.Hartmann(), cvs.Plant(), cvs.GPSample(), cvs.Airfoil()}
	for _, f := range families[:testsize.Of(2, 4)] { // a draw of the last takes a thousand kernels of 1503 points
		sets := f.ControlSets([3]float64{1, 1, 1})
		around := landscape.Truncated{SD: 0.213548}
		p, err := f.Problem(5, sets, around)
		if err != nil {
			t.Fatal(err)
		}
		draws := make([][]float64, cvs.Draws)
		rng := experiment.Stream(5, experiment.ForExpectation, 0)
		for k := range draws {
			draws[k] = make([]float64, len(f.Variables))
			around.Draw(rng, draws[k])
		}
		chance := rand.New(rand.NewPCG(1, 2))
		for set, s := range sets {
			x := make([]float64, len(f.Variables))
			for i, v := range f.Variables {
				x[i] = v.Low + chance.Float64()*(v.High-v.Low)
			}
			sum := 0.0
			for _, u := range draws {
				at := f.User(slices.Clone(u))
				for i, c := range s.Controlled {
					if c {
						at[i] = x[i]
					}
				}
				sum += p.Truth(1, at) / cvs.Draws
			}
			asked := slices.Clone(x)
			for i, c := range s.Controlled {
				if !c {
					asked[i] = math.NaN()
				}
			}
			got := p.WorthOf(1, set, asked)
			if !(math.Abs(got-sum) < 1e-9) { // the same sum in another order
				t.Errorf("%s, set %d at %v: worth %v, average %v", f.Name, set, x, got, sum)
			}
			if best := p.Best(1); got > best {
				t.Errorf("%s, set %d at %v: worth %v above the best, %v", f.Name, set, x, got, best)
			}
		}
	}
}

// TestBestIsNotBeaten climbs from random places of random control sets: none may end
// above the best worth.
func TestBestIsNotBeaten(t *testing.T) {
	chance := rand.New(rand.NewPCG(3, 4))
	for _, name := range []string{"cvs/gpsample-cheap-0.04", "cvs/hartmann-cheap-0.04", "cvs/plant-cheap-0.04", "cvs/airfoil-cheap-0.08",
		"rahbo/fel", "rahbo/branin-1", "rahbo/sine-2"} {
		climbs := testsize.Of(4, 30)
		if strings.HasPrefix(name, "cvs/airfoil") { // one value takes a thousand kernels of 1503 points
			if climbs = 4; !testsize.Whole() {
				continue
			}
		}
		p := drawn(t, name)
		reached := math.Inf(-1)
		for k := range climbs {
			set := k % len(p.ControlSets)
			controlled := p.ControlSets[set].Controlled
			x := make([]float64, len(p.Variables))
			h := landscape.Hill{Dims: len(x), Value: func(u []float64) float64 {
				for i, v := range p.Variables {
					x[i] = math.NaN()
					if controlled[i] {
						x[i] = v.Low + u[i]*(v.High-v.Low)
					}
				}
				return p.WorthOf(1, set, x)
			}}
			u := make([]float64, len(x))
			for i := range u {
				u[i] = chance.Float64()
			}
			reached = max(reached, h.Climb(u, h.Value(u)))
		}
		// A compass search ends within 1e-7 of the range: 1e-9 is more than it can miss.
		if best := p.Best(1); reached > best+1e-9 {
			t.Errorf("%s: a climb reached %v, the best is %v", name, reached, best)
		}
	}
}
