package brokers

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/cmd/tuner/trial"
	"github.com/labtuner/tuner/scripts/testsize"
)

// ages are those of the setpoints that came from a time on, of an instrument that checks
// nothing: arrival less sending, where the fastest one of a session took no time. It says how
// many were older than a second, and how old the oldest was.
func (l *tripLab) ages(from time.Time) (late int, oldest time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	began := map[string]time.Time{} // sessions, by the fastest setpoint
	for _, s := range l.set {
		at := s.at.Add(-s.sent)
		if b, known := began[s.session]; !known || at.Before(b) {
			began[s.session] = at
		}
	}
	for _, s := range l.set {
		age := s.at.Sub(began[s.session].Add(s.sent))
		if s.at.Before(from) || age < time.Second {
			continue
		}
		late++
		oldest = max(oldest, age)
	}
	return late, oldest
}

// stallCase is where messages are held, and how many setpoints may come late.
type stallCase struct {
	name string
	// channel are keys of the actuator's channel, confirm is how late it confirms.
	channel string
	confirm time.Duration
	// behind says that the instrument's cable is held, and not the tuner's.
	behind bool
	stall  time.Duration
	most   int
}

// TestStalledSetpoints holds what passes between the tuner and its broker, or between the
// broker and the instrument, for some seconds, and counts the setpoints of before that an
// instrument takes afterwards which looks neither at sent_ms nor at seq. Published: one for
// each channel, docs/safety.md; behind the broker, of a channel with a confirmation.
//
//	go test ./cmd/tuner/trial/brokers -run TestStalledSetpoints -v
func TestStalledSetpoints(t *testing.T) {
	t.Parallel()
	const confirmed = `confirm = { topic = "lab/ca/taken", timeout = "2s" }`
	for _, c := range []stallCase{
		{"before the broker, 5 s", "", -1, false, 5 * time.Second, 1},
		{"before the broker, 5 s, confirmed", confirmed, 0, false, 5 * time.Second, 1},
		{"before the broker, 10 s", "", -1, false, 10 * time.Second, 1},
		{"behind the broker, 10 s, confirmed", confirmed, 0, true, 10 * time.Second, 1},
		{"behind the broker, 10 s, not confirmed", "", -1, true, 10 * time.Second, -1}, // said to be without a bound
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.stall > 5*time.Second && c.channel == "" {
				testsize.Only(t)
			}
			var behind *cable
			l := newTripLab(t, c.confirm, &behind)
			dir := t.TempDir()
			text := fmt.Sprintf(tripFile, l.cable.address, "", c.channel, l.broker.URL)
			text = trial.WithKey(t, text, "write", `{ topic = "lab/ca/set", ttl = "3s" }`)
			text = trial.WithKey(t, text, "slew", "5.0\nlease = \"6s\"")
			if err := os.WriteFile(filepath.Join(dir, "trip.toml"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			run := trial.Command(t, dir, "run", "trip.toml")
			var says hosttest.Buffer
			run.Stdout, run.Stderr = &says, &says
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				_ = run.Process.Kill() // how it would end is not looked at here
				_ = run.Wait()         // its exit code is that of the signal
				if t.Failed() {
					t.Logf("tuner said:\n%s", says.String())
				}
			}()
			await := func(n int) {
				for began := time.Now(); l.count() < n; time.Sleep(20 * time.Millisecond) {
					if time.Since(began) > time.Minute {
						t.Fatalf("%d setpoints came, want %d", l.count(), n)
					}
				}
			}
			await(30)
			held := l.cable
			if c.behind {
				held = behind
			}
			held.stall(c.stall)
			released := time.Now()
			await(l.count() + 30)
			late, oldest := l.ages(released.Add(-time.Second / 10))
			t.Logf("| %s | %d late | oldest %.1f s | %s |", c.name, late, oldest.Seconds(), l.broker.Kind)
			if c.most >= 0 && late > c.most {
				t.Errorf("%d setpoints of before the stall came after it, the oldest after %v; at most %d", late, oldest, c.most)
			}
		})
	}
}
