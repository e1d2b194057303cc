package modbus

import (
	"encoding/binary"
	"fmt"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/exec/wire"
	"github.com/labtuner/tuner/drivers/serial/protocol"
)

// Modbus in bytes (MODBUS Application Protocol 1.1b3, sections 6.1 to 6.6, 6.11 and 6.12): a
// function and its data, of 253 bytes at most. Addresses, counts and registers are big-endian;
// coils come eight in a byte, the first in the lowest bit.
//
//	function 1, 2   request   coil (2)  count (2)
//	                answer    bytes (1)  coils
//	function 3, 4   request   register (2)  count (2)
//	                answer    bytes (1)  registers (2 each)
//	function 5, 6   request   address (2)  value (2)                        answer: the same
//	function 15     request   coil (2)  count (2)  bytes (1)  coils         answer: coil, count
//	function 16     request   register (2)  count (2)  bytes (1)  values    answer: register, count
//	failure         answer    function + 0x80, exception code (1)
const (
	readCoils     = 1
	readDiscrete  = 2
	readHolding   = 3
	readInput     = 4
	writeCoil     = 5
	writeSingle   = 6
	writeCoils    = 15
	writeMultiple = 16
	failed        = 0x80

	maxRegisters = 125  // that one answer can hold
	maxCoils     = 2000 // that one answer can hold

	coilOn = 0xFF00 // what function 5 sets
)

// readFunctions are those that give values, bitFunctions those that concern coils.
func reads(function byte) bool { return function >= readCoils && function <= readInput }
func ofBits(function int) bool {
	return function == readCoils || function == readDiscrete || function == writeCoil || function == writeCoils
}

// readRequest asks for count registers or coils.
func readRequest(function, address, count int) []byte {
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16([]byte{byte(function)}, uint16(address)), uint16(count))
}

// writeRequest sets one coil, or registers, from their bytes.
func writeRequest(function, address int, values []byte) []byte {
	request := binary.BigEndian.AppendUint16([]byte{byte(function)}, uint16(address))
	switch function {
	case writeCoil:
		value := uint16(0)
		if values[0] != 0 {
			value = coilOn
		}
		return binary.BigEndian.AppendUint16(request, value)
	case writeCoils:
		return append(request, 0, 1, 1, values[0])
	case writeMultiple:
		request = binary.BigEndian.AppendUint16(request, uint16(len(values)/2))
		request = append(request, byte(len(values)))
	}
	return append(request, values...)
}

// answerLength is how long the answer to a request is, as far as its first byte tells; start
// may be empty.
func answerLength(request, start []byte) int {
	switch {
	case len(start) >= 1 && start[0]&failed != 0:
		return 2
	case reads(request[0]):
		return 2 + dataLength(request)
	}
	return 5
}

// dataLength is how many bytes of values a request to read asks for.
func dataLength(request []byte) int {
	count := int(binary.BigEndian.Uint16(request[3:]))
	if ofBits(int(request[0])) {
		return (count + 7) / 8
	}
	return 2 * count
}

// parseAnswer checks that an answer is one to the request, and gives the bytes of what was read.
func parseAnswer(request, answer []byte) ([]byte, error) {
	damaged := func(why string) error {
		return fmt.Errorf("%w: %s: % x to % x", protocol.ErrFrame, why, shortened(answer), request)
	}
	switch {
	case len(answer) == 2 && answer[0] == request[0]|failed:
		return nil, exception(answer[1])
	case len(answer) == 0 || answer[0] != request[0] || len(answer) != answerLength(request, answer):
		return nil, damaged("it answers another function")
	}
	if reads(request[0]) {
		if int(answer[1]) != len(answer)-2 {
			return nil, damaged("it counts its bytes wrongly")
		}
		return answer[2:], nil
	}
	if string(answer[1:5]) != string(request[1:5]) {
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
