package trace

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"time"

	"github.com/labtuner/tuner/safety"
)

const (
	// pieceTicks is the most that a piece holds: a minute of ticks of 100 ms. Not more: so
	// much may be missing after a crash. Not fewer: each piece is a transaction.
	pieceTicks = 600
	// pieceBytesMax bounds a piece whatever the ticks hold.
	pieceBytesMax = 64 << 10
	// WaitingMax bounds the bytes of the pieces that wait for a disk. Not less: an outage
	// over a weekend should leave no gap. Not more: a board has little memory.
	WaitingMax = 16 << 20
)

// Start is what a session's trace begins with.
type Start struct {
	Limits safety.Limits
	Saved  safety.Saved
}

// Reading is what a sensor said between two ticks, and whether it was believed.
type Reading struct {
	Sensor  int
	Sample  safety.Sample
	Verdict safety.Verdict
}

// Recorder records one session. A nil Recorder records nothing.
type Recorder struct {
	limits *safety.Limits
	// watched says of each sensor whether a rule looks at it.
	watched []bool
	// readings since the last tick.
	readings []Reading
	piece    piece
	mode     safety.Mode
	// waiting are the bytes of the pieces that wait for the disk, most how many may.
	waiting, most int

	// What the next tick and the next piece are made in.
	layout layout
	tick   []byte
	packer *flate.Writer
}

// NewRecorder returns a recorder of what the safety layer does under limits, which may
// change in place. At most WaitingMax bytes may wait for a disk.
func NewRecorder(limits *safety.Limits) *Recorder {
	return &Recorder{limits: limits, watched: watched(limits), most: WaitingMax}
}

// Bound sets how many bytes may wait for the disk.
func (t *Recorder) Bound(most int) { t.most = most }

// Waiting is how many bytes wait for the disk.
func (t *Recorder) Waiting() int { return t.waiting }

// Wait notes that n bytes wait for the disk, or reports that there is no room for them.
func (t *Recorder) Wait(n int) bool {
	if t.waiting+n > t.most {
		return false
	}
	t.waiting += n
	return true
}

// Written notes that n bytes wait no more.
func (t *Recorder) Written(n int) { t.waiting -= n }

// piece is the piece that is being made.
type piece struct {
	out   []byte
	ticks int
	// last is the tick that was seen last, repeated so often.
	last   []byte
	repeat uint64
	previous
}

// previous is what differences are taken from.
type previous struct {
	words  []uint64
	sensor [safety.MaxSensors][2]uint64 // time and value
}

// Heard notes a reading.
func (t *Recorder) Heard(r Reading) {
	if t != nil && t.watched[r.Sensor] {
		t.readings = append(t.readings, r)
	}
}

// Tick notes what the safety layer did in one tick. It reports whether the piece is to be recorded now: it is full, or
// the mode has changed, which is what a person will want to look into.
func (t *Recorder) Tick(v *Tick) (full bool) {
	if t == nil {
		return false
	}
	t.layout.list, t.layout.times = t.layout.list[:0], t.layout.times[:0]
	t.layout.tick(t.limits, v)
	b := t.piece.readings(t.tick[:0], t.readings)
	t.tick = t.piece.changes(b, &t.layout)
	t.readings = t.readings[:0]
	t.piece.add(t.tick)
	changed := v.Out.Mode != t.mode
	t.mode = v.Out.Mode
	return changed || t.piece.ticks >= pieceTicks || len(t.piece.out) >= pieceBytesMax
}

// readings appends what sensors said.
func (m *previous) readings(b []byte, list []Reading) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, r := range list {
		at, value := uint64(r.Sample.At), math.Float64bits(r.Sample.Value)
		b = binary.AppendUvarint(b, uint64(r.Sensor)<<2|uint64(r.Verdict))
		b = appendTime(b, at, m.sensor[r.Sensor][0])
		b = appendBits(b, value, m.sensor[r.Sensor][1])
		m.sensor[r.Sensor] = [2]uint64{at, value}
	}
	return b
}

// changes appends the words that have changed.
func (m *previous) changes(b []byte, w *layout) []byte {
	if len(m.words) == 0 {
		m.words = append(m.words, make([]uint64, len(w.list))...)
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
	m.words = append(m.words[:0], w.list...)
	return b
}

// add appends a tick, or counts it where it repeats the last one.
func (p *piece) add(tick []byte) {
	p.ticks++
	if bytes.Equal(tick, p.last) {
		p.repeat++
		return
	}
	p.end()
	p.last, p.repeat = append(p.last[:0], tick...), 1
}

// end writes the tick that was seen last.
func (p *piece) end() {
	if p.repeat > 0 {
		p.out = append(binary.AppendUvarint(p.out, p.repeat), p.last...)
	}
	p.repeat = 0
}

// Cut gives the piece, packed, and begins another; nil where there is nothing.
func (t *Recorder) Cut() (data []byte, ticks int, err error) {
	if t == nil || t.piece.ticks == 0 {
		return nil, 0, nil
	}
	t.piece.end()
	data, err = t.pack(t.piece.out)
	ticks = t.piece.ticks
	t.piece.begin()
	return data, ticks, err
}

// begin makes p the next piece, in its memory.
func (p *piece) begin() {
	*p = piece{out: p.out[:0], last: p.last[:0], previous: previous{words: p.words[:0]}}
}

// pack compresses a piece.
func (t *Recorder) pack(piece []byte) ([]byte, error) {
	var packed bytes.Buffer
	if t.packer == nil {
		var err error
		if t.packer, err = flate.NewWriter(&packed, flate.DefaultCompression); err != nil {
			return nil, err
		}
	} else {
		t.packer.Reset(&packed)
	}
	_, err := t.packer.Write(piece)
	err = errors.Join(err, t.packer.Close())
	return packed.Bytes(), err
}

// unpack is the inverse of the packing.
func unpack(data []byte) ([]byte, error) {
	return io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(data)), 64*pieceBytesMax))
}

// Round rounds a time down to what the trace keeps, so that a regular instrument repeats
// itself.
func Round(d time.Duration) time.Duration { return d.Truncate(Unit) }
