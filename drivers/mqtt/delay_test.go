package mqtt

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers/mqtt/link"
)

// A sender whose clock differs from ours, runs faster or slower, and whose
// messages take a varying time. What late says is compared with the truth.
func TestPace(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, drift := range []float64{-1e-4, 0, 1e-4} {
		var p delayEstimate
		start := time.Unix(1e9, 0)
		const jitter = 20 * time.Millisecond
		for i := range 200_000 { // 11 days at one in 5 s, as leases are renewed
			sentAt := time.Duration(i) * 5 * time.Second
			travel := time.Duration(rng.Int64N(int64(jitter)))
			if rng.IntN(100) == 0 {
				travel += time.Duration(rng.Int64N(int64(time.Minute)))
			}
			sentMS := int64(sentAt.Seconds() * (1 + drift) * 1000)
			got := p.excess(start.Add(sentAt+travel), &sentMS)
			// Off by the fastest message's own travel, and by what creep and drift make
			// of the 5 s to 65 s since it.
			if off := (got - travel).Abs(); off > jitter+100*time.Millisecond {
				t.Fatalf("drift %v, message %d: late by %v, truly %v", drift, i, got, travel)
			}
		}
	}
}

// TestMaxDelay: a broker says that a client is gone after one and a half of keep_alive, and Mosquitto 2 looks every 5 s.
func TestMaxDelay(t *testing.T) {
	d := &Device{options: Options{Options: link.Options{KeepAlive: 4 * time.Second}}}
	if got, least := d.MaxDelay(), 6*time.Second+5*time.Second; got < least || got > least+2*time.Second {
		t.Errorf("%v, want %v to %v", got, least, least+2*time.Second)
	}
}

func TestPaceExtremes(t *testing.T) {
	var p delayEstimate
	at := time.Unix(0, 0)
	if got := p.excess(at, nil); got != 0 {
		t.Errorf("without sent_ms: %v", got)
	}
	far, none := int64(maxSeq), int64(0)
	if got := p.excess(at, &far); got != 0 {
		t.Errorf("the first: %v", got)
	}
	if got := p.excess(at.Add(time.Second), &none); got != 1e6*time.Second {
		t.Errorf("a sender whose time jumps back for ever: %v", got)
	}
	// At 2^53 ms, a float64 of seconds tells 2 ms apart.
	if got := p.excess(at.Add(2*time.Second), &far); (got - 2*time.Second).Abs() > 10*time.Millisecond {
		t.Errorf("the first again, 2 s later: %v", got)
	}
}
