package modbus

import (
	"encoding/binary"
	"fmt"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/exec/wire"
	"github.com/labtuner/tuner/drivers/serial/protocol"
)

// Modbus RTU in bytes (MODBUS over Serial Line 1.02, and MODBUS Application
// Protocol 1.1b3, sections 6.3, 6.4, 6.6 and 6.12). Every frame is
//
//	address (1)  function (1)  data (n)  CRC-16, low byte first (2)
//
// and two frames are apart by a silence of 3.5 characters. Registers and counts
// are big-endian.
//
//	function 3, 4   request   register (2)  count (2)
//	                answer    bytes (1)  registers (2 each)
//	function 6      request   register (2)  value (2)                       answer: the same
//	function 16     request   register (2)  count (2)  bytes (1)  values    answer: register, count
//	failure         answer    function + 0x80, exception code (1)
const (
	readHolding   = 3
	readInput     = 4
	writeSingle   = 6
	writeMultiple = 16
	failed        = 0x80

	maxRegisters = 125 // that one answer can hold
	MaxFrame     = 256 // bytes
)

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

// ReadRequest asks for count registers.
func ReadRequest(address, function, register, count int) []byte {
	frame := []byte{byte(address), byte(function)}
	frame = binary.BigEndian.AppendUint16(frame, uint16(register))
	return Sealed(binary.BigEndian.AppendUint16(frame, uint16(count)))
}

// WriteRequest sets registers from their bytes, with function 6 or 16.
func WriteRequest(address, function, register int, values []byte) []byte {
	frame := []byte{byte(address), byte(function)}
	frame = binary.BigEndian.AppendUint16(frame, uint16(register))
	if function == writeMultiple {
		frame = binary.BigEndian.AppendUint16(frame, uint16(len(values)/2))
		frame = append(frame, byte(len(values)))
	}
	return Sealed(append(frame, values...))
}

// answerLength is how long the answer to a request is, as far as its first bytes
// tell; start may be short.
func answerLength(request, start []byte) int {
	switch {
	case len(start) >= 2 && start[1]&failed != 0:
		return 5
	case request[1] == readHolding || request[1] == readInput:
		return 5 + 2*int(binary.BigEndian.Uint16(request[4:]))
	}
	return 8
}

// parseAnswer checks that a frame answers the request, and gives the registers of
// a reading.
func parseAnswer(request, answer []byte) ([]byte, error) {
	damaged := func(why string) error {
		return fmt.Errorf("%w: %s: % x to % x", protocol.ErrFrame, why, shortened(answer), request)
	}
	switch {
	case !Intact(answer):
		return nil, damaged("the check sum is wrong")
	case answer[0] != request[0]:
		return nil, damaged("it is from another address")
	case answer[1] == request[1]|failed && len(answer) == 5:
		return nil, exception(answer[2])
	case answer[1] != request[1] || len(answer) != answerLength(request, answer):
		return nil, damaged("it answers another function")
	}
	if request[1] == readHolding || request[1] == readInput {
		if int(answer[2]) != len(answer)-5 {
			return nil, damaged("it counts its bytes wrongly")
		}
		return answer[3 : len(answer)-2], nil
	}
	if string(answer[2:6]) != string(request[2:6]) {
		return nil, damaged("it does not repeat the request")
	}
	return nil, nil
}

// shortened keeps messages on a line.
func shortened(frame []byte) []byte { return frame[:min(len(frame), wire.Excerpt/3)] }

// exception is an instrument's refusal, by its name in the standard.
func exception(code byte) error {
	names := map[byte]string{1: "illegal function", 2: "illegal data address", 3: "illegal data value", 4: "server device failure",
		5: "acknowledge: it works on it", 6: "server device busy", 7: "negative acknowledge", 8: "memory parity error",
		10: "gateway path unavailable", 11: "gateway target device failed to respond"}
	name, known := names[code]
	if !known {
		name = "not in the standard"
	}
	kind := drivers.ErrRefused
	if code == 5 || code == 6 {
		kind = protocol.ErrBusy
	}
	return fmt.Errorf("%w: exception %d, %s", kind, code, name)
}
