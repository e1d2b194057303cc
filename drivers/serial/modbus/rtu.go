package modbus

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/labtuner/tuner/drivers/serial/protocol"
)

// Over a serial line (MODBUS over Serial Line 1.02) every frame is
//
//	address (1)  function and data  CRC-16, low byte first (2)
//
// and two frames are apart by a silence of 3.5 characters.

// MaxFrame is how long a frame of a serial line is at most, in bytes.
const MaxFrame = 256

// rtu is that framing.
type rtu struct {
	silence time.Duration
	pause   time.Duration // within an answer
}

// frameSilence is the pause between two frames: 3.5 characters of 11 bits, and
// from 19200 bits per second 1.75 ms (MODBUS over Serial Line 1.02, 2.5.1.1).
func frameSilence(baud int) time.Duration {
	if baud > 19200 {
		return 1750 * time.Microsecond
	}
	return time.Duration(3.5 * 11 / float64(baud) * float64(time.Second))
}

// crc16 is Modbus's check sum: polynomial 0x8005 reflected, from 0xFFFF.
func crc16(data []byte) uint16 {
	crc := uint16(0xFFFF)
	for _, b := range data {
		crc ^= uint16(b)
		for range 8 {
			odd := crc&1 == 1
			crc >>= 1
			if odd {
				crc ^= 0xA001
			}
		}
	}
	return crc
}

// Sealed appends the check sum.
func Sealed(frame []byte) []byte { return binary.LittleEndian.AppendUint16(frame, crc16(frame)) }

// Intact says whether a frame's check sum is right.
func Intact(frame []byte) bool {
	n := len(frame) - 2
	return n >= 2 && binary.LittleEndian.Uint16(frame[n:]) == crc16(frame[:n])
}

// ReadRequest is the frame that asks for count registers or coils.
func ReadRequest(unit, function, address, count int) []byte {
	return rtu{}.seal(unit, readRequest(function, address, count))
}

// WriteRequest is the frame that sets registers from their bytes, with function 6 or 16.
func WriteRequest(unit, function, address int, values []byte) []byte {
	return rtu{}.seal(unit, writeRequest(function, address, values))
}

func (f rtu) seal(unit int, body []byte) []byte { return Sealed(append([]byte{byte(unit)}, body...)) }

func (f rtu) reply(asked, body []byte) []byte { return f.seal(int(asked[0]), body) }

func (f rtu) gap() time.Duration { return f.silence }

func (f rtu) numbered() bool { return false }

// receive waits for as many bytes as the answer has.
func (f rtu) receive(ctx context.Context, l *protocol.Line, unit int, request []byte, timeout time.Duration) ([]byte, error) {
	chunk := make([]byte, MaxFrame)
	wait := timeout
	for {
		want := 3 + answerLength(request, l.Buf[min(1, len(l.Buf)):])
		if len(l.Buf) > want {
			return nil, fmt.Errorf("%w: %d bytes where %d should come", protocol.ErrFrame, len(l.Buf), want)
		}
		if len(l.Buf) == want {
			answer := l.Buf
			l.Buf = nil
			return f.open(unit, request, answer)
		}
		n, err := l.Port.Read(ctx, chunk, time.Now().Add(wait))
		switch {
		case err == nil:
			l.Buf, wait = append(l.Buf, chunk[:n]...), f.pause
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return nil, err
		case len(l.Buf) == 0:
			return nil, fmt.Errorf("%w within %v; is address %d right?", protocol.ErrSilent, timeout, unit)
		default:
			return nil, fmt.Errorf("%w: % x, and no more within %v", protocol.ErrCut, shortened(l.Buf), f.pause)
		}
	}
}

// open takes an answer out of its frame.
func (f rtu) open(unit int, request, frame []byte) ([]byte, error) {
	switch {
	case !Intact(frame):
		return nil, fmt.Errorf("%w: the check sum is wrong: % x to % x", protocol.ErrFrame, shortened(frame), request)
	case int(frame[0]) != unit:
		return nil, fmt.Errorf("%w: it is from another address: % x to % x", protocol.ErrFrame, shortened(frame), request)
	}
	return frame[1 : len(frame)-2], nil
}

// requestLength is how long a request is with address and check sum, as far as its first bytes
// tell; 0: its function is not one that is served.
func requestLength(start []byte) int {
	if len(start) < 2 {
		return 8
	}
	switch start[1] {
	case readCoils, readDiscrete, readHolding, readInput, writeCoil, writeSingle:
		return 8
	case writeCoils, writeMultiple:
		if len(start) < 7 {
			return 9
		}
		return 9 + int(start[6])
	}
	return 0
}

func (f rtu) split(heard []byte) (frame []byte, unit int, body []byte, broken bool) {
	n := requestLength(heard)
	if n > len(heard) {
		return nil, 0, nil, false
	}
	if n == 0 || !Intact(heard[:n]) {
		return nil, 0, nil, true
	}
	return heard[:n], int(heard[0]), heard[1 : n-2], false
}
