package loop

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/record"
)

// TestLittleSpaceWarnsThenHolds: the free space falls, and comes back.
func TestLittleSpaceWarnsThenHolds(t *testing.T) {
	tr := patientTrial(t, 3, 6, 9)
	tr.opt.Outages.MinFree = 50e6
	tr.opt.Objective.Shots = 200 // 20 s a step
	tr.opt.Objective.Timeout = time.Minute
	asked := 0
	tr.deps.Panel = control.NewPanel("test")
	shown := map[string]bool{}
	tr.rig.aux = func() float64 {
		if s := tr.deps.Panel.Status(); s != nil {
			shown[fmt.Sprint(s.Disk.Held, " ", float64(s.Disk.Free), " ", s.Disk.Problem != "")] = true
			if len(s.Devices) != 1 || s.Devices[0].Out || s.Devices[0].Retries != 3 {
				t.Errorf("devices %+v", s.Devices)
			}
		}
		return 300
	}
	tr.deps.Space = func() (uint64, error) {
		asked++
		switch at := tr.clock.Now().Sub(rigStart); {
		case at < 15*time.Second:
			return 500e6, nil
		case at < 25*time.Second:
			return 80e6, nil
		case at < 35*time.Second:
			return 0, errors.New("the disk does not say")
		case at < 5*time.Minute:
			return 49e6, nil
		}
		return 60e6, nil
	}
	res, err := tr.run(t, context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.policy.seen) != 3 || !tr.policy.seen[2].Valid {
		t.Errorf("learnt %+v", tr.policy.seen)
	}
	for _, words := range []string{"80.0 MB are free on the disk of the journal; with less than 50.0 MB the run is held",
		"49.0 MB are free on the disk of the journal, less than min_free = 50.0 MB: the run is held until there is more",
		"held: record: 49.0 MB are free", "60.0 MB are free on the disk again", "the hold is over"} {
		if tr.told(words) != 1 {
			t.Errorf("%q was told %d times", words, tr.told(words))
		}
	}
	for _, state := range []string{"false 5e+08 false", "false 8e+07 false", "true 4.9e+07 true", "false 6e+07 false"} {
		if !shown[state] {
			t.Errorf("the status never showed %q: %v", state, shown)
		}
	}
	if want := int(res.Elapsed/record.SpaceEvery) + 1; asked < want-1 || asked > want+1 {
		t.Errorf("asked %d times in %v", asked, res.Elapsed)
	}
}
