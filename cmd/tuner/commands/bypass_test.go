package commands

import (
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/describe"
	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/configs"
)

// TestLongBypassIsRefused: each start of a process gives a bypass up to four hours, so an
// end further away than that would outlive them by restarts.
func TestLongBypassIsRefused(t *testing.T) {
	e, _, _, _ := hosttest.Env()
	now := e.Now()
	for _, c := range []struct {
		ends    time.Duration
		refused bool
	}{{-time.Hour, false}, {time.Hour, false}, {4 * time.Hour, false}, {4*time.Hour + time.Second, true}, {70 * 365 * 24 * time.Hour, true}} {
		b := configs.Bypass{Rule: 13, Who: "a", Why: "b", Until: now.Add(c.ends)}
		w := &setup.Setup{Config: &configs.Config{File: "oven.toml"}}
		w.Config.Safety.Bypasses = []configs.Bypass{{Rule: 6, Who: "a", Why: "b", Until: now}, b}
		err := refuseLongBypass(w, now)
		if (err != nil) != c.refused {
			t.Errorf("an end in %v: %v", c.ends, err)
		}
		if err != nil && (!strings.Contains(err.Error(), "safety.bypass.2.until") || !strings.Contains(err.Error(), "4h at most")) {
			t.Errorf("an end in %v is refused with %v", c.ends, err)
		}
		if words := describe.Bypass(b, now); strings.Contains(words, "tuner run refuses it") != c.refused {
			t.Errorf("an end in %v: %q", c.ends, words)
		}
	}
}
