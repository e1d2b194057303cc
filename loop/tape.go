package loop

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/safety"
)

// The tape is the record of what the safety layer was told and what it said, tick by
// tick, from which Replay derives every verdict anew. A session's tape begins with its
// limits and with what it was booted from; what follows comes in pieces of about a
// minute. A piece is DEFLATE of a list of ticks, each as often as it was repeated:
//
//	repeat: uvarint
//	readings: uvarint, then for each: sensor*4+verdict, time, value
//	changed words: uvarint, then for each: places since the last one, time or value
//
// Only words that changed since the tick before are there, times as differences and
// values as the bytes that differ. A piece begins from zeros, so each can be read alone.
// Times are whole milliseconds: what the layer is told is rounded so, so that a regular
// instrument repeats itself.
const (
	// tapeTicks is the most that a piece holds: a minute of ticks of 100 ms. Not more: so
	// much may be missing after a crash. Not fewer: each piece is a transaction.
	tapeTicks = 600
	// tapeBytesMax bounds a piece whatever the ticks hold.
	tapeBytesMax = 64 << 10
	// tapeOwedMax bounds the pieces that wait for a disk. Not less: an outage over a
	// weekend should leave no gap. Not more: a board has little memory.
	tapeOwedMax = 16 << 20
)

// tapeStart is what a session's tape begins with.
type tapeStart struct {
	Limits safety.Limits
	Saved  safety.Saved
}

// reading is what a sensor said between two ticks, and whether it was believed.
type reading struct {
	sensor  int
	sample  safety.Sample
	verdict safety.Verdict
}

// tape records one session.
type tape struct {
	limits *safety.Limits
	heeds  []bool
	// readings since the last tick.
	readings []reading
	piece    tapePiece
	mode     safety.Mode
	// owed are the bytes of the pieces that wait for the disk, most how many may.
	owed, most int
	// size is how many words a tick has, times which of them are times.
	size  int
	times []bool
}

// tapePiece is the piece that is being made.
type tapePiece struct {
	out   []byte
	ticks int
	// last is the tick that was seen last, repeated so often.
	last   []byte
	repeat uint64
	tapeMemory
}

// tapeMemory is what differences are taken from.
type tapeMemory struct {
	words  []uint64
	sensor [safety.MaxSensors][2]uint64 // time and value
}

// startTape begins a session's tape.
func (l *Loop) startTape() {
	if l.opt.Mode == plan.Shadow {
		return
	}
	start, err := json.Marshal(tapeStart{l.limits, l.bootedFrom})
	if err != nil {
		l.event("warn", journal.EventSafety, fmt.Sprintf("what the safety layer does is not recorded, so it cannot be replayed: %v", err))
		return
	}
	l.tape = &tape{limits: &l.limits, heeds: heeded(&l.limits), most: tapeOwedMax}
	at := l.stamp()
	l.record("what the safety layer begins from", func(j *journal.Journal) error { return j.Tape(start, 0, at) }, nil)
}

// heard notes a reading.
func (t *tape) heard(r reading) {
	if t != nil && t.heeds[r.sensor] {
		t.readings = append(t.readings, r)
	}
}

// tick notes a verdict. It reports whether the piece is to be recorded now: it is full, or
// the mode has changed, which is what somebody will want to look into.
func (t *tape) tick(v *verdict) (full bool) {
	if t == nil {
		return false
	}
	w := words{list: make([]uint64, 0, t.size), times: t.times[:0]}
	w.tick(t.limits, v)
	t.size, t.times = len(w.list), w.times
	b := t.piece.readings(nil, t.readings)
	b = t.piece.changes(b, &w)
	t.readings = t.readings[:0]
	t.piece.add(b)
	changed := v.out.Mode != t.mode
	t.mode = v.out.Mode
	return changed || t.piece.ticks >= tapeTicks || len(t.piece.out) >= tapeBytesMax
}

// readings appends what sensors said.
func (m *tapeMemory) readings(b []byte, list []reading) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, r := range list {
		at, value := uint64(r.sample.At), math.Float64bits(r.sample.Value)
		b = binary.AppendUvarint(b, uint64(r.sensor)<<2|uint64(r.verdict))
		b = appendTime(b, at, m.sensor[r.sensor][0])
		b = appendBits(b, value, m.sensor[r.sensor][1])
		m.sensor[r.sensor] = [2]uint64{at, value}
	}
	return b
}

// changes appends the words that have changed.
func (m *tapeMemory) changes(b []byte, w *words) []byte {
	if m.words == nil {
		m.words = make([]uint64, len(w.list))
	}
	n := 0
	for i, v := range w.list {
		if v != m.words[i] {
			n++
		}
	}
	b = binary.AppendUvarint(b, uint64(n))
	next := 0
	for i, v := range w.list {
		if v == m.words[i] {
			continue
		}
		b = binary.AppendUvarint(b, uint64(i-next))
		next = i + 1
		if w.times[i] {
			b = appendTime(b, v, m.words[i])
		} else {
			b = appendBits(b, v, m.words[i])
		}
	}
	m.words = w.list
	return b
}

// add appends a tick, or counts it where it repeats the last one.
func (p *tapePiece) add(tick []byte) {
	p.ticks++
	if bytes.Equal(tick, p.last) {
		p.repeat++
		return
	}
	p.end()
	p.last, p.repeat = tick, 1
}

// end writes the tick that was seen last.
func (p *tapePiece) end() {
	if p.repeat > 0 {
		p.out = append(binary.AppendUvarint(p.out, p.repeat), p.last...)
	}
	p.repeat = 0
}

// take gives the piece, packed, and begins another; nil where there is nothing.
func (t *tape) take() (data []byte, ticks int, err error) {
	if t == nil || t.piece.ticks == 0 {
		return nil, 0, nil
	}
	t.piece.end()
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.DefaultCompression)
	if err == nil {
		_, err = w.Write(t.piece.out)
	}
	if err == nil {
		err = w.Close()
	}
	ticks = t.piece.ticks
	t.piece = tapePiece{}
	return packed.Bytes(), ticks, err
}

// unpack is the inverse of the packing.
func unpack(data []byte) ([]byte, error) {
	return io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(data)), 64*tapeBytesMax))
}

// saveTape records the piece in hand.
func (l *Loop) saveTape() {
	data, ticks, err := l.tape.take()
	if err != nil {
		l.event("warn", journal.EventSafety, fmt.Sprintf("a piece of what the safety layer did is not recorded: %v", err))
		return
	}
	if ticks == 0 {
		return
	}
	t, at := l.tape, l.stamp()
	if t.owed+len(data) > t.most {
		l.tape = nil // what follows a gap cannot be derived
		l.event("warn", journal.EventDisk, fmt.Sprintf("what the safety layer does is not recorded from here on until the next start: %.3g MB of it wait for the disk", float64(t.owed)/1e6))
		return
	}
	t.owed += len(data)
	l.record("what the safety layer did", func(j *journal.Journal) error { return j.Tape(data, ticks, at) }, func() { t.owed -= len(data) })
}

// inTapeTime rounds a time down to what the tape keeps.
func inTapeTime(d time.Duration) time.Duration { return d.Truncate(tapeUnit) }
