package show

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// The priorities of syslog(3) that narration has.
const (
	priorityError   = 3
	priorityWarning = 4
	priorityNotice  = 5
	priorityInfo    = 6
)

// priorityOf is the priority of a line of narration, by the word that it begins with.
func priorityOf(line []byte) int {
	for _, p := range []struct {
		prefix   string
		priority int
	}{{"tuner: error: ", priorityError}, {"tuner: warning: ", priorityWarning}, {"tuner: hint: ", priorityNotice}} {
		if bytes.HasPrefix(line, []byte(p.prefix)) {
			return p.priority
		}
	}
	return priorityInfo
}

// IsJournal says whether f is the stream that JOURNAL_STREAM names, which is how
// systemd tells a service that what it writes goes to the system's journal.
func IsJournal(f *os.File, stream string) bool {
	var stat unix.Stat_t
	if stream == "" || unix.Fstat(int(f.Fd()), &stat) != nil {
		return false
	}
	return stream == fmt.Sprintf("%d:%d", uint64(stat.Dev), stat.Ino)
}

// PriorityWriter puts a priority before each line, as the journal reads them:
//
//	<4>tuner: warning: connection lost: device=doser
//
// There is no time stamp: the journal has its own.
type PriorityWriter struct {
	mu sync.Mutex
	W  io.Writer
	// open says that the last line has no end yet.
	open bool
}

// Write implements io.Writer. Lines that come in pieces keep the first one's priority.
func (p *PriorityWriter) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out bytes.Buffer
	for line := range bytes.Lines(text) {
		if !p.open {
			fmt.Fprintf(&out, "<%d>", priorityOf(line))
		}
		out.Write(line)
		p.open = !bytes.HasSuffix(line, []byte("\n"))
	}
	if _, err := p.W.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(text), nil
}
