package sim

import (
	"encoding/csv"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
)

// growthCases are the random axes of scripts/growth_oracle.py, in its order; case 0
// has none.
var growthCases = [][]dist{
	{{}, {}, {}, {}, {}},
	{{}, {}, {kind: Uniform}, {kind: Uniform}, {kind: Uniform}},
	{{}, {kind: Uniform}, {}, {kind: Normal, mean: 0.5, sd: 0.2}, {}},
	{{kind: Normal, mean: 0.5, sd: 0.2}, {kind: Normal, mean: 0.3, sd: 0.05}, {kind: Normal, mean: 0.9, sd: 0.4},
		{kind: Normal, mean: 0.5, sd: 0.2}, {kind: Uniform}},
	{{kind: Normal, mean: 1.4, sd: 0.3}, {}, {}, {}, {kind: Normal, mean: -0.2, sd: 0.1}},
}

// TestGrowthAgainstOracle compares means and averages with an independent script.
func TestGrowthAgainstOracle(t *testing.T) {
	file, err := os.Open("testdata/growth_oracle.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := csv.NewReader(file)
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) < 40 {
		t.Fatalf("only %d rows", len(rows))
	}
	const noise = 1.5
	g, err := newGrowth(noise, source{})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		var x [8]float64
		for i := range x {
			if x[i], err = strconv.ParseFloat(row[i], 64); err != nil {
				t.Fatal(err)
			}
		}
		axes, u := growthCases[int(x[0])], x[1:6]
		controlled := make([]bool, 5)
		for i := range axes {
			controlled[i] = axes[i].kind == Held
		}
		mean, variance := g.moments(0, u, 0)
		if x[0] > 0 {
			spread := 0.0
			if mean, variance, spread = g.average(controlled, axes)(u); math.Abs(spread-(x[7]-x[6]*x[6])) > 1e-5 {
				t.Errorf("case %v at %v: spread %v, oracle %v", x[0], u, spread, x[7]-x[6]*x[6])
			}
		}
		// Weights reach 40 and cancel to about 1, so 1e-9 of the slope is what two
		// orders of summation agree on; Simpson's rule is better than that.
		if math.Abs(mean-x[6]) > 1e-7 {
			t.Errorf("case %v at %v: area %v, oracle %v", x[0], u, mean, x[6])
		}
		want := noise * noise * (1.0755729094567415*1.0755729094567415 + 0.02*0.02*x[7])
		if math.Abs(variance-want) > 1e-7 {
			t.Errorf("case %v at %v: variance %v, oracle %v", x[0], u, variance, want)
		}
	}
}

func TestGrowthShots(t *testing.T) {
	g, err := newGrowth(1, source{4})
	if err != nil {
		t.Fatal(err)
	}
	u := []float64{0.9476, 0.98114, 0.6643, 0.22462, 0.74984} // near the optimum
	sample := make([]float64, 50_000)
	for i := range sample {
		g.shot(sample[i:i+1], u, 0, uint64(i))
	}
	mean, variance := g.moments(0, u, 0)
	if mean < 344 || mean > 345 {
		t.Errorf("area near the optimum is %v mm2; the paper's model has 344.6", mean)
	}
	compare(t, "leaf area", sample, mean, variance)
	corner := []float64{0.000647, 0.98114, 0.583, 0.0364, 0.5669} // below zero, by the model
	if mean, _ := g.moments(0, corner, 0); mean > -10 {
		t.Fatalf("the model's lowest corner is %v mm2", mean)
	}
	for i := range uint64(1000) {
		if g.shot(sample[:1], corner, 0, i); sample[0] < 0 {
			t.Fatalf("a leaf of %v mm2", sample[0])
		}
	}
}

// TestGrowthBatches: a value comes one batch after the last change, then one each
// batch; asking for what is so already, or releasing twice, is no change.
func TestGrowthBatches(t *testing.T) {
	b := newBench(t, growthOptions())
	doser, camera := b.device("doser"), b.device("camera")
	setting := map[string]float64{"ca": 150, "b": 2, "nh3": 20, "k": 100, "ph": 6}
	b.clock.move(50 * time.Second)
	b.write(doser, setting)
	value := func(after time.Duration, want bool) {
		t.Helper()
		b.clock.move(after)
		r := b.read(camera, "area")
		if _, got := r.Values["area"]; got != want {
			t.Errorf("at %v: a value is %v, want %v", b.now, got, want)
		}
	}
	value(59*time.Second, false) // the batch that began at 0 was cut short
	b.write(doser, setting)
	value(time.Second, true)
	value(0, false)
	b.clock.move(30 * time.Second)
	b.write(doser, map[string]float64{"ca": 151})
	value(59*time.Second, false)
	value(time.Second, true)
	b.write(doser, nil, "ca")
	b.clock.move(30 * time.Second)
	b.write(doser, nil, "ca")
	value(30*time.Second, true)
	value(10*time.Minute, true) // one value, the last
	value(0, false)
}

// TestGrowthValueBelongsToItsConditions: over hundreds of batches with released
// nutrients, who polls both devices every second finds, at the value's tick, the
// conditions that the value came from.
func TestGrowthValueBelongsToItsConditions(t *testing.T) {
	o := growthOptions()
	o.Noise = 0
	b := newBench(t, o)
	doser, camera := b.device("doser"), b.device("camera")
	b.write(doser, map[string]float64{"ca": 190, "b": 2.9})
	channels := []string{"ca", "b", "nh3", "k", "ph"}
	seen, draws := 0, map[float64]bool{}
	b.clock.move(300 * time.Millisecond)
	for range 200 * 60 {
		b.clock.move(time.Second)
		area, ok := b.read(camera, "area").Values["area"]
		if !ok {
			continue
		}
		seen++
		x := make([]float64, 5)
		values := b.read(doser, channels...).Values
		for i, name := range channels {
			x[i] = values[name]
		}
		draws[x[4]] = true
		// The readback's noise is 1e-4 of the range, at most four times; the steepest
		// slope of the area is below 2000 mm2 per range.
		if want := max(0, b.Mean(x)); math.Abs(area-want) > 1.6 {
			t.Fatalf("value %d is %v, the conditions read at its tick give %v", seen, area, want)
		}
	}
	if seen != 200 || len(draws) != 200 {
		t.Errorf("%d values and %d different draws in 200 batches", seen, len(draws))
	}
}

// TestGrowthDraws: what released nutrients take follows their distributions.
func TestGrowthDraws(t *testing.T) {
	b := newBench(t, growthOptions())
	doser := b.device("doser")
	b.write(doser, nil, "ca", "b")
	const n = 3000
	calcium, boron := make([]float64, n), make([]float64, n)
	for i := range calcium {
		b.clock.move(DefaultGrowthBatch)
		v := b.read(doser, "ca", "b").Values
		calcium[i], boron[i] = v["ca"], v["b"]
	}
	// Truncating N(100, 40) to [0, 200] at ±2.5 sd leaves, with φ and Φ the standard
	// normal's, 1 - 2·2.5 φ(2.5)/(2Φ(2.5)-1) of the variance.
	phi := math.Exp(-2.5*2.5/2) / math.Sqrt(2*math.Pi)
	compare(t, "calcium", calcium, 100, 1600*(1-5*phi/math.Erf(2.5/math.Sqrt2)))
	compare(t, "boron", boron, 1.5, 9.0/12)
	if slices.Min(calcium) < -0.1 || slices.Max(calcium) > 200.1 {
		t.Errorf("calcium leaves its range: [%v, %v]", slices.Min(calcium), slices.Max(calcium))
	}
}

// TestGrowthBootsReleased: a doser that was told nothing doses nothing, so the water
// decides from the start; a variable with a start value is there.
func TestGrowthBootsReleased(t *testing.T) {
	o := growthOptions()
	o.Variables[4].Start = 6
	b := newBench(t, o)
	doser := b.device("doser")
	first := b.read(doser, "ca", "ph").Values
	b.clock.move(DefaultGrowthBatch + DefaultGrowthBatch/2)
	second := b.read(doser, "ca", "ph").Values
	if math.Abs(first["ca"]-second["ca"]) < 0.1 {
		t.Errorf("calcium stays at %v from batch to batch", first["ca"])
	}
	if math.Abs(first["ph"]-6) > 0.01 || math.Abs(second["ph"]-6) > 0.01 {
		t.Errorf("pH is %v, then %v, want 6", first["ph"], second["ph"])
	}
}

// TestGrowthFormulaSensors: every sensor marked as part of the objective comes with
// the shots, one that the plant knows nothing of too.
func TestGrowthFormulaSensors(t *testing.T) {
	o := growthOptions()
	o.Sensors = append(o.Sensors, Sensor{Name: "height", Unit: "mm", Device: "camera", Channel: "height", Low: 0, High: 80, Objective: true},
		Sensor{Name: "light", Unit: "lx", Device: "camera", Channel: "light", Low: 0, High: 1000})
	b := newBench(t, o)
	camera := b.device("camera")
	for _, want := range []int{1, 3, 1} {
		if v := b.read(camera, "area", "height", "light").Values; len(v) != want || v["light"] != 500 {
			t.Errorf("the camera says %v, want %d values", v, want)
		}
		if want == 1 {
			b.clock.move(DefaultGrowthBatch)
		}
	}
}

func TestGrowthWantsFive(t *testing.T) {
	o := growthOptions()
	o.Variables = o.Variables[:4]
	wantError(t, o, "five nutrients (Ca, B, NH3, K, pH, in this order) and the file has 4 variables")
}
