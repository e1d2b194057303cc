package simulator

import (
	"cmp"
	"flag"
	"fmt"
	"github.com/labtuner/tuner/scripts/testsize"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var (
	simSeed = flag.Uint64("sim.seed", 1, "seed of the first world; each further one has the next")
	simDays = flag.Float64("sim.days", float64(testsize.Of(1, 6))/3, "virtual days of TestSimulator, in worlds of four days at most")
	simFor  = flag.Duration("sim.for", 0, "begin no further world after so much real time; 0: all days are played")
	simSame = flag.Int("sim.same", 0, "play so many seeds twice, and count those that repeat themselves; 0: until one has, in the whole three")
	simShow = flag.Bool("sim.log", false, "write what happens to stderr as it does")
)

// worldTime is how long a world lasts at most.
const worldTime = 96 * time.Hour

// TestSimulator lets worlds go wrong. The nightly size:
//
//	go test ./loop/simulator -run TestSimulator -v -sim.days 1000 -timeout 12h
func TestSimulator(t *testing.T) {
	var total counts
	days, first, open := time.Duration(0), uint64(0), descriptors(t)
	began := time.Now()
	worlds := 0
	for i := uint64(0); float64(days) < *simDays*float64(24*time.Hour); i++ {
		if *simFor > 0 && time.Since(began) > *simFor {
			break
		}
		w := happen(t, *simSeed+i, min(worldTime, time.Duration(*simDays*float64(24*time.Hour))))
		days, worlds = days+w.long, worlds+1
		total.add(&w.witness.counts)
		if t.Failed() {
			break
		}
		// A world may leave nothing behind; 16 MB is what the runtime's own varies by.
		switch now := heap(); {
		case i == 0:
			first = now
		case now > first+16<<20:
			t.Errorf("the heap holds %d bytes after %d worlds, %d after one", now, i+1, first)
		}
	}
	t.Logf("%.1f virtual days in %d worlds from seed %d, in %v: %v", days.Hours()/24, worlds, *simSeed, time.Since(began).Round(time.Second), &total)
	t.Logf("after the first world and after the last: heap %.1f and %.1f MB; descriptors before and after: %d and %d; resident %.1f MB", mb(first), mb(heap()), open, descriptors(t), mb(uint64(resident())))
	t.Logf("faults: %s", total.faultList())
}

// happen plays the world of a seed and reports what went wrong in it.
func happen(t *testing.T, seed uint64, long time.Duration, shape ...func(*world)) *world {
	t.Helper()
	var w *world
	folder := t.TempDir()
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(os.Stderr, "seed %d: %v\n%s", seed, r, w.tail(60))
			panic(r)
		}
	}()
	open := descriptors(t)
	defer limitFiles(t, nil) // a world may end while its disk is full
	synctest.Test(t, func(t *testing.T) {
		w = newWorld(t, seed, folder, long)
		for _, change := range shape {
			change(w)
		}
		w.play()
	})
	if left := descriptors(t) - open; left > 0 {
		t.Errorf("seed %d: %d descriptors were not closed", seed, left)
	}
	if len(w.witness.broken) > 0 {
		t.Errorf("seed %d, ticks of %v, policy %s, %d violations; again with\n\tgo test ./loop/simulator -run TestSimulator -v -sim.seed %d -sim.days 0.1 -sim.log\n%s",
			seed, w.pace.tick, w.kind, len(w.witness.broken), seed, strings.Join(w.witness.broken[:min(len(w.witness.broken), 10)], "\n"))
		t.Logf("what went before:\n%s", w.before(30))
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Error(err)
	}
	return w
}

// sameTime is how long worlds last that are played twice.
const sameTime = time.Hour

// sameTries is how many seeds are played twice at most until sameWanted have repeated
// themselves. What client library and broker do at one instant, when a line flows again, has
// no order but the scheduler's: such a world may differ (see the README).
const sameTries = 30

var sameWanted = testsize.Of(1, 3)

// TestSameSeedSameWorld: what happens is a function of the seed, as long as nothing falls on
// one instant: two plays are the same, line by line.
func TestSameSeedSameWorld(t *testing.T) {
	repeated, tries := 0, sameTries
	if *simSame > 0 {
		tries = *simSame
	}
	for seed := *simSeed; repeated < sameWanted || *simSame > 0; seed++ {
		if seed == *simSeed+uint64(tries) {
			t.Logf("%d of %d seeds repeated themselves", repeated, tries)
			if repeated < sameWanted {
				t.Errorf("want %d", sameWanted)
			}
			return
		}
		a, b := happen(t, seed, sameTime).canonical(), happen(t, seed, sameTime).canonical()
		if slices.Equal(a, b) {
			repeated++
			t.Logf("seed %d: %d lines, the same twice", seed, len(a))
		} else {
			t.Logf("seed %d: %s", seed, firstDifference(a, b))
		}
	}
}

// firstDifference says where two logs part.
func firstDifference(a, b []string) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d is\n%s\nand\n%s\nafter\n%s", i, a[i], b[i], strings.Join(a[max(0, i-8):i], "\n"))
		}
	}
	return fmt.Sprintf("one has %d lines, the other %d", len(a), len(b))
}

// canonical is the log to the millisecond, with the lines of one in the order of their
// texts: what goroutines do at the same time has no order, and messages that leave at one
// instant arrive odd nanoseconds apart.
func (w *world) canonical() []string {
	lines := slices.Clone(w.log)
	for i := range lines {
		lines[i].at = lines[i].at.Truncate(time.Millisecond)
	}
	slices.SortStableFunc(lines, func(a, b line1) int { return cmp.Or(cmp.Compare(a.at, b.at), strings.Compare(a.text, b.text)) })
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = fmt.Sprintf("%14v %s", l.at, l.text)
	}
	return out
}

// before is the end of the log up to the first violation.
func (w *world) before(n int) string {
	for i, l := range w.log {
		if strings.HasPrefix(l.text, "VIOLATION") {
			w.log = w.log[:i+1]
			break
		}
	}
	return w.tail(n)
}

// tail is the end of the log.
func (w *world) tail(n int) string {
	if w == nil {
		return ""
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var b strings.Builder
	for _, l := range w.log[max(0, len(w.log)-n):] {
		fmt.Fprintf(&b, "%14v %s\n", l.at, l.text)
	}
	return b.String()
}

// descriptors is how many this process has open.
func descriptors(t *testing.T) int {
	t.Helper()
	list, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func (c *counts) add(more *counts) {
	c.setpoints += more.setpoints
	c.doses += more.doses
	c.steps += more.steps
	c.processes += more.processes
	c.kills += more.kills
	c.trips += more.trips
	c.resets += more.resets
	c.badDisk += more.badDisk
	c.slow += more.slow
	if c.alarms == nil {
		c.alarms, c.faults = map[kind][]float64{}, map[string]int{}
	}
	for name, n := range more.faults {
		c.faults[name] += n
	}
	for k, times := range more.alarms {
		c.alarms[k] = append(c.alarms[k], times...)
	}
}

func (c *counts) String() string {
	text := fmt.Sprintf("%d steps, %d setpoints taken, %d doses given, %d processes of which %d were killed, %d trips and stops, %d resets",
		c.steps, c.setpoints, c.doses, c.processes, c.kills, c.trips, c.resets)
	text += fmt.Sprintf("; %d records that took long, and that was told; %d interlocks on a full or slow disk", c.slow, c.badDisk)
	for _, k := range []kind{doorOpens, doorMute} {
		if ticks := c.alarms[k]; len(ticks) > 0 {
			slices.Sort(ticks)
			text += fmt.Sprintf("; %v to safe values, in ticks: %d times, median %.1f, 99%% %.1f, most %.1f", k, len(ticks), ticks[len(ticks)/2], ticks[len(ticks)*99/100], ticks[len(ticks)-1])
		}
	}
	return text
}

// faultList says how often each fault struck.
func (c *counts) faultList() string {
	total, list := 0, ""
	for _, name := range slices.Sorted(maps.Keys(c.faults)) {
		total += c.faults[name]
		list += fmt.Sprintf(", %s %d", name, c.faults[name])
	}
	return fmt.Sprint(total) + list
}

func mb(bytes uint64) float64 { return float64(bytes) / (1 << 20) }

// heap is what is in use after a collection.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
