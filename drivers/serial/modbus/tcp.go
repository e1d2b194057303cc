package modbus

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/labtuner/tuner/drivers/serial/protocol"
)

// Over TCP (MODBUS Messaging on TCP/IP 1.0b, section 3.1.3) every frame is
//
//	transaction (2)  protocol, 0 (2)  length of what follows (2)  unit (1)  function and data
//
// The answer has the transaction of its request, so that one that comes late is known as such.
const (
	headLength = 7   // up to the unit
	bodyMost   = 253 // function and data
)

// tcp is that framing.
type tcp struct {
	transaction uint16 // of the last request
}

func sealTCP(transaction uint16, unit int, body []byte) []byte {
	frame := binary.BigEndian.AppendUint16(nil, transaction)
	frame = binary.BigEndian.AppendUint16(append(frame, 0, 0), uint16(1+len(body)))
	return append(append(frame, byte(unit)), body...)
}

func (f *tcp) seal(unit int, body []byte) []byte {
	f.transaction++
	return sealTCP(f.transaction, unit, body)
}

func (f *tcp) reply(asked, body []byte) []byte {
	return sealTCP(binary.BigEndian.Uint16(asked), int(asked[headLength-1]), body)
}

func (f *tcp) gap() time.Duration { return 0 }

func (f *tcp) numbered() bool { return true }

// split implements framing.
func (f *tcp) split(heard []byte) (frame []byte, unit int, body []byte, broken bool) {
	if len(heard) < headLength {
		return nil, 0, nil, false
	}
	n := int(binary.BigEndian.Uint16(heard[4:]))
	if heard[2] != 0 || heard[3] != 0 || n < 2 || n > 1+bodyMost {
		return nil, 0, nil, true
	}
	if len(heard) < headLength-1+n {
		return nil, 0, nil, false
	}
	frame = heard[:headLength-1+n]
	return frame, int(frame[headLength-1]), frame[headLength:], false
}

// receive implements framing. Answers to earlier requests are passed over.
func (f *tcp) receive(ctx context.Context, l *protocol.Line, unit int, request []byte, timeout time.Duration) ([]byte, error) {
	limit, late := time.Now().Add(timeout), ""
	chunk := make([]byte, MaxFrame)
	for {
		frame, from, body, broken := f.split(l.Buf)
		switch {
		case broken:
			return nil, fmt.Errorf("%w: no frame of Modbus TCP begins with % x; does another protocol answer at this port?", protocol.ErrFrame, shortened(l.Buf))
		case frame != nil:
			l.Buf = l.Buf[len(frame):]
			if got := binary.BigEndian.Uint16(frame); got != f.transaction {
				late = fmt.Sprintf("; what came were answers to other requests, the last to number %d where %d was asked", got, f.transaction)
				l.Log.Debug("an answer to another request is passed over", slog.Int("transaction", int(got)), slog.Int("asked", int(f.transaction)))
				continue
			}
			if from != unit {
				return nil, fmt.Errorf("%w: it is from unit %d: % x to % x", protocol.ErrFrame, from, shortened(frame), request)
			}
			return body, nil
		}
		n, err := l.Port.Read(ctx, chunk, limit)
		switch {
		case err == nil:
			l.Buf = append(l.Buf, chunk[:n]...)
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return nil, err
		case len(l.Buf) == 0:
			return nil, fmt.Errorf("%w within %v%s; is the unit, address = %d, right?", protocol.ErrSilent, timeout, late, unit)
		default:
			return nil, fmt.Errorf("%w: % x, and no more within %v", protocol.ErrCut, shortened(l.Buf), timeout)
		}
	}
}
