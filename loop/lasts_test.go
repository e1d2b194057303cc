package loop

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// TestSetpointsLastForTheLease: a device that keeps a setpoint only for a time is told the
// lease with every one, and is written again within a third of it; without a lease the
// run is refused before anything is written.
func TestSetpointsLastForTheLease(t *testing.T) {
	tr := newTrial(t)
	tr.rig.lasts = true
	tr.policy.proposals = proposeAll(3, 6)
	tr.opt.Variables[0].Limits.Lease = 3 * time.Second
	if _, err := tr.run(t, context.Background()); err != nil {
		t.Fatal(err)
	}
	writes := tr.rig.calls("write")
	for i, w := range writes {
		if w.lasts["a"] != 3*time.Second {
			t.Fatalf("write %d lasts for %v", i, w.lasts)
		}
		if i > 0 && w.at-writes[i-1].at > time.Second {
			t.Errorf("nothing was written for %v", w.at-writes[i-1].at)
		}
	}
	if len(writes) < 10 {
		t.Errorf("%d writes show nothing", len(writes))
	}

	tr = newTrial(t)
	tr.rig.lasts = true
	tr.policy.proposals = proposeAll(3)
	if _, err := tr.run(t, context.Background()); !errors.Is(err, ErrInstrument) || !strings.Contains(err.Error(), "declare safety.variable.a.lease") || len(tr.rig.calls("write")) > 0 {
		t.Errorf("without a lease: %v", err)
	}
}
