package simulator

import (
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// slowDisk is what a process's writes wait for. SQLite waits in real time, which a
// bubble does not see, so the waiting is done in virtual time around each write: before
// it, when a process that is killed leaves nothing of it, and after it, when what it
// leaves is on the disk and nobody has been told.
type slowDisk struct {
	// most is how long a write may take on either side of it, 0: no time.
	most atomic.Int64
	mu   sync.Mutex
	rng  map[string]*rand.Rand
	// told says that the loop has announced a record that takes long.
	told atomic.Bool
	// over says that the loop has ended, and announces nothing any more.
	over atomic.Bool
	// stands counts the times that the loop has stood still or stands: it announces
	// nothing then.
	stands atomic.Int64
}

// slowTold is after how long the loop says that a record takes long: see slowRecord in loop.
const slowTold = 5 * time.Second

// wait is what the next write waits for.
func (d *slowDisk) wait(p *process, what string) time.Duration {
	most := d.most.Load()
	if p.killed.Load() {
		return 0
	}
	if most == 0 {
		return workerTime[what]
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.rng == nil {
		d.rng = map[string]*rand.Rand{}
	}
	if d.rng[what] == nil { // each worker has its own, since the order of workers is nobody's
		d.rng[what] = newRand(p.w.seed, uint64(2000+10*p.number+len(what)))
	}
	return time.Duration(d.rng[what].Int64N(most) + 1)
}

// write is told that a process writes, or has written.
func (d *slowDisk) write(p *process, what string) {
	long := d.wait(p, what)
	if long == 0 {
		return
	}
	stood := d.stands.Load()
	time.Sleep(long)
	// A tick may come just before the limit, and another one after it.
	if what != "record" || long < slowTold+3*p.w.pace.tick || p.killed.Load() || d.over.Load() || d.stands.Load() != stood || stood%2 != 0 {
		return
	}
	if !d.told.Load() {
		p.w.witness.violation("process %d has waited %v for a record and told nobody", p.number, long)
	}
	p.w.witness.slowRecord()
}

// slowRecord counts a record that took long, and that was told.
func (v *witness) slowRecord() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.counts.slow++
}

// tells notes what the loop announces.
func (d *slowDisk) tells(message string) {
	switch {
	case strings.HasPrefix(message, "a record takes longer than"):
		d.told.Store(true)
	case strings.HasPrefix(message, "the record was written after"):
		d.told.Store(false)
	}
}

// drags lets the process's writes take up to most, 0 none.
func (w *world) drags(most time.Duration) {
	w.drag = most
	if w.now != nil {
		w.now.disk.most.Store(int64(most))
	}
}

// dragOf is how long a write takes at most on a slow disk: less than a tick, more than
// the loop waits before it says so, or much more.
func (p *pace) dragOf(f *fault) time.Duration {
	return []time.Duration{p.tick / 3, slowTold + 6*p.tick, slowTold + 30*p.tick}[f.pick%3]
}

// roomOf is how large a file may become on the full disk of a fault: no file can be
// written; the control state can, and the journal cannot; the journal can for a while,
// and stops in the middle of a record.
func (w *world) roomOf(f *fault) uint64 {
	switch f.pick >> 8 % 3 {
	case 0:
		return 0
	case 1:
		return 16 << 10
	}
	if w.now == nil {
		return 0
	}
	info, err := os.Stat(filepath.Join(w.now.folder, journalFile+"-wal"))
	if err != nil {
		return 0
	}
	return uint64(info.Size()) + f.pick>>16%(64<<10)
}

// fillDisk lets files become no larger than room: the limit on the size of files is the
// whole test process's, and so is the simulation's disk.
func (w *world) fillDisk(room uint64) { limitFiles(w.t, &room) }

// emptyDisk ends that.
func (w *world) emptyDisk() { limitFiles(w.t, nil) }

// diskRoom is how large files may become, and whether that is bounded.
func diskRoom(t *testing.T) (room uint64, full bool) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	return limit.Cur, limit.Cur != limit.Max
}

// limitFiles sets the limit, or lifts it.
func limitFiles(t *testing.T, room *uint64) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	if limit.Cur = limit.Max; room != nil {
		signal.Ignore(syscall.SIGXFSZ) // the write is to fail, not the process
		limit.Cur = *room
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
}
