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

// Reset implements instrument.
func (s *server) Reset() { s.heard = nil }

// Hear implements instrument. Bytes that are no request are thrown away with
// everything that came with them: the next request comes after a silence.
func (s *server) Hear(ctx context.Context, data []byte) ([]byte, error) {
	s.heard = append(s.heard, data...)
	var said []byte
	for {
		frame, unit, body, broken := s.talk.split(s.heard)
		if broken {
			s.heard = nil
		}
		if frame == nil {
			break
		}
		s.heard = slices.Clone(s.heard[len(frame):])
		if unit != s.talk.Address {
			continue
		}
		if answer := s.answer(ctx, body); answer != nil {
			said = append(said, s.talk.reply(frame, answer)...)
		}
	}
	return said, ctx.Err()
}

// answer carries a request out; nil is silence.
func (s *server) answer(ctx context.Context, request []byte) []byte {
	function := int(request[0])
	if len(request) < 5 || !reads(request[0]) && function != writeCoil && function != writeSingle && function != writeCoils && function != writeMultiple {
		return refusal(request, 1)
	}
	address := int(binary.BigEndian.Uint16(request[1:]))
	if reads(request[0]) {
		return s.read(ctx, request, address, int(binary.BigEndian.Uint16(request[3:])))
	}
	values := request[3:5]
	switch {
	case function == writeCoil && values[0] != coilOn>>8 && values[0] != 0 || function == writeCoil && values[1] != 0:
		return refusal(request, 3)
	case function == writeCoil:
		values = []byte{values[0] & 1}
	case function == writeCoils || function == writeMultiple:
		if len(request) < 7 || len(request) != 6+int(request[5]) {
			return refusal(request, 3)
		}
		values = request[6:]
	}
	if function == writeCoils {
		if len(values) != 1 || binary.BigEndian.Uint16(request[3:]) != 1 {
			return refusal(request, 3)
		}
		values = []byte{values[0] & 1}
	}
	return s.write(ctx, request, address, values)
}

func refusal(request []byte, code byte) []byte { return []byte{request[0] | failed, code} }

// read answers functions 1 to 4: every address that is asked for must be one of a channel, or
// what expect looks at.
func (s *server) read(ctx context.Context, request []byte, first, count int) []byte {
	function := int(request[0])
	shape := &Register{Function: function}
	if count < 1 || count > shape.most() {
		return refusal(request, 3)
	}
	bytes := make([]byte, dataLength(request))
	have := make([]bool, count)
	place := func(r *Register, b []byte) {
		for i := range r.size() {
			at := r.Address + i - first
			switch {
			case at < 0 || at >= count:
				continue
			case ofBits(function):
				bytes[at/8] |= b[0] << (at % 8)
			default:
				copy(bytes[2*at:], b[2*i:2*i+2])
			}
			have[at] = true
		}
	}
	if e := s.talk.Expect; e != nil && e.Register.Function == function {
		if b, _, err := e.Register.encode(e.Value); err == nil {
			place(&e.Register, b)
		}
	}
	asked := map[*protocol.Channel][]*Register{}
	var names []string
	for _, c := range s.channels {
		p := s.talk.channels[c.Index]
		for _, r := range []*Register{p.Read, p.back()} {
			if r != nil && r.Function == function && r.Address < first+count && r.Address+r.size() > first {
				asked[c] = append(asked[c], r)
			}
		}
		if len(asked[c]) > 0 {
			names = append(names, c.Name)
		}
	}
	if len(names) > 0 {
		values := s.dev.After(ctx, names, s.talk.timing.ReplyTimeout*4/5)
		if values == nil {
			return nil
		}
		for c, registers := range asked {
			for _, r := range registers {
				b, _, err := r.encode(c.ToRaw(values[c.Name]))
				if err != nil {
					return refusal(request, 4)
				}
				place(r, b)
			}
		}
	}
	if slices.Contains(have, false) {
		return refusal(request, 2)
	}
	return append([]byte{request[0], byte(len(bytes))}, bytes...)
}

// write answers functions 5, 6, 15 and 16: what is set must be the value of one channel.
func (s *server) write(ctx context.Context, request []byte, address int, values []byte) []byte {
	for _, c := range s.channels {
		r := s.talk.channels[c.Index].Write
		if r == nil || r.Function != int(request[0]) || r.Address != address {
			continue
		}
		if !ofBits(r.Function) && len(values) != 2*r.size() {
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
		return slices.Clone(request[:5])
	}
	return refusal(request, 2)
}
