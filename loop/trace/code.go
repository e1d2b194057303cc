package trace

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// ErrTrace: the bytes are no trace.
var ErrTrace = errors.New("the record of the safety layer's ticks cannot be read")

// Unit is what times are whole numbers of, where they are.
const Unit = 1_000_000 // ns

// appendTime appends how much a time has grown: in milliseconds where that is exact.
func appendTime(b []byte, now, before uint64) []byte {
	d := int64(now - before)
	if d%Unit == 0 {
		return binary.AppendUvarint(b, zigzag(d/Unit)<<1)
	}
	// Two words, so that no bit of a large difference is lost.
	return binary.AppendUvarint(binary.AppendUvarint(b, 1), zigzag(d))
}

// appendBits appends how a word has changed: how many of the bytes of the difference, from
// the highest that is not 0, and those.
func appendBits(b []byte, now, before uint64) []byte {
	d := now ^ before
	skip := bits.TrailingZeros64(d) / 8 // numbers that people write end in zeros
	if d == 0 {
		skip = 0
	}
	d >>= 8 * skip
	n := (bits.Len64(d) + 7) / 8
	b = append(b, byte(skip<<4|n))
	for k := range n {
		b = append(b, byte(d>>(8*k)))
	}
	return b
}

func zigzag(d int64) uint64 { return uint64(d<<1) ^ uint64(d>>63) }

func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

// decoder reads what the functions above have written; the first thing that cannot be
// read is kept.
type decoder struct {
	b   []byte
	err error
}

func (t *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(t.b)
	if n <= 0 {
		t.b, t.err = nil, ErrTrace
		return 0
	}
	t.b = t.b[n:]
	return v
}

func (t *decoder) time(before uint64) uint64 {
	u := t.uvarint()
	if u&1 == 0 {
		return before + uint64(unzigzag(u>>1)*Unit)
	}
	return before + uint64(unzigzag(t.uvarint()))
}

func (t *decoder) bits(before uint64) uint64 {
	if len(t.b) == 0 {
		t.err = ErrTrace
		return 0
	}
	skip, n := int(t.b[0]>>4), int(t.b[0]&15)
	if skip+n > 8 || len(t.b) < 1+n {
		t.b, t.err = nil, ErrTrace
		return 0
	}
	var d uint64
	for k := range n {
		d |= uint64(t.b[1+k]) << (8 * k)
	}
	t.b = t.b[1+n:]
	return before ^ d<<(8*skip)
}
