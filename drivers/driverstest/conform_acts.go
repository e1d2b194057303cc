package driverstest

import (
	"context"
	"errors"
	"maps"
	"math"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/labtuner/tuner/drivers"
)

func checkCancelled(s *subject) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s.within("Read under a cancelled context", func() {
		if _, err := s.dev.Read(ctx, s.names()); !errors.Is(err, context.Canceled) {
			s.add("Read under a cancelled context: %v, which does not wrap context.Canceled", err)
		}
	})
	if a, good := s.goodWrite(); good.Values != nil {
		s.within("Write under a cancelled context", func() {
			if _, err := a.Write(ctx, good); !errors.Is(err, context.Canceled) {
				s.add("Write under a cancelled context: %v, which does not wrap context.Canceled", err)
			}
		})
	}
	if _, err := s.dev.Read(context.Background(), s.names()); err != nil {
		s.add("after a call under a cancelled context, Read: %v", err)
	}
}

// checkListen opens the device a second time, since a sink is set before Open.
func checkListen(s *subject) {
	if !s.listens() {
		return
	}
	if err := s.dev.Close(); err != nil {
		s.add("Close: %v", err)
	}
	s.dev = s.make()
	heard := make(chan drivers.Reading, 64)
	s.dev.(drivers.Listener).Listen(func(r drivers.Reading) {
		select {
		case heard <- r:
		default: // a sink does not block
		}
	})
	if _, err := s.dev.Open(context.Background()); err != nil {
		s.add("Open: %v", err)
		return
	}
	select {
	case r := <-heard:
		s.sound("what a listener says", r, s.names())
		if len(r.Values) == 0 {
			s.add("a listener said a reading without values")
		}
	case <-time.After(s.patience):
		s.add("a listener said nothing within %v", s.patience)
	}
}

// goodWrite gives the device as an Actuator and a write that it must take: every
// channel that can be set, to the middle of its limits, or to what it reads where
// it declares none.
func (s *subject) goodWrite() (drivers.Actuator, drivers.Setpoints) {
	a, ok := s.dev.(drivers.Actuator)
	if !ok {
		return nil, drivers.Setpoints{}
	}
	values := map[string]float64{}
	for _, c := range s.channels {
		if c.Access != drivers.ReadWrite || c.Dose {
			continue // a dose would add
		}
		values[c.Name] = (c.Min + c.Max) / 2
		if math.IsNaN(values[c.Name]) {
			read, there := s.firstValues([]string{c.Name})[c.Name]
			if !there {
				s.add("channel %q declares no limits and had no value within %v", c.Name, s.patience)
				return a, drivers.Setpoints{}
			}
			values[c.Name] = read
		}
	}
	if len(values) == 0 {
		return a, drivers.Setpoints{}
	}
	return a, drivers.Setpoints{Values: values}
}

func checkWrite(s *subject) {
	a, good := s.goodWrite()
	if good.Values == nil {
		return
	}
	given := maps.Clone(good.Values)
	r, err := a.Write(context.Background(), good)
	if err != nil {
		s.add("Write of %v: %v", good.Values, err)
		return
	}
	s.sound("the readback of Write", r, s.names())
	if !maps.Equal(given, good.Values) {
		s.add("Write changed its argument from %v to %v", given, good.Values)
	}
	for _, c := range s.channels {
		if !c.CanRelease {
			continue
		}
		others := maps.Clone(good.Values)
		delete(others, c.Name)
		if _, err := a.Write(context.Background(), drivers.Setpoints{Values: others, Release: []string{c.Name}}); err != nil {
			s.add("Write that releases %q: %v", c.Name, err)
		}
	}
	if _, err := a.Write(context.Background(), drivers.Setpoints{}); err != nil {
		s.add("Write of nothing: %v", err)
	}
}

// badWrites lists writes that must fail, by what is wrong with them.
func (s *subject) badWrites(good map[string]float64) map[string]drivers.Setpoints {
	bad := map[string]drivers.Setpoints{
		"of a channel that does not exist":          {Values: map[string]float64{absent: 1}},
		"that releases a channel that there is not": {Release: []string{absent}},
	}
	for _, c := range s.channels {
		value := func(v float64) drivers.Setpoints {
			return drivers.Setpoints{Values: map[string]float64{c.Name: v}}
		}
		if c.Access != drivers.ReadWrite {
			bad["of "+c.Name+", which is read-only"] = value(0)
			bad["that releases "+c.Name+", which is read-only"] = drivers.Setpoints{Release: []string{c.Name}}
			continue
		}
		bad["of NaN to "+c.Name] = value(math.NaN())
		bad["of +Inf to "+c.Name] = value(math.Inf(1))
		bad["of -Inf to "+c.Name] = value(math.Inf(-1))
		if !math.IsNaN(c.Max) {
			bad["of "+c.Name+" above its max"] = value(c.Max + max(1, math.Abs(c.Max)))
		}
		if !math.IsNaN(c.Min) {
			bad["of "+c.Name+" below its min"] = value(c.Min - max(1, math.Abs(c.Min)))
		}
		if !c.CanRelease {
			bad["that releases "+c.Name+", which cannot be"] = drivers.Setpoints{Release: []string{c.Name}}
		} else {
			bad["that sets and releases "+c.Name] = drivers.Setpoints{
				Values: map[string]float64{c.Name: good[c.Name]}, Release: []string{c.Name}}
		}
	}
	return bad
}

func checkBadWrites(s *subject) {
	a, good := s.goodWrite()
	if a == nil {
		return
	}
	bad := s.badWrites(good.Values)
	for _, what := range slices.Sorted(maps.Keys(bad)) {
		if _, err := a.Write(context.Background(), bad[what]); err == nil {
			s.add("a Write %s was taken", what)
		}
	}
	if good.Values == nil {
		return
	}
	late := good
	late.SendBy = time.Unix(1, 0)
	if _, err := a.Write(context.Background(), late); !errors.Is(err, drivers.ErrLate) || !errors.Is(err, drivers.ErrNotSent) {
		s.add("a Write that was to leave long ago: %v, which does not wrap ErrLate and ErrNotSent", err)
	}
	if _, err := a.Write(context.Background(), good); err != nil {
		s.add("after refused writes, a good Write: %v", err)
	}
}

func checkHalt(s *subject) {
	a, good := s.goodWrite()
	if a == nil {
		return
	}
	if err := a.Halt(context.Background()); err != nil {
		s.add("Halt right after Open: %v", err)
	}
	if good.Values != nil {
		if _, err := a.Write(context.Background(), good); err != nil {
			s.add("Write after Halt: %v", err)
		}
	}
	for range 2 { // it is idempotent
		if err := a.Halt(context.Background()); err != nil {
			s.add("Halt: %v", err)
		}
	}
	if _, err := s.dev.Read(context.Background(), s.names()); err != nil {
		s.add("Read after Halt: %v", err)
	}
}

func checkClosed(s *subject) {
	for range 2 { // it is idempotent
		if err := s.dev.Close(); err != nil {
			s.add("Close: %v", err)
		}
	}
	if _, err := s.dev.Read(context.Background(), s.names()); err == nil {
		s.add("Read of a closed device gives no error")
	}
	a, ok := s.dev.(drivers.Actuator)
	if !ok {
		return
	}
	for _, c := range s.channels {
		if c.Access == drivers.ReadWrite {
			value := (c.Min + c.Max) / 2
			if math.IsNaN(value) {
				value = 0
			}
			if _, err := a.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{c.Name: value}}); err == nil {
				s.add("Write of %q to a closed device gives no error", c.Name)
			}
		}
	}
	if err := a.Halt(context.Background()); err == nil {
		s.add("Halt of a closed device claims to be confirmed")
	}
}

func checkCloseWhileReading(s *subject) {
	var reading sync.WaitGroup
	reading.Go(func() {
		for {
			if _, err := s.dev.Read(context.Background(), s.names()); err != nil {
				return
			}
		}
	})
	time.Sleep(20 * time.Millisecond) // so that Close meets a call under way
	s.within("Close during a Read", func() {
		if err := s.dev.Close(); err != nil {
			s.add("Close during a Read: %v", err)
		}
	})
	s.within("Read after Close from another goroutine", reading.Wait)
}

func checkLeavesNothing(s *subject) {
	cycle := func() {
		if !s.open() {
			return
		}
		if _, err := s.dev.Read(context.Background(), s.names()); err != nil {
			s.add("Read: %v", err)
		}
		if err := s.dev.Close(); err != nil {
			s.add("Close: %v", err)
		}
	}
	if err := s.dev.Close(); err != nil {
		s.add("Close: %v", err)
	}
	cycle() // what is made once, such as the runtime's poller, is no leak
	goroutines, files := runtime.NumGoroutine(), openFiles()
	for range 3 {
		cycle()
	}
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		g, f := runtime.NumGoroutine(), openFiles()
		if g <= goroutines && f <= files {
			return
		}
		if time.Since(began) > s.patience {
			stacks := make([]byte, 1<<16)
			s.add("after three openings and closings there are %d goroutines where there were %d, and %d open files where there were %d:\n%s",
				g, goroutines, f, files, stacks[:runtime.Stack(stacks, true)])
			return
		}
	}
}

// openFiles counts the process's file descriptors; 0 where the system does not
// tell.
func openFiles() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}
