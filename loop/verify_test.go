package loop

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
)

// searched is a trial whose script plays three steps, and recommends 8 V against a start
// at 2 V; it is compared with 8 pairs.
func searched(t *testing.T) *trial {
	tr := newTrial(t)
	tr.policy.proposals = proposeAll(3, 8, 5)
	tr.policy.found = policy.Recommendation{X: []float64{8}, Estimate: policy.Estimate{Mean: 80, LowerBound: 79}}
	tr.opt.Variables[0].Start = 2
	tr.opt.Stop = plan.Stop{Steps: 3}
	tr.opt.Verify = plan.Verify{Pairs: 8, Seed: 11}
	return tr
}

// last is the setting that the rig was left at.
func (tr *trial) last() float64 { return tr.rig.knobs["a"].target }

func TestVerifyMeasuresBothInTurn(t *testing.T) {
	tr := searched(t)
	var path string
	tr.deps.Journal, path = book(t, &tr.opt)
	result, err := Run(context.Background(), tr.opt, tr.deps)
	if err != nil {
		t.Fatal(err)
	}
	v := result.Verification
	if v == nil || v.Verdict != plan.VerdictBetter || v.Pairs != 8 || v.Dropped != 0 || v.Steps != 16 {
		t.Fatalf("got %+v, %q", v, result.Unverified)
	}
	// The meter is 10 a and has no noise: the gain is 60 in each pair, to the readback's
	// tolerance of 0.01 V on either side, and only 1 of 2^8 choices of signs is as good.
	if math.Abs(float64(v.Gain.Value)-60) > 0.2 || v.Gain.P != 1.0/256 || v.Left != journal.Recommended || tr.last() != 8 {
		t.Errorf("gain %+v, left %q at %v", v.Gain, v.Left, tr.last())
	}
	// The search's own numbers are as without the comparison, and the policy learnt three steps.
	if result.Steps != 3 || result.Spent != 3 || v.Spent != 16 || len(tr.policy.seen) != 3 || result.Reason != control.ReasonSteps {
		t.Errorf("%d steps, spent %v and %v, learnt %d", result.Steps, result.Spent, v.Spent, len(tr.policy.seen))
	}
	sides := map[int]string{}
	for _, s := range steps(t, path) {
		if c := s.Decision.Compared; c.Comparison > 0 {
			want := map[journal.Side]float64{journal.Recommended: 8, journal.Starting: 2}[c.Side]
			if s.Decision.Applied[0] != want || s.Decision.ControlSet != 0 || s.Outcome.Shots != 3 {
				t.Errorf("step %d, %+v: %+v", s.Decision.Step, c, s.Decision)
			}
			sides[c.Pair] += string(c.Side[0])
		}
	}
	turned := 0
	for pair := 1; pair <= 8; pair += 2 {
		if two := sides[pair] + sides[pair+1]; two != "rssr" && two != "srrs" {
			t.Errorf("pairs %d and %d were measured in the order %q", pair, pair+1, two)
		} else if two == "srrs" {
			turned++
		}
	}
	if turned == 0 || turned == 4 { // by this seed; a lot that never turns would be no lot
		t.Errorf("%d of 4 blocks begin with the start", turned)
	}
}

// steps lists what a journal holds.
func steps(t *testing.T, path string) []journal.Step {
	t.Helper()
	r, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if d := r.Verify(); d != nil {
		t.Fatalf("damage: %v", d)
	}
	var all []journal.Step
	for s, err := range r.Steps() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// The side that is better is found whatever the sense, and the instrument is left there.
func TestVerifyLeavesTheBetterSetting(t *testing.T) {
	for _, c := range []struct {
		slope    float64
		minimize bool
		verdict  string
		at       float64
	}{
		{10, false, plan.VerdictBetter, 8}, {-10, false, plan.VerdictWorse, 2},
		{-10, true, plan.VerdictBetter, 8}, {10, true, plan.VerdictWorse, 2}, {0, false, plan.VerdictNone, 8}, {0, true, plan.VerdictNone, 8},
	} {
		tr := searched(t)
		tr.opt.Objective.Minimize = c.minimize
		tr.rig.meter = func(at map[string]float64) float64 { return c.slope * at["a"] }
		result, err := tr.run(t, context.Background())
		if err != nil {
			t.Fatal(err)
		}
		v := result.Verification
		if v.Verdict != c.verdict || tr.last() != c.at {
			t.Errorf("%+v: %+v, left at %v", c, v, tr.last())
		}
		if better := float64(v.Gain.Value) > 0; better != (c.verdict == plan.VerdictBetter) {
			t.Errorf("%+v: gain %v", c, v.Gain.Value)
		}
		if got := float64(v.Recommended.Mean); math.Abs(got-8*c.slope) > 0.2 {
			t.Errorf("%+v: the mean there is %v in the user's sense", c, got)
		}
		words := v.Summary("W")
		for verdict, begin := range map[string]string{plan.VerdictBetter: "the recommended setting is better", plan.VerdictWorse: "the starting setting is better",
			plan.VerdictNone: "no improvement shown"} {
			if strings.HasPrefix(words, begin) != (verdict == c.verdict) {
				t.Errorf("%+v: in words %q", c, words)
			}
		}
	}
}

// A setting that was lucky once is not told as better, however good its reading was.
func TestVerifyDoesNotBelieveTheLuckiestReading(t *testing.T) {
	tr := searched(t)
	rng := rand.New(rand.NewPCG(3, 3))
	measured := 0
	tr.rig.meter = func(map[string]float64) float64 {
		if measured++; measured >= 4 && measured <= 6 { // the second step of the search
			return 1000
		}
		return rng.NormFloat64()
	}
	result, err := tr.run(t, context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if tr.outcomes[1].Mean < 900 {
		t.Fatalf("the lucky step gave %v", tr.outcomes[1].Mean)
	}
	if v := result.Verification; v.Verdict != plan.VerdictNone || math.Abs(float64(v.Recommended.Mean)) > 2 {
		t.Errorf("got %+v", v)
	}
}

// Where there is risk, the mean less the risk times the variance counts: here the start
// has the greater mean, and scatters far more.
func TestVerifyOfRisk(t *testing.T) {
	tr := searched(t)
	tr.opt.Objective.Shots = 6
	tr.opt.Verify.Risk = 1
	rng := rand.New(rand.NewPCG(5, 6))
	tr.rig.meter = func(at map[string]float64) float64 {
		if at["a"] > 5 {
			return 10 + 0.2*rng.NormFloat64() // 10 - 0.04
		}
		return 11 + 3*rng.NormFloat64() // 11 - 9
	}
	result, err := tr.run(t, context.Background())
	if err != nil {
		t.Fatal(err)
	}
	v := result.Verification
	if v.Verdict != plan.VerdictBetter || v.SD == nil || v.SD.P > plan.VerifyLevel || v.Mean == nil || v.Mean.Value > 0 {
		t.Fatalf("got %+v, sd %+v, mean %+v", v, v.SD, v.Mean)
	}
	// Of 8 steps of 6 shots: a standard deviation has a relative error of 1/sqrt(80).
	if got := float64(v.Start.SD); math.Abs(got/3-1) > 4/math.Sqrt(80) || math.Abs(float64(v.Recommended.SD)/0.2-1) > 4/math.Sqrt(80) {
		t.Errorf("standard deviations %v and %v, they are 0.2 and 3", v.Recommended.SD, got)
	}
	if want := float64(v.Mean.Value) + float64(v.Start.SD*v.Start.SD-v.Recommended.SD*v.Recommended.SD); math.Abs(float64(v.Gain.Value)-want) > 1e-9 {
		t.Errorf("gain %v, mean and variances give %v", v.Gain.Value, want)
	}
}

func TestVerifyTakesTwoShotsForRisk(t *testing.T) {
	tr := searched(t)
	tr.opt.Objective.Shots = 1
	tr.opt.Verify.Risk = 0.5
	result, err := tr.run(t, context.Background())
	if err != nil || result.Verification == nil || result.Verification.Pairs != 8 || tr.outcomes[0].Shots != 1 || tr.outcomes[3].Shots != 2 {
		t.Errorf("got %+v, %v", result.Verification, err)
	}
}

// What drifts along does not pass for a gain, because pairs are near in time and turned.
func TestVerifyThroughDrift(t *testing.T) {
	tr := searched(t)
	rng := rand.New(rand.NewPCG(8, 8))
	tr.rig.meter = func(map[string]float64) float64 {
		return 50*tr.clock.Now().Sub(rigStart).Seconds() + rng.NormFloat64()
	}
	result, err := tr.run(t, context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if v := result.Verification; v.Verdict != plan.VerdictNone {
		t.Errorf("got %s, from %+v to %+v", v.Summary("W"), v.Start, v.Recommended)
	}
}

func TestNothingToVerify(t *testing.T) {
	for why, change := range map[string]func(*trial){
		"there is none":             func(tr *trial) { tr.policy.noData = true },
		"it is the starting set":    func(tr *trial) { tr.opt.Variables[0].Start = 8 },
		"stop.verify is 0":          func(tr *trial) { tr.opt.Verify = plan.Verify{Why: "stop.verify is 0"} },
		"cost more than the 11":     func(tr *trial) { tr.opt.Verify.Cost = 11 }, // six pairs of steps of 1 cost 12
		"take longer than the 10s":  func(tr *trial) { tr.opt.Verify.Time = 10 * time.Second },
		"at the start is not known": func(tr *trial) { tr.opt.Variables[0].Start, tr.opt.Variables[0].Boot = math.NaN(), plan.RestOff },
	} {
		tr := searched(t)
		change(tr)
		result, err := tr.run(t, context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if result.Verification != nil || !strings.Contains(result.Unverified, why) || result.Steps != 3 || len(tr.outcomes) != 3 {
			t.Errorf("%s: %+v, %q", why, result.Verification, result.Unverified)
		}
	}
}

// What can be told before the search is told then, and never of a comparison that may
// take place.
func TestUnverifiable(t *testing.T) {
	for _, c := range []struct {
		change func(*plan.Options)
		want   string
	}{
		{func(*plan.Options) {}, ""},
		{func(o *plan.Options) { o.Verify.Cost = 12 }, ""}, // six pairs of steps of 1 cost 12
		{func(o *plan.Options) { o.Verify.Cost = 11.9 }, "a pair costs 2 at least, so 6 cost more than the 11.9"},
		{func(o *plan.Options) { o.Cost.PerShot, o.Verify.Cost, o.Objective.Shots = 1, 24, 2 }, "a pair costs 6 at least"},
		{func(o *plan.Options) { o.Cost.PerShot, o.Verify.Cost, o.Verify.Risk, o.Objective.Shots = 1, 35, 1, 1 }, "a pair costs 6 at least"}, // two shots for the scatter
		{func(o *plan.Options) { o.Verify.Time, o.Variables[0].Settle = 12*time.Second, time.Second }, ""},
		{func(o *plan.Options) { o.Verify.Time, o.Variables[0].Settle = 12*time.Second, 1001*time.Millisecond }, "a pair takes 2.002s to settle at least"},
		{func(o *plan.Options) { o.Verify.Cost, o.Verify.Time, o.Variables[0].Settle = 0, 0, time.Hour }, ""},
		{func(o *plan.Options) { o.Verify = plan.Verify{Why: "stop.verify is 0"} }, "stop.verify is 0"},
	} {
		tr := searched(t)
		tr.opt.Cost.PerShot = 0
		c.change(&tr.opt)
		if got := tr.opt.Unverifiable(); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%+v: %q, want %q", tr.opt.Verify, got, c.want)
		}
	}
}

// A budget that pays for seven pairs of the eight has seven.
func TestVerifyWithinItsBudget(t *testing.T) {
	tr := searched(t)
	tr.opt.Verify.Cost = 15
	result, err := tr.run(t, context.Background())
	if err != nil || result.Verification == nil || result.Verification.Pairs != 7 || result.Verification.Spent != 14 {
		t.Errorf("got %+v, %q, %v", result.Verification, result.Unverified, err)
	}
}

// A step of the comparison without data costs its pair, not the run.
func TestVerifyDropsPairs(t *testing.T) {
	tr := searched(t)
	measured := 0
	tr.rig.meter = func(at map[string]float64) float64 {
		if len(tr.outcomes) == 6 { // the fourth leg
			measured++
			return math.NaN()
		}
		return 10 * at["a"]
	}
	tr.opt.Objective.Timeout = 500 * time.Millisecond
	result, err := tr.run(t, context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if v := result.Verification; measured == 0 || v.Dropped != 1 || v.Pairs != 7 || v.Planned != 8 || v.Verdict != plan.VerdictBetter {
		t.Errorf("got %+v", v)
	}
}

// comparing is a run of a real policy with a comparison at its end.
func comparing(t *testing.T) *trial {
	t.Helper()
	tr := newTrial(t)
	p, err := policy.New(oneKnobSpec())
	if err != nil {
		t.Fatal(err)
	}
	tr.deps.Policy = p
	tr.opt.Variables[0].Start = 2
	tr.opt.Stop = plan.Stop{Steps: 6}
	tr.opt.Verify = plan.Verify{Pairs: 6, Seed: 5}
	return tr
}

// The process dies at any point of the comparison: the next one goes on with it. A pair
// that was cut through is measured again, whole pairs are not; what comes out is what
// came out of a run that nobody cut, because here equal settings give equal values.
func TestVerifyResumes(t *testing.T) {
	whole := comparing(t)
	whole.deps.Journal, _ = book(t, &whole.opt)
	want, err := Run(context.Background(), whole.opt, whole.deps)
	if err != nil || want.Verification == nil {
		t.Fatalf("%+v, %v", want, err)
	}
	for _, c := range []struct {
		failpoint string
		at        int // leg
		legs      int // of both sessions
	}{
		{"decision-durable", 1, 13}, {"outcome-durable", 1, 13}, {"decision-durable", 2, 14},
		{"outcome-durable", 2, 12}, {"intent-durable", 7, 13}, {"outcome-durable", 12, 12},
	} {
		path, o := crashComparing(t, c.failpoint, c.at)
		past, result := resume(t, path, o, oneKnobSpec())
		v := result.Verification
		if v == nil || v.Pairs != 6 || *v.Gain != *want.Verification.Gain || v.Steps != c.legs || result.Steps != 6 || result.Spent != 6 {
			t.Errorf("%s of leg %d: past of %d steps, result of %d: %+v %q", c.failpoint, c.at, past.Steps, result.Steps, v, result.Unverified)
			continue
		}
		if done := replayed(t, path, o, oneKnobSpec(), 0); done.First != nil || done.Steps != 6 || done.Compared != c.legs {
			t.Errorf("%s of leg %d: %d steps derive, then %+v", c.failpoint, c.at, done.Steps, done.First)
		}
	}
}

// crashComparing copies the journal when the failpoint is passed in a leg.
func crashComparing(t *testing.T, failpoint string, at int) (string, plan.Options) {
	t.Helper()
	tr := comparing(t)
	var path string
	tr.deps.Journal, path = book(t, &tr.opt)
	copied := filepath.Join(t.TempDir(), "crashed.db")
	tr.deps.Failpoint = func(name string) {
		if name != failpoint || len(tr.outcomes)+1 != 6+at {
			return
		}
		for _, part := range []string{"", "-wal"} {
			content, err := os.ReadFile(path + part)
			if err == nil {
				err = os.WriteFile(copied+part, content, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := Run(context.Background(), tr.opt, tr.deps); err != nil {
		t.Fatal(err)
	}
	return copied, tr.opt
}

// A resumed run whose search goes on, because it may take more steps now, compares what
// it recommends then.
func TestVerifyAgainAfterMoreSteps(t *testing.T) {
	path, o := crashComparing(t, "outcome-durable", 3)
	o.Stop.Steps = 9
	_, result := resume(t, path, o, oneKnobSpec())
	if result.Steps != 9 || result.Verification == nil || result.Verification.Pairs != 6 {
		t.Fatalf("%d steps, %+v", result.Steps, result.Verification)
	}
	if done := replayed(t, path, o, oneKnobSpec(), 0); done.First != nil {
		t.Errorf("%d steps derive, then %+v", done.Steps, done.First)
	}
	order := ""
	for _, s := range steps(t, path) {
		order += map[bool]string{true: "v", false: "s"}[s.Decision.Compared.Comparison > 0]
	}
	if !strings.HasPrefix(order, "ssssssvvvsssv") {
		t.Errorf("the steps were %s", order)
	}
}

func TestReplayFindsAnotherComparison(t *testing.T) {
	tr := comparing(t)
	var path string
	tr.deps.Journal, path = book(t, &tr.opt)
	if _, err := Run(context.Background(), tr.opt, tr.deps); err != nil {
		t.Fatal(err)
	}
	if done := replayed(t, path, tr.opt, oneKnobSpec(), 0); done.First != nil || done.Steps != 6 || done.Compared != 12 {
		t.Fatalf("%d steps derive, then %+v", done.Steps, done.First)
	}
	other := tr.opt
	other.Verify.Seed++
	if done := replayed(t, path, other, oneKnobSpec(), 0); done.First == nil || done.First.What != "turn in the comparison" {
		t.Errorf("another seed: %+v", done.First)
	}
	other = tr.opt
	other.Verify.Risk = 0.5
	if done := replayed(t, path, other, oneKnobSpec(), 0); done.First == nil || done.First.What != "result of the comparison" {
		t.Errorf("another risk: %+v", done.First)
	}
}

// An interrupt in the comparison leaves it to be gone on with.
func TestVerifyInterrupted(t *testing.T) {
	tr := comparing(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tr.deps.Failpoint = func(name string) {
		if name == "intent-durable" && len(tr.outcomes) == 10 {
			cancel()
		}
	}
	var path string
	tr.deps.Journal, path = book(t, &tr.opt)
	result, err := Run(ctx, tr.opt, tr.deps)
	if !errors.Is(err, context.Canceled) || result.Verification != nil || result.Reason != control.ReasonInterrupted {
		t.Fatalf("%+v, %v", result, err)
	}
	if err := tr.deps.Journal.Close(); err != nil {
		t.Fatal(err)
	}
	_, result = resume(t, path, tr.opt, oneKnobSpec())
	if result.Verification == nil || result.Verification.Pairs != 6 {
		t.Errorf("resumed: %+v, %q", result.Verification, result.Unverified)
	}
	if done := replayed(t, path, tr.opt, oneKnobSpec(), 0); done.First != nil {
		t.Errorf("%d steps derive, then %+v", done.Steps, done.First)
	}
	if last := steps(t, path); !slices.ContainsFunc(last, func(s journal.Step) bool { return s.Outcome.Problem == journal.ProblemInterrupted }) {
		t.Error("no step was interrupted")
	}
}
