package kills

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
)

// compareKillPairs is how many pairs a comparison of the campaign measures.
const compareKillPairs = 6

// comparer is a heater whose search is over after six steps.
func comparer() victim {
	v := heater()
	v.file = strings.Replace(v.file, "steps = 1000000", "steps = 6\nverify = 6\nverify_cost = 1000.0\nverify_time = \"1h\"", 1)
	v.failpoints = append(v.failpoints, "comparison-durable", "verdict-durable")
	return v
}

// TestCompareKill kills tuner run again and again while it compares the recommended
// setting with the starting one, at every failpoint and at any instant, until the
// comparison is ended. However often it was killed, each pair counts once, both of its
// halves were measured by one process one after the other, and the verdict, its gain and
// its p-value are those that this test counts from the recorded steps by itself. Every
// second run is one whose search set-best has ended.
//
//	TUNER_COMPARE_KILLS=500 go test ./cmd/tuner/trial/kills -run TestCompareKill -v -timeout 60m
func TestCompareKill(t *testing.T) {
	t.Parallel()
	size := campaignSize(t, "TUNER_COMPARE_KILLS", 8)
	r := rand.New(rand.NewPCG(campaignSeed(t), 2))
	runs, legs, torn := 0, 0, 0
	var tally killTally
	for tally.kills < size {
		c := newCampaign(t, r, comparer())
		c.search(runs%2 == 1)
		for ended := false; !ended; {
			point, life := "", time.Duration(r.IntN(1000))*time.Millisecond
			if r.IntN(4) > 0 {
				point = passed(c.failpoints[tally.kills%len(c.failpoints)], 1+r.IntN(4))
				life = 4 * time.Minute // where it is not passed so often, the run ends
			}
			if tally.kills >= size {
				point, life = "", 4*time.Minute
			}
			e := c.runUntil(c.dir, point, life)
			if e.killed {
				tally.kills++
			}
			if e.atPoint {
				name, _, _ := strings.Cut(point, "@")
				tally.die(name, 1)
			}
			if !e.killed && !strings.Contains(e.says, `"type":"result"`) {
				t.Fatalf("it ended by itself: %s", e.says)
			}
			c.hear(slices.DeleteFunc(e.lines, func(line string) bool { return !strings.Contains(line, `"type":"step"`) }))
			c.checkWitness(point)
			ended = c.checkCompared(&legs, &torn)
			if t.Failed() {
				t.Fatalf("after %d kills, the last at %q: kept in %s", tally.kills, point, keepFolder(t, c.dir))
			}
		}
		runs++
	}
	t.Logf("%d kills of %d comparisons, %d at a failpoint: %d measurements, %d of pairs that were cut through and measured again; every pair counted once, every verdict as counted from the record",
		tally.kills, runs, tally.atPoint, legs, torn)
	tally.checkPlaces(t, comparer().failpoints)
	if torn == 0 || tally.atPoint == 0 {
		t.Error("no pair was cut through")
	}
}

// search brings a run to the end of its search, or has someone end it.
func (c *campaign) search(setBest bool) {
	c.t.Helper()
	lines, _ := c.runAndKill(c.dir, "outcome-durable@6", 2*time.Minute)
	if c.hear(lines); !setBest {
		return
	}
	j, err := journal.Open(filepath.Join(c.dir, "kill.db"), journal.Options{})
	if err != nil {
		c.t.Fatal(err)
	}
	if err := j.Ordered(journal.Command{Name: control.CommandSetBest}, journal.Answer{OK: true, Code: control.CodeOK}); err != nil {
		c.t.Error(err)
	}
	if err := j.Close(); err != nil {
		c.t.Error(err)
	}
}

// checkCompared looks at the journal after a kill, and says whether the run has ended;
// then it counts the comparison.
func (c *campaign) checkCompared(legs, torn *int) (ended bool) {
	c.t.Helper()
	r, err := journal.OpenReader(filepath.Join(c.dir, "kill.db"))
	if err != nil {
		c.t.Fatal(err)
	}
	defer r.Close()
	if d := r.Verify(); d != nil {
		c.t.Errorf("damage: %v", d)
	}
	c.checkSteps(r)
	results, err := r.ComparisonResults()
	if err != nil || len(results) > 1 {
		c.t.Errorf("%d results of one comparison, %v", len(results), err)
	}
	status, err := r.Status()
	if err != nil || status.Finished && len(results) != 1 {
		c.t.Errorf("%+v with %d results, %v", status, len(results), err)
	}
	if len(results) == 1 { // a verdict is durable only when all of it is
		all, whole := c.countPairs(r)
		if status.Finished {
			*legs, *torn = *legs+all, *torn+all-2*len(whole)
		}
		c.checkVerdict(results[0], whole)
	}
	return status.Finished
}

// countPairs counts the pairs on record by the rules of docs/explanation/verified.md: a pair is whole where
// one process has measured both sides, one directly after the other. It gives the number
// of measurements, and the gain of each pair by its number.
func (c *campaign) countPairs(r *journal.Reader) (all int, whole map[int]float64) {
	c.t.Helper()
	whole = map[int]float64{}
	var first *journal.Step // the half of a pair
	for s, err := range r.Steps() {
		if err != nil {
			c.t.Fatal(err)
		}
		d := s.Decision.Compared
		if d.Comparison == 0 {
			continue
		}
		all++
		if _, there := whole[d.Pair]; there {
			c.t.Errorf("step %d measures pair %d again, which was whole", s.Decision.Step, d.Pair)
		}
		if !s.Concluded || !s.Outcome.Valid {
			first = nil
			continue
		}
		if first == nil || first.Session != s.Session || first.Decision.Compared.Pair != d.Pair {
			half := s
			first = &half
			continue
		}
		a, b := first.Outcome.Mean, s.Outcome.Mean
		if first.Decision.Compared.Side == d.Side {
			c.t.Errorf("step %d measures %s twice", s.Decision.Step, d.Side)
		}
		if d.Side == journal.Recommended {
			a, b = b, a
		}
		whole[d.Pair], first = a-b, nil
	}
	return all, whole
}

// checkVerdict counts the sign-flip test by hand.
func (c *campaign) checkVerdict(v journal.ComparisonResult, whole map[int]float64) {
	c.t.Helper()
	sum := 0.0
	for pair := 1; pair <= compareKillPairs; pair++ {
		if _, there := whole[pair]; !there {
			c.t.Errorf("pair %d is not whole, and there is a verdict", pair)
		}
		sum += whole[pair]
	}
	asGreat := 0
	for signs := range 1 << compareKillPairs {
		flipped := 0.0
		for pair, gain := range whole {
			flipped += gain * float64(1-2*(signs>>(pair-1)&1))
		}
		// Sums of the same numbers in another order differ by their rounding.
		if flipped >= sum-1e-9*math.Abs(sum) {
			asGreat++
		}
	}
	p := float64(asGreat) / (1 << compareKillPairs)
	want := plan.VerdictNone
	if p <= plan.VerifyLevel {
		want = plan.VerdictBetter
	}
	gain := sum / compareKillPairs
	if v.Pairs != compareKillPairs || math.Abs(v.Gain-gain) > 1e-9*math.Abs(gain) || math.Abs(v.P-p) > 1e-12 || v.Verdict != want {
		c.t.Errorf("the verdict is %+v; counted from the record: %q, %d pairs, gain %g, p = %g", v, want, len(whole), gain, p)
	}
}
