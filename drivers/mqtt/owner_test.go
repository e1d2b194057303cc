package mqtt

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/driverstest/broker"
	"github.com/labtuner/tuner/drivers/mqtt/link"
)

// wrongClock is another computer's.
type wrongClock struct{ ahead time.Duration }

func (c wrongClock) Now() time.Time { return time.Now().Add(c.ahead) }

// shortTTL is how long words of owners last in these tests.
const shortTTL = 2 * time.Second

// owned makes a device of the doser's channels that claims a topic for a run of a computer,
// whose clock is an hour off for every letter of its name.
func owned(t *testing.T, url, topic, run string) *Device {
	t.Helper()
	o := optionsFor(url)
	o.Claims = []string{topic, topic + "/second"}
	env, _ := environment()
	env.Clock = wrongClock{time.Duration(len(run)) * time.Hour}
	env.Owner = &drivers.Owner{Run: run, Journal: "/runs/" + run + ".db", Host: "host-" + run, User: "anna", PID: 4711, Machine: run, Since: time.Date(2026, 3, 1, 21, 4, 5, 0, time.UTC)}
	d, err := New(o, doserChannels(), env)
	if err != nil {
		t.Fatal(err)
	}
	d.owner.ttl = shortTTL
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func opens(d *Device) error {
	_, err := d.Open(context.Background())
	return err
}

// crash ends a device's connection as the end of its process does.
func crash(d *Device) {
	d.owner.stop()
	d.owner.done.Wait()
	d.owner.stop = nil
	d.mu.Lock()
	l := d.link
	d.mu.Unlock()
	l.Close()
}

// TestOneOwner: while one tuner drives a topic, a second is refused and told who; another topic
// is free; who looks or makes safe is let in. A graceful end makes room at once, a crash once
// its word has run out, whatever the two clocks say.
func TestOneOwner(t *testing.T) {
	t.Parallel()
	b := broker.Start(t)
	serve(t, optionsFor(b.URL), &doser{})
	first := owned(t, b.URL, "lab/ca/set", "oven")
	if err := opens(first); err != nil {
		t.Fatal(err)
	}
	err := opens(owned(t, b.URL, "lab/ca/set", "second"))
	if !errors.Is(err, drivers.ErrUnavailable) {
		t.Fatalf("a second owner: %v", err)
	}
	for _, want := range []string{`topic "lab/ca/set" is driven by another tuner: run "oven" of anna (pid 4711) on host-oven since 2026-03-01T21:04:05Z, journal /runs/oven.db`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	if err := opens(owned(t, b.URL, "lab/other/set", "other")); err != nil {
		t.Errorf("another topic: %v", err)
	}
	beside, _ := newDevice(t, optionsFor(b.URL), doserChannels()...)
	if err := opens(beside); err != nil {
		t.Errorf("without an owner, as make-safe: %v", err)
	}
	if err := beside.Halt(context.Background()); err != nil {
		t.Errorf("make-safe beside it: %v", err)
	}
	time.Sleep(2 * shortTTL) // it is renewed for as long as the run goes on
	if err := opens(owned(t, b.URL, "lab/ca/set", "third")); err == nil {
		t.Fatal("its word ran out while it was there")
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	next := owned(t, b.URL, "lab/ca/set", "next")
	next.owner.ttl = ownerTTLMost // so long that a slow machine is not taken for a wait
	if err := opens(next); err != nil {
		t.Fatal(err)
	}
	if err := next.Close(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	next = owned(t, b.URL, "lab/ca/set", "next but one")
	if err := opens(next); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took >= ownerTTLMost {
		t.Errorf("after a graceful end the next one waited %v", took)
	}
	crash(next)
	began = time.Now()
	last := owned(t, b.URL, "lab/ca/set", "after-the-crash")
	if err := opens(last); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < shortTTL {
		t.Errorf("after a crash the next one waited %v only: its owner might be there", took)
	}
}

// TestOwnerOfThisComputer: the word of a process of this computer that has ended counts no more.
func TestOwnerOfThisComputer(t *testing.T) {
	t.Parallel()
	b := broker.Start(t)
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	first := owned(t, b.URL, "lab/ca/set", "oven")
	first.owner.me.PID, first.owner.me.Machine = ended.Process.Pid, "here"
	first.owner.ttl = time.Minute
	if err := opens(first); err != nil {
		t.Fatal(err)
	}
	crash(first)
	for _, c := range []struct {
		machine string
		ok      bool
	}{{"elsewhere", false}, {"here", true}} {
		d := owned(t, b.URL, "lab/ca/set", "second")
		d.owner.me.Machine, d.owner.me.PID = c.machine, os.Getpid()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		_, err := d.Open(ctx)
		cancel()
		if (err == nil) != c.ok {
			t.Errorf("at the computer %q: %v", c.machine, err)
		}
	}
}

// TestOwnersAtOnce: of several that begin at the same moment exactly one becomes the owner.
func TestOwnersAtOnce(t *testing.T) {
	t.Parallel()
	b := broker.Start(t)
	for round := range 6 {
		var group sync.WaitGroup
		errs := make([]error, 4)
		for i := range errs {
			d := owned(t, b.URL, "lab/ca/set", strings.Repeat("x", i+1))
			group.Go(func() { errs[i] = opens(d) })
			defer d.Close()
		}
		group.Wait()
		owners := 0
		for _, err := range errs {
			if err == nil {
				owners++
			} else if !strings.Contains(err.Error(), "is driven by another tuner") {
				t.Errorf("round %d: %v", round, err)
			}
		}
		if round == 0 && owners != 1 || owners > 1 {
			t.Errorf("round %d: %d owners, %v", round, owners, errs)
		}
	}
}

// TestOwnerLost: whose actuators were taken over while it was away writes nothing but what makes
// safe, until the other has gone.
func TestOwnerLost(t *testing.T) {
	t.Parallel()
	b := broker.Start(t)
	plant := &doser{}
	serve(t, optionsFor(b.URL), plant)
	d := owned(t, b.URL, "lab/ca/set", "oven")
	if err := opens(d); err != nil {
		t.Fatal(err)
	}
	set := drivers.Setpoints{Values: map[string]float64{"ca": 10}}
	eventually(t, "it writes", func() bool { _, err := d.Write(context.Background(), set); return err == nil })
	word, err := json.Marshal(ownerWord{Owner: drivers.Owner{Run: "taker", Host: "far"}, ID: "another", Seq: 9, TTLMS: 3000})
	if err != nil {
		t.Fatal(err)
	}
	d.owner.mu.Lock()
	d.owner.mine = map[string]*link.Connection{} // as after a new connection
	d.owner.mu.Unlock()
	d.owner.take(link.Arrived{Topic: ownerTopic("lab/ca/set"), Payload: word, Retained: true, At: d.env.Clock.Now(), From: &link.Connection{}})
	eventually(t, "it notices", func() bool {
		_, err := d.Write(context.Background(), set)
		return errors.Is(err, drivers.ErrNotSent) && errors.Is(err, drivers.ErrUnavailable) && strings.Contains(err.Error(), `run "taker"`)
	})
	safe := drivers.Setpoints{Values: map[string]float64{"ca": 0}, Safe: true}
	if _, err := d.Write(context.Background(), safe); err != nil {
		t.Errorf("a safe value: %v", err)
	}
	eventually(t, "it writes again once the other has gone", func() bool { _, err := d.Write(context.Background(), set); return err == nil })
}

// unacknowledged is a connection on which the broker's words on messages get lost (PUBACK, of four bytes).
type unacknowledged struct{ net.Conn }

func (u unacknowledged) Read(p []byte) (int, error) {
	for {
		n, err := u.Conn.Read(p)
		if err != nil || n == 0 || p[0]>>4 != 4 {
			return n, err
		}
	}
}

// TestFirstWordIsNotAwaitedForEver: a broker that does not answer the first word of an owner ends the start.
func TestFirstWordIsNotAwaitedForEver(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		o.Claims = []string{"lab/ca/set"}
		o.Dial = func(ctx context.Context, u *url.URL) (net.Conn, error) {
			c, err := v.Dial(ctx, u)
			return unacknowledged{c}, err
		}
		env, _ := environment()
		env.Owner = &drivers.Owner{Run: "a", Machine: "a"}
		d, err := New(o, doserChannels(), env)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := opens(d); !errors.Is(err, drivers.ErrUnavailable) || time.Since(began) > o.ConnectTimeout {
			t.Errorf("opened after %v: %v", time.Since(began), err)
		}
		closed(t, d)
	})
}
