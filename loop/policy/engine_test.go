package policy

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/labtuner/tuner/loop/policy/cost"
	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/space"
	"github.com/labtuner/tuner/scripts/testsize"
)

func propose(t *testing.T, p Policy) Proposal {
	t.Helper()
	q, err := p.Propose(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func observe(t *testing.T, p Policy, o Observation) {
	t.Helper()
	if err := p.Observe(o); err != nil {
		t.Fatal(err)
	}
}

// The initial design cycles through the cheapest sets in file order, whatever that
// order is.
func TestInitialDesignUsesCheapSets(t *testing.T) {
	s := cvsSpec()
	s.ControlSets = sets(3, []float64{1, .1, .2, .1}, []int{0, 1, 2}, []int{1}, []int{0, 2}, []int{2})
	s.InitialSteps = 5
	p := fresh(t, s)
	for i, want := range []int{1, 3, 1, 3, 1} {
		q := propose(t, p)
		if q.ControlSet != want || !q.Initial || q.Work != 0 {
			t.Errorf("step %d: %+v, want control set %d", i+1, q, want)
		}
		for v, x := range q.X {
			if math.IsNaN(x) == s.ControlSets[want].Controlled[v] {
				t.Errorf("step %d: values %v for control set %d", i+1, q.X, want)
			}
		}
	}
}

// The first step of a problem without subsets is the starting setting, if known.
func TestFirstStepIsTheStart(t *testing.T) {
	s := rahboSpec(2, 1)
	s.Variables[0].Start, s.Variables[1].Start = 0.25, 0.75
	p := fresh(t, s)
	if q := propose(t, p); q.X[0] != 0.25 || q.X[1] != 0.75 {
		t.Errorf("first step at %v", q.X)
	}
	if q := propose(t, p); q.X[0] == 0.25 {
		t.Error("the second step is there again")
	}
	s.Variables[1].Start = math.NaN()
	if q := propose(t, fresh(t, s)); q.X[0] == 0.25 {
		t.Error("half a starting setting is none")
	}
	s.Variables[1].Start = 0.75
	s.Candidates = [][]float64{{0, 0}, {1, 1}, {0.5, 0.5}}
	if q := propose(t, fresh(t, s)); q.X[0] == 0.25 {
		t.Error("a start that is no candidate was proposed")
	}
	s.Candidates = append(s.Candidates, []float64{0.25, 0.75})
	if q := propose(t, fresh(t, s)); q.X[0] != 0.25 || q.X[1] != 0.75 {
		t.Errorf("a start among the candidates: first step at %v", q.X)
	}
}

// Sets that the rest of the budget cannot pay are left out; ErrBudget comes when none
// fits, and changes nothing.
func TestBudgetLeavesSetsOut(t *testing.T) {
	s := cvsSpec()
	s.Budget, s.InitialSteps = 4.55, 2
	s.ControlSets[0].Cost, s.ControlSets[1].Cost = 0.1, 0.5
	w := story{scale: 1, shots: 1}
	p := fresh(t, s)
	spent, err := 0.0, error(nil)
	var q Proposal
	for range 200 {
		if q, err = p.Propose(context.Background()); err != nil {
			break
		}
		spent += s.ControlSets[q.ControlSet].Cost
		if spent > s.Budget+1e-9 {
			t.Fatalf("%g spent of %g", spent, s.Budget)
		}
		for _, o := range w.answer(&s, q) {
			observe(t, p, o)
		}
	}
	if !errors.Is(err, cost.ErrBudget) || s.Budget-spent > 0.1 {
		t.Errorf("ended with %v at %g of %g", err, spent, s.Budget)
	}
	if _, err := p.Recommend(); err != nil {
		t.Errorf("after the budget: %v", err)
	}
}

// A setting that fails is not proposed again, in a box and in a list, and what fails
// never enters the model.
func TestFailedSettingsAreAvoided(t *testing.T) {
	list := rahboSpec(2, 4)
	for i := range 5 {
		for j := range 5 {
			list.Candidates = append(list.Candidates, []float64{float64(i) / 4, float64(j) / 4})
		}
	}
	for _, s := range []Spec{rahboSpec(2, 4), list} {
		s.InitialSteps = 6
		p := fresh(t, s)
		rng := rand.New(rand.NewPCG(4, 4))
		// The objective grows towards a corner that always fails.
		bad := func(x []float64) bool { return x[0]+x[1] > 1.4 }
		var failed [][]float64
		for step := 1; step <= 40; step++ {
			q := propose(t, p)
			if slices.ContainsFunc(failed, func(f []float64) bool { return num.SquaredDistance(f, q.X) < 1e-12 }) {
				t.Errorf("step %d: %v failed before", step, q.X)
			}
			o := Observation{Step: q.Step, X: q.X, Shots: 4, Valid: !bad(q.X), Mean: q.X[0] + q.X[1] + 0.01*rng.NormFloat64(),
				Variance: 4e-4 * (0.5 + rng.Float64())}
			if !o.Valid {
				failed = append(failed, q.X)
				o.Mean, o.Variance, o.Shots = math.NaN(), math.NaN(), 0
			}
			observe(t, p, o)
		}
		if len(failed) == 0 || len(failed) > 25 {
			t.Errorf("%d of 40 steps failed", len(failed))
		}
		r, err := p.Recommend()
		if err != nil || bad(r.X) || r.X[0]+r.X[1] < 0.9 {
			t.Errorf("recommended %v (%v)", r.X, err)
		}
	}
}

// A device that does not move: the failed step is achieved elsewhere, and the setting
// that was asked for counts as failed, with or without Requested.
func TestUnreachableSettingIsAvoided(t *testing.T) {
	for _, told := range []bool{true, false} {
		s := rahboSpec(2, 6)
		s.InitialSteps, s.Confidence = 3, "constant" // deterministic: nothing but the failure moves it
		p := fresh(t, s)
		w := story{scale: 1, shots: 5}
		for range 3 {
			q := propose(t, p)
			o := w.answer(&s, q)[0]
			o.Valid = true
			observe(t, p, o)
		}
		first := propose(t, p)
		o := Observation{Step: first.Step, X: []float64{0, 0}}
		if told {
			o.Requested = first.X
		}
		observe(t, p, o)
		if again := propose(t, p); num.SquaredDistance(again.X, first.X) < 1e-4 {
			t.Errorf("told %v: %v was proposed again", told, again.X)
		}
	}
}

// Shots that were lost: steps with one shot, which has no variance, and with few are
// used, and RAHBO keeps to its initial design until two variances are there.
func TestUnequalShots(t *testing.T) {
	s := rahboSpec(1, 9)
	s.InitialSteps = 2
	p := fresh(t, s)
	rng := rand.New(rand.NewPCG(9, 9))
	for step := 1; step <= 20; step++ {
		q := propose(t, p)
		if blind := step <= 5; q.Initial != blind {
			t.Errorf("step %d: initial %v", step, q.Initial)
		}
		o := Observation{Step: q.Step, X: q.X, Shots: 1, Valid: true, Mean: q.X[0] + 0.1*rng.NormFloat64(), Variance: math.NaN()}
		if step >= 4 {
			o.Shots = 1 + step%4
			o.Variance = math.NaN()
			if o.Shots > 1 {
				o.Variance = 0.01 * (0.5 + rng.Float64())
			}
		}
		if step == 4 || step == 5 {
			o.Shots, o.Variance = 3, 0.01
		}
		observe(t, p, o)
	}
	r, err := p.Recommend()
	if err != nil || r.NoiseSD < 0.03 || r.NoiseSD > 0.3 {
		t.Errorf("noise sd %g of 0.1 (%v)", r.NoiseSD, err)
	}
}

// A refused observation names what is wrong and leaves the policy as it was.
func TestObserveRefuses(t *testing.T) {
	nan := math.NaN()
	good := Observation{Step: 1, X: []float64{.1, .2, .3}, Mean: 1, Variance: nan, Shots: 1, Valid: true}
	s := cvsSpec()
	s.InitialSteps = 1
	clean, p := fresh(t, s), fresh(t, s)
	for _, c := range []struct {
		want string
		edit func(*Observation)
	}{
		{"steps count from 1", func(o *Observation) { o.Step = 0 }},
		{"control set 3, there are 3", func(o *Observation) { o.ControlSet = 3 }},
		{"2 values for 3 variables", func(o *Observation) { o.X = o.X[:2] }},
		{"1 requested values for 3 variables", func(o *Observation) { o.Requested = []float64{1} }},
		{`variable "x1" is NaN`, func(o *Observation) { o.X = []float64{0, nan, 0} }},
		{"mean NaN", func(o *Observation) { o.Mean = nan }},
		{"mean +Inf", func(o *Observation) { o.Mean = math.Inf(1) }},
		{"variance -1", func(o *Observation) { o.Variance = -1 }},
		{"0 shots", func(o *Observation) { o.Shots = 0 }},
		{"cost NaN", func(o *Observation) { o.Cost = nan }},
		{"cost -1", func(o *Observation) { o.Cost = -1 }},
	} {
		o := good
		c.edit(&o)
		if err := p.Observe(o); !errors.Is(err, ErrObservation) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	if _, err := p.Recommend(); !errors.Is(err, ErrNoData) {
		t.Errorf("nothing was learnt, but: %v", err)
	}
	for _, q := range []Policy{clean, p} {
		for i := range 3 {
			o := good
			o.Step, o.X, o.Mean = i+1, []float64{.1 * float64(i), .2, .3}, float64(i)
			observe(t, q, o)
		}
	}
	if a, b := propose(t, clean), propose(t, p); !same([]Proposal{a}, []Proposal{b}) {
		t.Errorf("refused observations changed the policy: %v, %v", a, b)
	}
}

// A cancelled context: the decision still comes, of one unit; a wait for a fit ends.
func TestCancelledContext(t *testing.T) {
	s := rahboSpec(2, 3)
	s.InitialSteps = 3
	w := story{scale: 1, shots: 5}
	p := fresh(t, s)
	w.tell(t, p, &s, 6, nil)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	q, err := p.Propose(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if q.Work != 1 || !q.Cut {
		t.Errorf("%d units, cut %v", q.Work, q.Cut)
	}
}

// The baselines propose what they say, and give the same model's recommendation.
func TestBaselines(t *testing.T) {
	for _, kind := range []string{"random", "sobol"} {
		s := rahboSpec(2, 5)
		s.Kind, s.InitialSteps = kind, 0
		p := fresh(t, s)
		w := story{scale: 1, shots: 5}
		var cells [4][4]int
		for _, q := range w.tell(t, p, &s, 16, nil) {
			cells[int(q.X[0]*4)][int(q.X[1]*4)]++
			if q.Initial || q.Work != 0 {
				t.Errorf("%s: %+v", kind, q)
			}
		}
		net := !slices.ContainsFunc(cells[:], func(row [4]int) bool { return row != [4]int{1, 1, 1, 1} })
		if net != (kind == "sobol") {
			t.Errorf("%s: cells %v", kind, cells)
		}
		r, err := p.Recommend()
		if err != nil || num.SquaredDistance(r.X, []float64{0.7, 0.7}) > 0.1 {
			t.Errorf("%s: recommended %v (%v)", kind, r.X, err)
		}
	}
}

// Learnt distributions take readings of variables that were left alone, and no
// others.
func TestLearntTakesFreeReadingsOnly(t *testing.T) {
	s := cvsSpec()
	s.Variables[1].Random.Kind, s.Variables[2].Random.Kind = space.Learnt, space.Learnt
	p := fresh(t, s)
	for i, c := range []struct {
		set   int
		valid bool
	}{{0, true}, {1, true}, {2, true}, {-1, true}, {0, false}} {
		x := []float64{0.1, 0.2 + 0.01*float64(i), 0.3 + 0.01*float64(i)}
		observe(t, p, Observation{Step: i + 1, ControlSet: c.set, X: x, Mean: 1, Variance: math.NaN(), Shots: 1, Valid: c.valid})
	}
	e := p.(*engine)
	// Set 0 leaves both alone, set 1 the last only, set 2 none; without control both
	// are free; what a failed step measured of them is true all the same.
	var got [][2]float64
	for _, r := range e.criterion.Random.Readings.Rows {
		got = append(got, [2]float64{r[1], r[2]})
		if !math.IsNaN(r[0]) {
			t.Errorf("a variable that is not learnt was recorded: %v", r)
		}
	}
	want := [][2]float64{{0.2, 0.3}, {math.NaN(), 0.31}, {0.23, 0.33}, {0.24, 0.34}}
	if len(got) != len(want) {
		t.Fatalf("readings %v, want %v", got, want)
	}
	for i := range want {
		for j := range want[i] {
			a, b := got[i][j], want[i][j]
			if math.Abs(a-b) > 1e-12 || math.IsNaN(a) != math.IsNaN(b) {
				t.Errorf("reading %d: %v, want %v", i, got[i], want[i])
			}
		}
	}
}

// The parts of Why add up, in the objective's unit. The tests of determinism of parts 0 and 1
// look at theirs.
func TestWhyAddsUp(t *testing.T) {
	w := story{scale: 40, offset: 900, shots: 5}
	all := casts()
	if !testsize.Whole() {
		all = storyCasts(4)
	}
	for name, s := range all {
		whyAddsUp(t, name, s, w.tell(t, fresh(t, s), &s, 12, nil))
	}
}

// The parts add up where a search was cut, where a proposal was never answered, and where the noise's
// process would take other nodes than the objective's.
func TestWhyAddsUpAfterCutAndLostSteps(t *testing.T) {
	all := casts()
	for _, name := range []string{"risky sets", "track several timescales", "track fit"} {
		s := all[name]
		p := fresh(t, s)
		whyAddsUp(t, name, s, story{scale: 1, shots: 5}.tell(t, p, &s, 16, func(step int) context.Context {
			p.(WorkLimiter).LimitWork(1)
			if step == 12 {
				propose(t, p) // nobody measures it
			}
			return context.Background()
		}))
	}
	// Penalties are none of the value: each setting was tried, and may be tried again only because of that.
	s := withCandidates(rahboSpec(1, 1), 4)
	s.Once, s.InitialSteps = true, 2
	whyAddsUp(t, "once", s, story{scale: 1, shots: 5}.tell(t, fresh(t, s), &s, 9, nil))
}

// whyAddsUp looks at the parts of Why of proposals by a specification.
func whyAddsUp(t *testing.T, name string, s Spec, proposals []Proposal) {
	t.Helper()
	r, _ := KindOf(s.Kind)
	s.complete(r)
	r.applyTo(&s)
	for _, q := range proposals {
		y := q.Why
		if q.Work == 0 {
			if !math.IsNaN(y.Value) {
				t.Errorf("%s, step %d: a step of the design explains %+v", name, q.Step, y)
			}
			continue
		}
		sum := y.Mean + y.Beta*y.SD
		if r.Risk && s.Risk > 0 {
			sum -= y.Risk
			if y.Risk != s.Risk*y.NoiseVariance || y.NoiseVariance < 0 {
				t.Errorf("%s, step %d: risk %g of variance %g", name, q.Step, y.Risk, y.NoiseVariance)
			}
		} else if !math.IsNaN(y.Risk) {
			t.Errorf("%s, step %d: risk %g", name, q.Step, y.Risk)
		}
		if math.Abs(sum-y.Value) > 1e-9*(1+math.Abs(sum)) {
			t.Errorf("%s, step %d: parts give %g, value %g", name, q.Step, sum, y.Value)
		}
	}
}
