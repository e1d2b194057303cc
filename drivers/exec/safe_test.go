package exec

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// The driver's own gates before a setpoint, and what a safe one finds there. Those of the
// loop are in loop/makesafe_test.go.
//
//	gate                              setpoint                            safe setpoint
//	answer to another that is due     waits for it: one is outstanding    the same
//	waited for longer than it may     does not leave                      has no such time, and leaves
//	answer that does not come         the child has exit_timeout to end   is killed after 0.5 s
//	child that has ended              not sent                            not sent: the loop has another started
//	child that is busy                refused                             refused: the loop writes it again

func TestSafeBehindAnAnswerThatIsDue(t *testing.T) {
	t.Parallel()
	for _, safe := range []bool{false, true} {
		d, open, asked := gated(t)
		ctx, preempt := context.WithCancelCause(context.Background())
		go func() {
			asked()
			preempt(drivers.ErrPreempted)
		}()
		if _, err := d.Read(ctx, []string{"temp"}); err == nil {
			t.Fatal("a read that was overtaken has an answer")
		}
		s := drivers.Setpoints{Values: map[string]float64{"power": 0}, Safe: safe}
		if !safe {
			s.SendBy = time.Now()
		}
		written := make(chan error, 1)
		go func() {
			_, err := d.Write(context.Background(), s)
			written <- err
		}()
		select {
		case err := <-written:
			t.Errorf("safe %v: written before the answer that was due: %v", safe, err)
			continue
		case <-time.After(never):
		}
		open()
		err := <-written
		if safe && err != nil || !safe && (!errors.Is(err, drivers.ErrLate) || !errors.Is(err, drivers.ErrNotSent)) {
			t.Errorf("safe %v: %v", safe, err)
		}
	}
}

func TestSafeToAChildThatCannotTakeIt(t *testing.T) {
	for behaviour, want := range map[string]error{"dies": drivers.ErrUnavailable, "refuses": drivers.ErrRefused} {
		for _, safe := range []bool{false, true} {
			d, _ := device(t, options(behaviour))
			if _, err := d.Open(context.Background()); err != nil {
				t.Fatal(err)
			}
			s := drivers.Setpoints{Values: map[string]float64{"power": 0}, Safe: safe}
			_, err := d.Write(context.Background(), s)
			_, again := d.Write(context.Background(), s)
			if !errors.Is(err, want) || behaviour == "dies" && !errors.Is(again, drivers.ErrNotSent) || behaviour == "refuses" && !errors.Is(again, want) {
				t.Errorf("%s, safe %v: %v, then %v", behaviour, safe, err, again)
			}
			_ = d.Close() // what a child that died says at its end is not looked at here
		}
	}
}

// A child that takes no safe value is not given its exit_timeout: the next one is to be told.
func TestHangingChildIsHurried(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		safe bool
		most time.Duration
	}{{true, shortExitTime + 5*time.Second}, {false, time.Hour}} {
		o := options("deaf")
		o.ExitTimeout = 8 * time.Second
		d, _ := device(t, o)
		if _, err := d.Open(context.Background()); err != nil {
			t.Fatal(err)
		}
		d.options.ReplyTimeout = never
		if _, err := d.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"power": 0}, Safe: c.safe}); !errors.Is(err, drivers.ErrProtocol) {
			t.Fatalf("a deaf child: %v", err)
		}
		began := time.Now()
		if err := d.Close(); !errors.Is(err, errKilled) {
			t.Errorf("safe %v: %v", c.safe, err)
		}
		if took := time.Since(began); took > c.most || !c.safe && took < o.ExitTimeout-time.Second {
			t.Errorf("safe %v: it was killed after %v", c.safe, took)
		}
	}
}
