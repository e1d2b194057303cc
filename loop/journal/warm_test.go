package journal_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/journaltest"
)

func TestWarmRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	j, err := Create(path, journaltest.DemoRun(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	sources := []WarmSource{
		{File: "old.db", SHA256: "ab", UID: "run-1", Dropped: 2, Taken: []WarmObservation{
			{X: []float64{0.1, 20}, Mean: 1.5, Variance: journaltest.NaN, Shots: 1}, {X: []float64{-0.3, 21}, Mean: -2, Variance: 0.25, Shots: 7}}},
		{File: "none.csv", SHA256: "cd"},
	}
	if err := j.Warm(sources); err != nil {
		t.Fatal(err)
	}
	r := journaltest.MustRead(t, path)
	if d := r.Verify(); d != nil {
		t.Errorf("damage: %v", d)
	}
	got, err := r.Warm()
	if err != nil || fmt.Sprint(got) != fmt.Sprint(sources) {
		t.Errorf("got %v, %v", got, err)
	}
	if err := journaltest.Perform(j, 0); err != nil {
		t.Fatal(err)
	}
	if err := j.Warm(sources); err == nil || !strings.Contains(err.Error(), "comes before the first") {
		t.Errorf("after the first step: %v", err)
	}
}

func TestWarmRefuses(t *testing.T) {
	_, j := journaltest.Demo(t, 0)
	for want, x := range map[string][]float64{"has 1 values": {1}, "no finite setting": {1, journaltest.NaN}} {
		err := j.Warm([]WarmSource{{File: "old.db", Taken: []WarmObservation{{X: x, Mean: 1, Shots: 1}}}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", x, err)
		}
	}
}
