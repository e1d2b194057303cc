package mqtt

import (
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers/driverstest/broker"
)

// A message of megabytes on a topic of ours costs the connection, not the memory, and
// the log says what it was.
func TestHugeMessage(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		d, said := opened(t, o)
		if err := v.Publish("lab/area", make([]byte, 3<<20), false); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if !strings.Contains(said.String(), "the broker sends a packet of 3145") {
			t.Errorf("the log says:\n%s", said)
		}
		if err := setCA(d, 1); err != nil {
			t.Errorf("a minute later: %v", err)
		}
		closed(t, d)
	})
}
