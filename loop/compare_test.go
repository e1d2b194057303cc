package loop

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/labtuner/tuner/loop/journal"
)

// campaign simulates comparisons of 8 pairs over many seeds: the recommended setting is
// better by gain, the noise of a step has standard deviation 1, and everything drifts by
// slope from step to step. It counts the verdicts, and as "t" how often Student's paired
// t test tells a gain.
func campaign(t *testing.T, seeds int, gain, slope float64) map[string]int {
	t.Helper()
	count := map[string]int{}
	c := journal.Comparison{Number: 1, Pairs: 8, Shots: 1}
	for seed := range seeds {
		o := Options{Verify: Verify{Pairs: 8, Seed: uint64(seed)}}
		rng := rand.New(rand.NewPCG(uint64(seed), 77))
		var legs []leg
		for t := (turn{pair: 1}); t.pair <= c.Pairs; {
			x := leg{Compared: t.next(o.Verify.Seed, c.Number)}
			x.outcome = journal.Outcome{Mean: rng.NormFloat64() + slope*float64(len(legs)), Variance: math.NaN(), Shots: 1, Valid: true}
			if x.Side == journal.Recommended {
				x.outcome.Mean += gain
			}
			legs = append(legs, x)
			t.after(x)
		}
		if studentTells(legs) {
			count["t"]++
		}
		v, err := o.compare(c, legs)
		if err != nil || v.Pairs != 8 || len(legs) != 16 {
			t.Fatalf("seed %d: %+v, %v", seed, v, err)
		}
		count[v.Verdict]++
	}
	return count
}

// studentTells is the one-sided paired t test at the same level.
func studentTells(legs []leg) bool {
	var d []float64
	for i := 0; i < len(legs); i += 2 {
		x := legs[i].outcome.Mean - legs[i+1].outcome.Mean
		if legs[i].Side == journal.Starting {
			x = -x
		}
		d = append(d, x)
	}
	mean, sd := stat.MeanStdDev(d, nil)
	n := float64(len(d))
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Survival(mean/(sd/math.Sqrt(n))) <= VerifyLevel
}

// Where there is no difference, one is told in at most one of twenty comparisons on each
// side, and it is told where there is one. The first is what a level means: of 2000 seeds
// at most the 99.9th percentile of the binomial distribution may fail it. With drift the
// turning order keeps it (and loses some power).
//
//	TUNER_VERDICTS=60000 go test ./loop -run TestVerdictsOverSeeds -v
func TestVerdictsOverSeeds(t *testing.T) {
	seeds := 2000
	if s := os.Getenv("TUNER_VERDICTS"); s != "" {
		if _, err := fmt.Sscan(s, &seeds); err != nil {
			t.Fatalf("TUNER_VERDICTS: %v", err)
		}
	}
	most := 0.0
	for b := (distuv.Binomial{N: float64(seeds), P: VerifyLevel}); b.CDF(most) < 0.999; most++ {
	}
	for _, slope := range []float64{0, 0.3, 10} {
		count := campaign(t, seeds, 0, slope)
		t.Logf("no gain, drift of %v a step: %v of %d, at most %v are allowed", slope, count, seeds, most)
		if float64(count[VerdictBetter]) > most || float64(count[VerdictWorse]) > most {
			t.Errorf("no gain, drift of %v: %v", slope, count)
		}
		if slope == 0 && (count[VerdictBetter] < seeds/40 || count[VerdictWorse] < seeds/40) { // half the level: a test that never speaks would pass too
			t.Errorf("no gain: %v: the test is far more careful than its level", count)
		}
	}
	// A gain is shown about as often as by the t test, which is the most powerful where, as
	// here, the noise is normal: in at least 90 of 100 of its cases.
	for _, gain := range []float64{1, 2} {
		count := campaign(t, seeds, gain, 0)
		t.Logf("a gain of %v: %v of %d", gain, count, seeds)
		if 10*count[VerdictBetter] < 9*count["t"] || count[VerdictWorse] > seeds/100 {
			t.Errorf("a gain of %v: %v", gain, count)
		}
	}
}

// The same through the whole loop: 200 runs on a meter that shows nothing but noise end
// with "no improvement shown", but for as many as the level lets through; on a meter with
// a slope they all find it.
func TestRunsDoNotFoolThemselves(t *testing.T) {
	const seeds = 200
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		t.Setenv("TMPDIR", "/dev/shm") // on a disk, most of the time would be spent on syncing 200 journals
	}
	most := 0.0
	for b := (distuv.Binomial{N: seeds, P: VerifyLevel}); b.CDF(most) < 0.999; most++ {
	}
	for _, slope := range []float64{0, 1} {
		count, runs := map[string]int{}, seeds
		if slope > 0 {
			runs = 20
		}
		for seed := range runs {
			tr := searched(t)
			tr.opt.Objective.Shots, tr.opt.Variables[0].Settle, tr.opt.Verify.Seed = 1, 0, uint64(seed)
			tr.opt.Variables[0].Limits.SlewUp, tr.opt.Variables[0].Limits.SlewDown = 1000, 1000
			rng := rand.New(rand.NewPCG(uint64(seed), 78))
			tr.rig.meter = func(at map[string]float64) float64 { return slope*at["a"] + rng.NormFloat64() }
			result, err := tr.run(t, context.Background())
			if err != nil || result.Verification == nil {
				t.Fatalf("seed %d: %+v, %v", seed, result, err)
			}
			count[result.Verification.Verdict]++
			if err := tr.deps.Journal.Close(); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("slope %v: %v of %d", slope, count, runs)
		if slope == 0 && (float64(count[VerdictBetter]) > most || float64(count[VerdictWorse]) > most) {
			t.Errorf("without a gain: %v, at most %v of each are allowed", count, most)
		}
		if slope == 1 && count[VerdictBetter] != runs { // a gain of 6 in a noise of 1
			t.Errorf("with a gain of 6: %v", count)
		}
	}
}
