package driverstest

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// patience is how long a check waits for what a device should do at once or
// soon. It is generous: it only passes where something is wrong, or where a
// listener's peer speaks seldom.
const patience = time.Minute

// Conform checks a device against the contract of package drivers; makeDevice
// gives a new one, closed, each time. The device is set within its declared
// limits, halted and closed, so makeDevice must not give one that must not move.
// A device with limits that it does not declare is only set to what it reads.
//
// It also checks that Close leaves no goroutine and no file descriptor behind, so
// the caller must not run other tests in parallel.
func Conform(t *testing.T, makeDevice func() drivers.Device) {
	t.Helper()
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			for _, problem := range c.problems(makeDevice, patience) {
				t.Error(problem)
			}
		})
	}
}

// check is one part of the contract.
type check struct {
	name string
	run  func(*subject)
}

// checks is the contract, in the order in which its failures are best read.
var checks = []check{
	{"open declares", checkDeclares},
	{"open again", checkOpenAgain},
	{"read", checkRead},
	{"read what there is not", checkReadUnknown},
	{"cancelled context", checkCancelled},
	{"listen", checkListen},
	{"write", checkWrite},
	{"write what must not be", checkBadWrites},
	{"halt", checkHalt},
	{"closed", checkClosed},
	{"close while reading", checkCloseWhileReading},
	{"close leaves nothing", checkLeavesNothing},
}

// subject is a device under one check.
type subject struct {
	make     func() drivers.Device
	patience time.Duration
	dev      drivers.Device
	channels []drivers.Channel
	found    []string
}

// problems runs the check on a new, open device.
func (c check) problems(makeDevice func() drivers.Device, patience time.Duration) []string {
	s := &subject{make: makeDevice, patience: patience}
	if s.open() {
		c.run(s)
		if err := s.dev.Close(); err != nil {
			s.add("Close: %v", err)
		}
	}
	return s.found
}

func (s *subject) add(format string, args ...any) {
	s.found = append(s.found, fmt.Sprintf(format, args...))
}

// open makes a device and opens it.
func (s *subject) open() bool {
	s.dev = s.make()
	channels, err := s.dev.Open(context.Background())
	if err != nil {
		s.add("Open: %v", err)
		return false
	}
	s.channels = channels
	return true
}

func (s *subject) names() []string {
	names := make([]string, len(s.channels))
	for i, c := range s.channels {
		names[i] = c.Name
	}
	return names
}

// within runs f, and adds a problem where it does not return in time.
func (s *subject) within(what string, f func()) {
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(s.patience):
		s.add("%s did not return within %v", what, s.patience)
	}
}

// absent is a name that no device has.
const absent = "no-such-channel"

func checkDeclares(s *subject) {
	if len(s.channels) == 0 {
		s.add("Open declares no channel")
	}
	seen := map[string]bool{}
	_, canSet := s.dev.(drivers.Actuator)
	for _, c := range s.channels {
		switch {
		case c.Name == "":
			s.add("a channel has no name")
		case seen[c.Name]:
			s.add("channel %q is declared twice", c.Name)
		case c.Access > drivers.ReadWrite:
			s.add("channel %q has the access %d", c.Name, c.Access)
		case c.Access == drivers.ReadWrite && !canSet:
			s.add("channel %q can be set, but the device is no Actuator", c.Name)
		case c.CanRelease && c.Access != drivers.ReadWrite:
			s.add("channel %q can be released but not set", c.Name)
		case math.IsInf(c.Min, 0) || math.IsInf(c.Max, 0) || math.IsInf(c.Safe, 0):
			s.add("channel %q has an infinite limit; NaN is for limits that are not known", c.Name)
		case c.Min >= c.Max:
			s.add("channel %q: min %v is not below max %v", c.Name, c.Min, c.Max)
		case c.Safe < c.Min || c.Safe > c.Max:
			s.add("channel %q: safe %v is not within %v to %v", c.Name, c.Safe, c.Min, c.Max)
		}
		seen[c.Name] = true
	}
}

func checkOpenAgain(s *subject) {
	before := s.channels
	if err := s.dev.Close(); err != nil {
		s.add("Close: %v", err)
	}
	again, err := s.dev.Open(context.Background())
	if err != nil {
		s.add("Open after Close: %v", err)
		return
	}
	if !slices.EqualFunc(before, again, sameChannel) {
		s.add("Open after Close declares %v where it was %v", again, before)
	}
}

// sameChannel compares two declarations; limits that are not known are equal.
func sameChannel(a, b drivers.Channel) bool {
	same := func(x, y float64) bool { return x == y || (math.IsNaN(x) && math.IsNaN(y)) }
	return a.Name == b.Name && a.Unit == b.Unit && a.Access == b.Access && a.CanRelease == b.CanRelease &&
		same(a.Min, b.Min) && same(a.Max, b.Max) && same(a.Safe, b.Safe)
}

// sound checks a reading in itself.
func (s *subject) sound(what string, r drivers.Reading, asked []string) {
	if r.At.IsZero() {
		s.add("%s has no time", what)
	}
	for name, v := range r.Values {
		switch {
		case !slices.Contains(asked, name):
			s.add("%s has a value for %q, which was not asked for", what, name)
		case math.IsNaN(v) || math.IsInf(v, 0):
			s.add("%s has %v for %q", what, v, name)
		}
	}
}

// firstValues reads until every channel had a value or patience ends; a sensor
// may have nothing new for a while.
func (s *subject) firstValues(channels []string) map[string]float64 {
	values := map[string]float64{}
	last := time.Time{}
	for began := time.Now(); time.Since(began) < s.patience && len(values) < len(channels); time.Sleep(5 * time.Millisecond) {
		r, err := s.dev.Read(context.Background(), channels)
		if err != nil {
			s.add("Read of %q: %v", channels, err)
			return values
		}
		s.sound("Read", r, channels)
		if r.At.Before(last) && !s.listens() {
			s.add("Read gave the time %v after %v", r.At, last)
		}
		last = r.At
		maps.Copy(values, r.Values)
	}
	return values
}

// listens reports whether the device speaks on its own; Read then gives values that
// came at different times.
func (s *subject) listens() bool {
	_, ok := s.dev.(drivers.Listener)
	return ok
}

func checkRead(s *subject) {
	values := s.firstValues(s.names())
	for _, name := range s.names() {
		if _, there := values[name]; !there {
			s.add("channel %q had no value within %v", name, s.patience)
		}
		one, err := s.dev.Read(context.Background(), []string{name})
		if err != nil {
			s.add("Read of %q alone: %v", name, err)
			continue
		}
		s.sound("Read of one channel", one, []string{name})
	}
	r, err := s.dev.Read(context.Background(), nil)
	if err != nil {
		s.add("Read of no channels: %v", err)
	}
	if len(r.Values) > 0 {
		s.add("Read of no channels gave %v", r.Values)
	}
}

func checkReadUnknown(s *subject) {
	if r, err := s.dev.Read(context.Background(), []string{s.channels[0].Name, absent}); err == nil {
		s.add("Read of %q, which does not exist, gave %v", absent, r.Values)
	}
	if _, err := s.dev.Read(context.Background(), s.names()); err != nil {
		s.add("after a Read of a channel that does not exist, Read: %v", err)
	}
}
