package modbus

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/labtuner/tuner/drivers/serial/port"
	"github.com/labtuner/tuner/drivers/serial/protocol"
)

// server is the instrument that a description of registers describes.
type server struct {
	talk     *Protocol
	channels []*protocol.Channel
	dev      *protocol.Served
	heard    []byte
}

// Instrument implements protocol.Protocol.
func (t *Protocol) Instrument(channels []*protocol.Channel, dev *protocol.Served) (port.Instrument, error) {
	return &server{talk: t, channels: channels, dev: dev}, nil
}

// requestLength is how long a request is, as far as its first bytes tell; 0: its
// function is not one that is served.
func requestLength(start []byte) int {
	if len(start) < 2 {
		return 8
	}
	switch start[1] {
	case readHolding, readInput, writeSingle:
		return 8
	case writeMultiple:
		if len(start) < 7 {
			return 9
		}
		return 9 + int(start[6])
	}
	return 0
}

// Reset implements instrument.
func (s *server) Reset() { s.heard = nil }

// Hear implements instrument. Bytes that are no request are thrown away with
// everything that came with them: the next request comes after a silence.
func (s *server) Hear(ctx context.Context, data []byte) ([]byte, error) {
	s.heard = append(s.heard, data...)
	var said []byte
	for len(s.heard) > 0 {
		n := requestLength(s.heard)
		if n > len(s.heard) {
			break
		}
		if n == 0 || !Intact(s.heard[:n]) {
			s.heard = nil
			break
		}
		request := s.heard[:n]
		s.heard = slices.Clone(s.heard[n:])
		if int(request[0]) == s.talk.Address {
			said = append(said, s.answer(ctx, request)...)
		}
	}
	return said, ctx.Err()
}

// answer carries a request out; nil is silence.
func (s *server) answer(ctx context.Context, request []byte) []byte {
	register := int(binary.BigEndian.Uint16(request[2:]))
	if request[1] == readHolding || request[1] == readInput {
		return s.read(ctx, request, register, int(binary.BigEndian.Uint16(request[4:])))
	}
	values := request[4:6]
	if request[1] == writeMultiple {
		values = request[7 : len(request)-2]
	}
	return s.write(ctx, request, register, values)
}

func refusal(request []byte, code byte) []byte {
	return Sealed([]byte{request[0], request[1] | failed, code})
}

// read answers functions 3 and 4: every register that is asked for must be one of
// a channel, or what expect looks at.
func (s *server) read(ctx context.Context, request []byte, register, count int) []byte {
	if count < 1 || count > maxRegisters {
		return refusal(request, 3)
	}
	bytes := make([]byte, 2*count)
	have := make([]bool, count)
	place := func(r *Register, b []byte) {
		for i := range r.words() {
			if at := r.Address + i - register; at >= 0 && at < count {
				copy(bytes[2*at:], b[2*i:2*i+2])
				have[at] = true
			}
		}
	}
	if e := s.talk.Expect; e != nil && e.Register.Function == int(request[1]) {
		if b, _, err := e.Register.encode(e.Value); err == nil {
			place(&e.Register, b)
		}
	}
	var asked []*protocol.Channel
	var names []string
	for _, c := range s.channels {
		r := s.talk.channels[c.Index].Read
		if r != nil && r.Function == int(request[1]) && r.Address < register+count && r.Address+r.words() > register {
			asked, names = append(asked, c), append(names, c.Name)
		}
	}
	if len(names) > 0 {
		values := s.dev.After(ctx, names, s.talk.timing.ReplyTimeout*4/5)
		if values == nil {
			return nil
		}
		for _, c := range asked {
			r := s.talk.channels[c.Index].Read
			b, _, err := r.encode(c.ToRaw(values[c.Name]))
			if err != nil {
				return refusal(request, 4)
			}
			place(r, b)
		}
	}
	if slices.Contains(have, false) {
		return refusal(request, 2)
	}
	return Sealed(append([]byte{request[0], request[1], byte(len(bytes))}, bytes...))
}

// write answers functions 6 and 16: the registers must be those of one channel.
func (s *server) write(ctx context.Context, request []byte, register int, values []byte) []byte {
	for _, c := range s.channels {
		r := s.talk.channels[c.Index].Write
		if r == nil || r.Function != int(request[1]) || r.Address != register {
			continue
		}
		if len(values) != 2*r.words() {
			return refusal(request, 3)
		}
		raw, err := r.decode(values)
		if err != nil {
			return refusal(request, 3)
		}
		v := c.Scale*raw + c.Offset
		if c.Accepts(c.NearLimit(v, c.Min, c.Max), "it has no register to write") != nil {
			return refusal(request, 3)
		}
		if s.dev.Set(ctx, c, c.NearLimit(v, c.Min, c.Max)) != nil {
			return refusal(request, 4)
		}
		return Sealed(slices.Clone(request[:6]))
	}
	return refusal(request, 2)
}
