package exec

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// lasting is a heater that keeps a setpoint only for the time that comes with it.
type lasting struct {
	heater
	told map[string]time.Duration
}

func (l *lasting) Open(ctx context.Context) ([]drivers.Channel, error) {
	channels, err := l.heater.Open(ctx)
	for i := range channels {
		channels[i].Lasts = channels[i].Access == drivers.ReadWrite
	}
	return channels, err
}

func (l *lasting) Write(ctx context.Context, s drivers.Setpoints) (drivers.Reading, error) {
	l.told = s.For
	return l.heater.Write(ctx, s)
}

// TestServeLasts: the hello says that a channel lasts, and a write's time reaches the
// device.
func TestServeLasts(t *testing.T) {
	dev := &lasting{}
	answers, err := serveAll(t, dev, `{"id":1,"op":"write","values":{"power":2},"for_ms":{"power":1500}}`+"\n")
	if err != nil || len(answers) != 1 || !strings.Contains(answers[0], `"ok":true`) {
		t.Fatalf("answers %v, error %v", answers, err)
	}
	if dev.told["power"] != 1500*time.Millisecond {
		t.Errorf("the device was told %v", dev.told)
	}
}

// TestHelloLasts: only what can be set can last.
func TestHelloLasts(t *testing.T) {
	hello := func(access, lasts string) (hello, error) {
		return parseHello([]byte(`{"protocol":"tuner-exec/1","name":"x","channels":[{"name":"p","unit":"W","access":"` + access + `","lasts":` + lasts + `}]}`))
	}
	if h, err := hello("rw", "true"); err != nil || !h.channels[0].Lasts {
		t.Errorf("%+v, %v", h, err)
	}
	if h, err := hello("rw", "false"); err != nil || h.channels[0].Lasts {
		t.Errorf("%+v, %v", h, err)
	}
	for _, bad := range [][2]string{{"r", "true"}, {"rw", `"yes"`}} {
		if _, err := hello(bad[0], bad[1]); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
}
