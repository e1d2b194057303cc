package serial

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/port"
	"github.com/labtuner/tuner/drivers/serial/port/porttest"
)

var (
	unplugs    = flag.Int("unplugs", 200, "how many times the unplug campaign pulls the plug")
	troubles   = flag.Int("troubles", 60, "how many runs the trouble campaign makes")
	pythonFlag = flag.String("python", "", "a Python interpreter with pyserial and pymodbus, to compare with their servers")
	seedFlag   = flag.Uint64("seed", 0, "seed of the campaigns; 0: another each time")
)

// seeded gives a generator and tells its seed, which -seed takes back.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("the campaign's seed is %d (go test -run '%s' -seed %d)", seed, t.Name(), seed)
	return rand.New(rand.NewPCG(seed, 0x5e71a1))
}

// socket is an instrument on a pseudo-terminal that can be pulled out and plugged
// in again, under one path.
type socket struct {
	t    *testing.T
	path string
	in   func() port.Instrument
	// cut, if not 0, is after how many more bytes to the instrument the plug comes
	// out.
	cut int

	mu    sync.Mutex
	p     *port.PTY
	ended chan struct{}
}

// plug makes a new pseudo-terminal and lets a new instrument answer on it.
func (s *socket) plug(cut int) {
	s.t.Helper()
	p, err := port.OpenPTY()
	if err == nil {
		err = p.Link(s.path)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	s.p, s.cut, s.ended = p, cut, make(chan struct{})
	ended := s.ended
	s.mu.Unlock()
	go s.answer(p, s.in(), ended)
}

// answer is the instrument; it ends when the plug comes out.
func (s *socket) answer(p *port.PTY, in port.Instrument, ended chan struct{}) {
	defer close(ended)
	ctx, buf := context.Background(), make([]byte, 512)
	for {
		n, gone, err := p.Read(ctx, buf)
		if err != nil {
			return
		}
		if gone {
			in.Reset()
			continue
		}
		data := buf[:n]
		s.mu.Lock()
		out := s.cut > 0 && s.cut <= n
		if out {
			data = data[:s.cut]
		}
		s.cut -= len(data)
		s.mu.Unlock()
		said, err := in.Hear(ctx, data)
		if err != nil {
			return
		}
		if out {
			// What was said may be cut as well.
			if len(said) > 1 {
				p.Say(said[:len(said)/2])
			}
			p.Close()
			return
		}
		if p.Say(said) != nil {
			return
		}
	}
}

// pull takes the plug out and waits for the instrument to notice.
func (s *socket) pull() {
	s.mu.Lock()
	p, ended := s.p, s.ended
	s.mu.Unlock()
	p.Close() // it may be out already
	<-ended
}

// TestUnplugCampaign pulls the plug of a real pseudo-terminal at random places:
// between calls, and within a command to the instrument. Every unplug must be
// noticed by a call that fails with ErrUnavailable and not ErrClosed, no call may
// give a wrong value or write one that was not asked for, the next plug must work,
// and at the end no goroutine and no descriptor may be left.
//
// The nightly size is go test ./drivers/serial -run UnplugCampaign -unplugs 100000.
func TestUnplugCampaign(t *testing.T) {
	random := seeded(t)
	goroutines, files := runtime.NumGoroutine(), porttest.OpenFiles(t)
	o, channels := abOptions()
	o.Port = filepath.Join(t.TempDir(), "port")
	o.ReplyTimeout, o.ReadTimeout = 2*time.Second, 2*time.Millisecond
	o.ReconnectMin, o.ReconnectMax = time.Microsecond, time.Microsecond
	c := newCounter()
	s := &socket{t: t, path: o.Port, in: func() port.Instrument { return speak(t, o, channels, c) }}
	s.plug(0)
	dev, err := New(o, channels, drivers.Env{Clock: wall{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dev.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	noticed, want := 0, 1.0 // a's value
	for n := range *unplugs {
		if random.IntN(2) == 0 {
			s.pull()
		} else {
			s.mu.Lock()
			s.cut = 1 + random.IntN(12)
			s.mu.Unlock()
		}
		// The plug comes out within these calls at the latest: each sends 3 bytes or more.
		asked := want
		for range 8 {
			var err error
			if random.IntN(2) == 0 {
				var r drivers.Reading
				r, err = dev.Read(t.Context(), []string{"a", "b"})
				a, there := r.Values["a"]
				if v, also := r.Values["b"]; there && a != want && a != asked || also && v != 2 {
					t.Fatalf("unplug %d: a is %v, not %v or %v; b is %v", n, a, want, asked, v)
				}
			} else {
				asked = float64(random.IntN(200000)-100000) / 1000
				if err = set(dev, "a", asked); err == nil {
					want = asked
				}
			}
			if err != nil {
				if !errors.Is(err, drivers.ErrUnavailable) || errors.Is(err, drivers.ErrClosed) {
					t.Fatalf("unplug %d: %v", n, err)
				}
				noticed++
				break
			}
		}
		s.pull()
		s.plug(0)
		// What the last write became is seen when the instrument is back.
		got := back(t, dev)
		if got != want && got != asked {
			t.Fatalf("unplug %d: a is %v; it was %v, and %v was asked for", n, got, want, asked)
		}
		want = got
	}
	if noticed != *unplugs {
		t.Errorf("%d of %d unplugs were noticed", noticed, *unplugs)
	}
	if err := dev.Close(); err != nil {
		t.Error(err)
	}
	s.pull()
	porttest.NoLeaks(t, goroutines, files)
}

// back reads a until the connection stands again.
func back(t *testing.T, dev *Device) float64 {
	t.Helper()
	var err error
	for limit := time.Now().Add(30 * time.Second); time.Now().Before(limit); {
		var r drivers.Reading
		if r, err = dev.Read(t.Context(), []string{"a"}); err == nil {
			return r.Values["a"]
		}
		time.Sleep(dev.Wait())
	}
	t.Fatalf("no connection within 30 s: %v", err)
	return 0
}

// moody makes an instrument answer in order but badly: late, twice, damaged, cut,
// or not at all.
func moody(f *porttest.Fake, random *rand.Rand) {
	hear, free := f.Hear, time.Now()
	f.Hear = func(data []byte) []byte {
		answer := hear(data)
		delay := time.Duration(1+random.IntN(30)) * time.Millisecond // of two timers at one time either may be first
		switch random.IntN(12) {
		case 0:
			answer = nil
		case 1: // too late, or nearly
			delay = 700*time.Millisecond + time.Duration(random.IntN(900))*time.Millisecond
		case 2:
			answer = append(answer, answer...)
		case 3:
			if len(answer) > 0 {
				answer = answer[:random.IntN(len(answer))]
			}
		case 4:
			if len(answer) > 0 {
				answer[random.IntN(len(answer))] = "\x00\xff,_xN"[random.IntN(6)]
			}
		}
		free = latest(free, time.Now()).Add(delay)
		if len(answer) > 0 {
			time.AfterFunc(time.Until(free), func() { f.Say(answer) })
		}
		return nil
	}
}

// TestTroubleCampaign lets a moody instrument answer, in virtual time. a and b have
// answers of the same form, so nothing but the driver's care tells them apart: no
// value of one may ever be taken for one of the other, nor an old one for a new
// one; and a write that is not idempotent is never sent twice.
//
// A digit that a damaged line turns into another cannot be noticed by anybody: the
// protocol has no check sum. moody therefore damages with characters that no number
// has.
func TestTroubleCampaign(t *testing.T) {
	t.Parallel()
	random := seeded(t)
	good := 0
	for n := range *troubles {
		seed := random.Uint64()
		synctest.Test(t, func(t *testing.T) { good += trouble(t, seed) })
		if t.Failed() {
			t.Fatalf("run %d", n)
		}
	}
	t.Logf("%d runs gave %d values", *troubles, good)
	if good < *troubles {
		t.Error("hardly a value came through; the campaign shows nothing")
	}
}

// trouble is one run; it returns how many values came.
func trouble(t *testing.T, seed uint64) int {
	random := rand.New(rand.NewPCG(seed, 1))
	o, channels := abOptions()
	c := newCounter()
	c.values["a"], c.values["b"] = 1001, 2001 // a counts within 1001..1999, b within 2001..2999
	channels[0].Min, channels[0].Max, channels[0].Safe = nil, nil, nil
	b := &bench{}
	b.set(func() *porttest.Fake { return porttest.NewFake(t, hearing(t, speak(t, o, channels, c))) })
	o.Open = b.open
	dev, err := New(o, channels, drivers.Env{Clock: wall{}})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	if _, err := dev.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	moody(b.last(), random)
	b.set(func() *porttest.Fake {
		f := porttest.NewFake(t, hearing(t, speak(t, o, channels, c)))
		moody(f, random)
		return f
	})
	values, sent := 0, 0
	for range 20 {
		if random.IntN(4) == 0 {
			sent++
			set(dev, "a", 1001+float64(sent))
		}
		least, now := c.values["a"], c.values["b"]
		r, err := dev.Read(t.Context(), []string{"a", "b"})
		if err != nil && !errors.Is(err, drivers.ErrUnavailable) && !errors.Is(err, drivers.ErrRefused) {
			t.Errorf("%v", err)
		}
		if v, there := r.Values["a"]; there && v != least {
			t.Errorf("a is %v, the instrument has %v", v, least)
		}
		if v, there := r.Values["b"]; there && v != now {
			t.Errorf("b is %v, the instrument has %v", v, now)
		}
		values += len(r.Values)
		time.Sleep(dev.Wait())
	}
	if got := len(c.written("a")); got > sent {
		t.Errorf("%d writes were asked for and %d sent", sent, got)
	}
	time.Sleep(time.Minute) // what is still on its way arrives
	return values
}
