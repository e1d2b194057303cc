package show

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// JSONLog writes narration as lines of JSON, for programs that collect logs:
//
//	{"time":"2026-03-01T21:04:05.123Z","level":"warn","msg":"connection lost: device=doser","run":"20260301T...","step":12}
//
// Under systemd the line bears a priority and no time: the journal has its own. run is
// empty and step 0 before there are any.
type JSONLog struct {
	w   io.Writer
	now func() time.Time
	// journal says that w is systemd's journal.
	journal bool
	run     atomic.Pointer[string]
	step    atomic.Int64

	mu   sync.Mutex
	rest []byte // a line that has no end yet
}

// NewJSONLog writes to w, or to the journal that w puts priorities for.
func NewJSONLog(w io.Writer, now func() time.Time) *JSONLog {
	if p, ok := w.(*PriorityWriter); ok {
		return &JSONLog{w: p.W, now: now, journal: true}
	}
	return &JSONLog{w: w, now: now}
}

// At tells which run and step the following lines belong to.
func (j *JSONLog) At(run string, step int) {
	if j != nil {
		j.run.Store(&run)
		j.step.Store(int64(step))
	}
}

// JSONLine is one of the lines.
type JSONLine struct {
	Time  string `json:"time,omitempty"`
	Level string `json:"level"`
	Msg   string `json:"msg"`
	Run   string `json:"run"`
	Step  int64  `json:"step"`
}

// Write implements io.Writer: it takes narration line by line.
func (j *JSONLog) Write(text []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out bytes.Buffer
	for line := range bytes.Lines(text) {
		j.rest = append(j.rest, line...)
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		if err := j.encode(&out, bytes.TrimRight(j.rest, "\r\n")); err != nil {
			return 0, err
		}
		j.rest = j.rest[:0]
	}
	if _, err := j.w.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(text), nil
}

func (j *JSONLog) encode(out *bytes.Buffer, line []byte) error {
	if len(line) == 0 {
		return nil
	}
	priority := priorityOf(line)
	l := JSONLine{Level: map[int]string{priorityError: "error", priorityWarning: "warn", priorityNotice: "hint", priorityInfo: "info"}[priority],
		Msg: string(line), Step: j.step.Load()}
	for _, prefix := range []string{"tuner: ", "error: ", "warning: ", "hint: "} {
		l.Msg = string(bytes.TrimPrefix([]byte(l.Msg), []byte(prefix)))
	}
	if run := j.run.Load(); run != nil {
		l.Run = *run
	}
	if j.journal {
		fmt.Fprintf(out, "<%d>", priority)
	} else {
		l.Time = j.now().UTC().Format(time.RFC3339Nano)
	}
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e.Encode(l)
}
