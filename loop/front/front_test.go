package front

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
)

// What remains is what the definition says, of random points with ties, whichever ways are better.
func TestKeepAgainstTheDefinition(t *testing.T) {
	const seed = 11
	rng := rand.New(rand.NewPCG(seed, 1))
	for round := range 400 {
		f := Front{First: Axis{Maximize: round%2 == 0}, Second: Axis{Maximize: round%4 < 2}}
		points := make([]Point, rng.IntN(30))
		for i := range points {
			v := func() journal.Number {
				if rng.IntN(20) == 0 {
					return none
				}
				return journal.Number(rng.IntN(8))
			}
			points[i] = Point{First: Value{Value: v()}, Second: Value{Value: v()}, Steps: i}
		}
		better := func(a Axis, x, y journal.Number) bool { return a.Maximize && x > y || !a.Maximize && x < y }
		var want []int
		whole := 0
		for i, p := range points {
			if !p.First.Value.Known() || !p.Second.Value.Known() {
				continue
			}
			whole++
			if !slices.ContainsFunc(points, func(q Point) bool {
				first, second := better(f.First, q.First.Value, p.First.Value), better(f.Second, q.Second.Value, p.Second.Value)
				return first && (second || q.Second.Value == p.Second.Value) || second && q.First.Value == p.First.Value
			}) {
				want = append(want, i)
			}
		}
		f.setPoints(slices.Clone(points))
		var got []int
		for i, p := range f.Points {
			got = append(got, p.Steps)
			if i > 0 && better(f.First, p.First.Value, f.Points[i-1].First.Value) {
				t.Fatalf("seed %d, round %d: not by the first axis, the best first", seed, round)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) || f.Among != whole {
			t.Fatalf("seed %d, round %d: %v of %d, want %v of %d: %+v", seed, round, got, f.Among, want, whole, points)
		}
	}
}

// Shots of one setting count together, whichever steps they are of, with the standard error of all;
// shots without both values, and steps of another control set, do not.
func TestMeasuredSettings(t *testing.T) {
	nan := math.NaN()
	o := &plan.Options{Run: plan.RunNames{Name: "lab"}, Variables: []plan.Variable{{Name: "a", Unit: "V", Actuated: true}, {Name: "b", Unit: "K"}},
		Sensors: []plan.Sensor{{Name: "p", Unit: "W"}, {Name: "q", Unit: "K"}}, ControlSets: []plan.ControlSet{{Variables: []int{0}}},
		Constraints: []plan.Constraint{{Sensor: 1, Low: math.Inf(-1), High: 5}}}
	m := measured{opt: o, first: Quantity{Sensor: 0, Maximize: true}, second: Quantity{Sensor: 1}, at: map[string]int{}}
	step := func(x float64, sensors ...[]float64) {
		var shots []journal.Shot
		for i, s := range sensors {
			shots = append(shots, journal.Shot{X: []float64{x, float64(20 + i)}, Sensors: s})
		}
		m.add(&journal.Step{Decision: journal.Decision{Applied: []float64{x, nan}}}, shots)
	}
	step(1, []float64{1, 4}, []float64{3, 6}, []float64{nan, 100})
	step(2, []float64{9, 7})
	step(1, []float64{5, 5})
	f := &Front{First: m.axis(m.first), Second: m.axis(m.second)}
	f.setPoints(m.points())
	if f.Among != 2 || len(f.Points) != 2 {
		t.Fatalf("%+v", f)
	}
	high, low := f.Points[0], f.Points[1]
	// 1, 3, 5: mean 3, standard deviation 2, of three shots.
	want := Value{3, journal.Number(2 / math.Sqrt(3)), journal.Number(3 - 4/math.Sqrt(3)), journal.Number(3 + 4/math.Sqrt(3))}
	if d := low.First.SE - want.SE; low.First.Value != 3 || math.Abs(float64(d)) > 1e-12 || math.Abs(float64(low.First.Low-want.Low)) > 1e-12 || math.Abs(float64(low.First.High-want.High)) > 1e-12 {
		t.Errorf("%+v, want %+v", low.First, want)
	}
	if low.Steps != 2 || low.Shots != 3 || low.Second.Value != 5 || !low.Feasible {
		t.Errorf("%+v", low)
	}
	if high.First.Value != 9 || high.First.SE.Known() || high.Feasible || high.Try != "tuner try lab a=2" {
		t.Errorf("%+v", high)
	}
	if v := low.Variables[1]; v.How != control.HowMeasured || math.Abs(float64(v.Value)-(20+21+20)/3.0) > 1e-12 {
		t.Errorf("%+v", v)
	}
	var out bytes.Buffer
	if err := f.WriteCSV(&out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(rows) != 3 || strings.Join(rows[0], ",") != "control_set,p,p_se,p_low,p_high,q,q_se,q_low,q_high,feasible,steps,shots,x_a,x_b" || rows[1][2] != "" || rows[1][12] != "2" {
		t.Errorf("%v\n%s", err, text)
	}
}

// world weighs three settings: high and noisy, middling, low and quiet.
type world struct{}

var worldMeans, worldSD = []float64{10, 8, 1}, []float64{3, 1, 0.5}

func (world) Tradeoffs() (all []policy.Tradeoff, err error) {
	for i, m := range worldMeans {
		all = append(all, policy.Tradeoff{Recommendation: policy.Recommendation{X: []float64{float64(i)}, Estimate: policy.Estimate{Mean: m, SD: 0.1, NoiseSD: worldSD[i]}},
			ShotSD: worldSD[i], ShotLow: worldSD[i] / 2, ShotHigh: 2 * worldSD[i]})
	}
	return all, nil
}

func (w world) RecommendAt(alpha float64) (policy.Recommendation, error) {
	all, _ := w.Tradeoffs()
	return slices.MaxFunc(all, func(a, b policy.Tradeoff) int {
		return cmp.Compare(a.Mean-alpha*a.ShotSD*a.ShotSD, b.Mean-alpha*b.ShotSD*b.ShotSD)
	}).Recommendation, nil
}

// TestPrices: as risk grows the three settings are recommended one after the other, each where the definition says:
// from 2/8 on the middle one (10 - 9a = 8 - a), from 7/0.75 on the quiet one; in the user's sense.
func TestPrices(t *testing.T) {
	for _, minimize := range []bool{false, true} {
		o := &plan.Options{Variables: []plan.Variable{{Name: "x", Actuated: true}}, ControlSets: []plan.ControlSet{{Variables: []int{0}}}}
		o.Objective.Minimize = minimize
		prices, err := Prices(o, world{}, 0.3, 2)
		if err != nil {
			t.Fatal(err)
		}
		own := false
		for i := range prices {
			p := &prices[i]
			want := 0
			if p.Risk > 2.0/8 {
				want++
			}
			if p.Risk > 7/0.75 {
				want++
			}
			if p.Point.At(0) != float64(want) || float64(p.Point.First.Value) != o.Sense(worldMeans[want]) || float64(p.Point.Second.High) != 2*worldSD[want] {
				t.Errorf("risk %g: %+v, want setting %d", p.Risk, p.Point, want)
			}
			if own = own || p.Risk == 0.3; i > 0 && p.Risk < prices[i-1].Risk {
				t.Error("risks do not ascend")
			}
		}
		if first, last := prices[0].Point.At(0), prices[len(prices)-1].Point.At(0); !own || first != 0 || last != 2 {
			t.Errorf("own risk %v, from setting %g to %g", own, first, last)
		}
	}
}
