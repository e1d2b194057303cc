package simulator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/driverstest/broker"
	"github.com/labtuner/tuner/drivers/mqtt"
	"github.com/labtuner/tuner/drivers/sim"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/guard"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/journal/disk"
)

// world is everything that a run of tuner meets, in virtual time: a broker, an
// instrument, a disk, a person who looks after it, and what goes wrong. All of it
// follows from the seed.
type world struct {
	t      *testing.T
	seed   uint64
	pace   *pace
	kind   string // of the policy
	long   time.Duration
	began  time.Time
	folder string
	faults []fault

	broker  *broker.Virtual
	plant   *sim.Plant
	site    *line   // the instrument's network
	lines   []*line // every process's
	wall    wallClock
	witness *witness

	rng       *rand.Rand // of the world's own goroutine
	processes int
	now       *process // nil while none runs
	restart   time.Duration
	ghosts    sync.WaitGroup
	commands  sync.WaitGroup
	deaths    chan *process
	drag      time.Duration // what a write takes at most
	// found is what the run recommends at the end.
	found *control.RecommendedStatus

	mu      sync.Mutex
	moods   mood
	killer  string        // failpoint at which the process is to die
	stalls  string        // failpoint at which the loop is to stand still
	pause   time.Duration // for so long
	fillsAt string        // failpoint from which on the disk is full
	room    uint64        // for files, then
	log     []line1
	heard   map[string][]string // setpoints that were seen, by knob, and readings, to be said again
}

// line1 is a line of the log.
type line1 struct {
	at   time.Duration
	text string
}

// newWorld draws a world from a seed. It must be called in a bubble.
func newWorld(t *testing.T, seed uint64, folder string, long time.Duration) *world {
	rng := newRand(seed, 1)
	tick := []time.Duration{time.Second, 10 * time.Second, 30 * time.Second, time.Minute, time.Minute, time.Minute}[rng.IntN(6)]
	long = min(long, 6000*tick) // where ticks are short there is as much to happen in less time
	w := &world{t: t, seed: seed, rng: rng, long: long, folder: folder, began: time.Now(), deaths: make(chan *process, 1), heard: map[string][]string{},
		pace: newPace(tick, rng), kind: []string{"sobol", "random", "gp-ucb"}[rng.IntN(3)]}
	if rng.IntN(3) == 0 {
		w.pace.budget = newBudget(tick, long, rng)
	}
	w.faults = schedule(rng, w.pace, long-quiet*tick)
	w.witness = newWitness(w)
	return w
}

// quiet is how many ticks at the end of a world are without faults.
const quiet = 360

// since is the world's time.
func (w *world) since() time.Duration { return time.Since(w.began) }

// note adds a line to the log.
func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, line1{w.since(), strings.ReplaceAll(fmt.Sprintf(format, args...), w.folder, "")})
	if *simShow {
		fmt.Fprintf(os.Stderr, "%14v %s\n", w.since(), w.log[len(w.log)-1].text)
	}
}

// logger notes what a part says of itself.
func (w *world) logger(who string) *slog.Logger { return slog.New(&noting{w: w, who: who}) }

// noting is a log handler that writes to the world's log.
type noting struct {
	w   *world
	who string
}

func (*noting) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }
func (n *noting) WithAttrs([]slog.Attr) slog.Handler         { return n }
func (n *noting) WithGroup(string) slog.Handler              { return n }

func (n *noting) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "no connection to the broker yet" {
		return nil // it is said once for each error, and of two timers of one instant either may be first
	}
	text := r.Message
	r.Attrs(func(a slog.Attr) bool {
		if a.Key != "error" { // for the same reason
			text += fmt.Sprintf(" %v", a)
		}
		return true
	})
	n.w.note("%s: %s", n.who, strings.ReplaceAll(text, "\n", "; "))
	return nil
}

// play lets the world happen and gives its log.
func (w *world) play() {
	w.open()
	served, stop := w.serve()
	next, ends := 0, []fault{}
	look := w.look()
	w.now = w.start(w.process(1))
	for w.since() < w.long {
		due := min(w.long, look)
		if next < len(w.faults) {
			due = min(due, w.faults[next].at)
		}
		for _, f := range ends {
			due = min(due, f.at+f.long)
		}
		if w.now == nil {
			due = min(due, w.restart)
		}
		w.await(due)
		at := w.since()
		ends = slices.DeleteFunc(ends, func(f fault) bool {
			if f.at+f.long <= at {
				w.heal(&f)
				return true
			}
			return false
		})
		if next < len(w.faults) && w.faults[next].at <= at {
			f := w.faults[next]
			next++
			w.strike(&f)
			if f.lasts() {
				ends = append(ends, f)
			}
		}
		if look <= at {
			w.person()
			look = w.look()
		}
		if w.now == nil && w.restart <= at {
			w.now = w.start(w.process(w.processes + 1))
		}
	}
	w.close(served, stop)
}

// look is when the person looks next.
func (w *world) look() time.Duration {
	return w.since() + between(w.rng, 20*w.pace.tick, 120*w.pace.tick)
}

// open starts the broker and the instrument.
func (w *world) open() {
	w.broker = broker.StartVirtual(w.t)
	w.site = newLine(w.broker, w.seed, 2)
	var err error
	if w.plant, err = newPlant(w.seed, plantFaults(w.faults)); err != nil {
		w.t.Fatal(err)
	}
	for _, n := range knobs {
		if err := w.broker.Listen(setTopic(n), func(b []byte) { w.overhear(n, b) }); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := w.broker.Listen(stateTopic, func(b []byte) { w.overhear("", b) }); err != nil {
		w.t.Fatal(err)
	}
}

// overhear keeps some of what was said to a knob ("": by the instrument), to be said
// again.
func (w *world) overhear(knob string, b []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.heard[knob]
	if len(list) >= overheard {
		list = list[1:]
	}
	w.heard[knob] = append(list, string(b))
}

const overheard = 50

// serve runs the instrument until stop.
func (w *world) serve() (served chan error, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	served = make(chan error, 1)
	go func() {
		for { // an instrument that cannot reach its broker at the start tries again
			o := w.pace.connection(w.site)
			o.Random = seeded(w.seed, 0)
			err := mqtt.Serve(ctx, mqtt.Plant{Options: o, Channels: w.pace.channels(), Device: newInstrument(w.plant, w.witness),
				Period: w.pace.period, Env: drivers.Env{Clock: worldClock{}, Log: w.logger("the instrument's server")}})
			if ctx.Err() != nil {
				served <- err
				return
			}
			w.note("the instrument's server ended: %v", err)
			time.Sleep(w.pace.tick)
		}
	}()
	return served, cancel
}

// process is the folder of process n.
func (w *world) process(n int) string {
	dir := filepath.Join(w.folder, fmt.Sprint(n))
	if n == 1 {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			w.t.Fatal(err)
		}
	}
	return dir
}

// await lets time pass until due, or until a process ends or is to be killed.
func (w *world) await(due time.Duration) {
	timer := time.NewTimer(due - w.since())
	defer timer.Stop()
	var done chan error
	if w.now != nil {
		done = w.now.done
	}
	select {
	case <-timer.C:
	case p := <-w.deaths:
		if p == w.now {
			w.kill()
		}
		close(p.freed)
	case err := <-done:
		w.ended(err)
	}
}

// ended notes how a process ended by itself, and when there will be another.
func (w *world) ended(err error) {
	p := w.now
	w.now = nil
	p.line.end()
	w.note("process %d ended: %s", p.number, brief(err))
	w.restart = w.since() + between(w.rng, 5*w.pace.tick, 20*w.pace.tick)
	w.witness.processEnded(p, err)
	if errors.Is(err, guard.ErrLatched) {
		w.restart = 1 << 62 // until a person has come
	}
	w.succeed(p)
}

// succeed leaves the files of a process to the next one.
func (w *world) succeed(p *process) {
	next := filepath.Join(w.folder, fmt.Sprint(w.processes+1))
	if err := os.Rename(p.folder, next); err != nil {
		w.t.Fatal(err)
	}
}

// kill ends the process at once: what is on the disk now is what its successor finds.
func (w *world) kill() {
	p := w.now
	synctest.Wait() // nobody is in the middle of a system call
	p.killed.Store(true)
	w.note("process %d is killed", p.number)
	if room, full := diskRoom(w.t); full {
		w.emptyDisk() // a copy stands for what is there already
		defer w.fillDisk(room)
	}
	next := filepath.Join(w.folder, fmt.Sprint(w.processes+1))
	w.copyFiles(p.folder, next)
	w.witness.processEnded(p, nil)
	if _, err := os.Stat(filepath.Join(next, journalFile)); err == nil {
		w.witness.inspect(filepath.Join(next, journalFile))
	}
	w.now = nil
	w.restart = w.since() + between(w.rng, 5*w.pace.tick, 20*w.pace.tick)
	p.line.end()
	p.cancel()
	w.ghosts.Go(func() {
		<-p.done
		if err := os.RemoveAll(p.folder); err != nil {
			w.t.Error(err)
		}
	})
}

// copyFiles copies what a process leaves behind: not its locks, which end with it,
// nor the log's index, which is shared memory.
func (w *world) copyFiles(from, to string) {
	if err := os.MkdirAll(to, 0o755); err != nil {
		w.t.Fatal(err)
	}
	for _, n := range []string{journalFile, journalFile + "-wal", controlFile + "-a", controlFile + "-b", controlFile + "-latched"} {
		b, err := os.ReadFile(filepath.Join(from, n))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(to, n), b, 0o644)
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
}

// person looks after the run: resets what is latched, resumes what waits.
func (w *world) person() {
	if w.now != nil {
		switch state := w.now.panel.Status().State; state {
		case "tripped", "stopped":
			if w.now.refused.Load() {
				w.note("a person restarts the process, since it cannot be reset")
				w.now.cancel()
				break
			}
			w.note("a person finds it %s, resets and resumes", state)
			w.now.command(control.CommandReset, control.CommandResume)
		case "held", "fallen back", "disarmed":
			w.note("a person finds it %s and resumes", state)
			w.now.command(control.CommandResume)
		}
		return
	}
	path := filepath.Join(w.folder, fmt.Sprint(w.processes+1), controlFile)
	c, err := controlstate.Open(path, disk.Holder{PID: 1})
	if err != nil {
		w.note("a person cannot open the control state: %v", err)
		return
	}
	if held := guard.Latched(c.State()); held != nil {
		w.note("a person resets: %v", held)
		s := c.State()
		s.At += guard.Away(w.machine(), s)
		s.Uptime = w.since()
		if err := c.Write(guard.Reset(s)); err != nil {
			w.note("it cannot be reset: %v", err)
		} else {
			w.witness.reset()
		}
	}
	if err := c.Close(); err != nil {
		w.t.Fatal(err)
	}
	w.restart = w.since() + w.pace.tick
}

// close ends the world and looks at what is left.
func (w *world) close(served chan error, stop func()) {
	w.witness.recovered()
	if w.now != nil {
		w.found = w.now.panel.Status().Recommended
		w.now.cancel()
		err := <-w.now.done
		w.now.line.end()
		w.note("process %d ended: %s", w.now.number, brief(err))
		w.witness.processEnded(w.now, err)
		w.succeed(w.now)
	}
	w.ghosts.Wait()
	w.commands.Wait()
	stop()
	if err := <-served; err != nil {
		w.witness.violation("the instrument's server ended with %v", err)
	}
	if err := w.broker.Stop(); err != nil {
		w.t.Error(err)
	}
	w.site.end()
	for _, l := range w.lines {
		l.carriers.Wait()
	}
	w.site.carriers.Wait()
	w.witness.final(filepath.Join(w.folder, fmt.Sprint(w.processes+1), journalFile))
}

// brief is an error on one line.
func brief(err error) string {
	if err == nil {
		return "well"
	}
	text := []rune(err.Error())
	for i, r := range text {
		if r == '\n' {
			text[i] = ';'
		}
	}
	return string(text[:min(len(text), 300)])
}
