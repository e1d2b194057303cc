package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/labtuner/tuner/loop/journal"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
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
		var legs []Leg
		for t := (Turn{Pair: 1}); t.Pair <= c.Pairs; {
			x := Leg{Compared: t.Next(o.Verify.Seed, c.Number)}
			x.Outcome = journal.Outcome{Mean: rng.NormFloat64() + slope*float64(len(legs)), Variance: math.NaN(), Shots: 1, Valid: true}
			if x.Side == journal.Recommended {
				x.Outcome.Mean += gain
			}
			legs = append(legs, x)
			t.After(x)
		}
		if studentTells(legs) {
			count["t"]++
		}
		v, err := o.Compare(c, legs)
		if err != nil || v.Pairs != 8 || len(legs) != 16 {
			t.Fatalf("seed %d: %+v, %v", seed, v, err)
		}
		count[v.Verdict]++
	}
	return count
}

// studentTells is the one-sided paired t test at the same level.
func studentTells(legs []Leg) bool {
	var d []float64
	for i := 0; i < len(legs); i += 2 {
		x := legs[i].Outcome.Mean - legs[i+1].Outcome.Mean
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
