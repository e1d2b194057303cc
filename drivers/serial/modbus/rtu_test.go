package modbus

import (
	"bytes"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/protocol"
)

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// opened takes the answer to a request out of its frame, both of a serial line, and gives what
// was read.
func opened(request, answer []byte) ([]byte, error) {
	body, err := rtu{}.open(int(request[0]), request, answer)
	if err != nil {
		return nil, err
	}
	return parseAnswer(request[1:len(request)-2], body)
}

// TestModbusVectors: frames as published in the protocol's introductions (the check
// value of CRC-16/MODBUS, and the examples of simplymodbus.ca).
func TestModbusVectors(t *testing.T) {
	if got := crc16([]byte("123456789")); got != 0x4B37 {
		t.Errorf("the check value is %#x, want 0x4b37", got)
	}
	for _, c := range []struct {
		request []byte
		want    string
		answer  string
		values  string
	}{
		{ReadRequest(0x11, 3, 0x6B, 3), "11 03 00 6B 00 03 76 87", "11 03 06 AE 41 56 52 43 40 49 AD", "AE 41 56 52 43 40"},
		{ReadRequest(0x11, 4, 8, 1), "11 04 00 08 00 01 B2 98", "11 04 02 00 0A F8 F4", "00 0A"},
		{WriteRequest(0x11, 6, 1, []byte{0, 3}), "11 06 00 01 00 03 9A 9B", "11 06 00 01 00 03 9A 9B", ""},
		{WriteRequest(0x11, 16, 1, []byte{0, 10, 1, 2}), "11 10 00 01 00 02 04 00 0A 01 02 C6 F0", "11 10 00 01 00 02 12 98", ""},
		{ReadRequest(1, 3, 0, 10), "01 03 00 00 00 0A C5 CD", "", ""},
		{ReadRequest(0x11, 1, 0x13, 0x25), "11 01 00 13 00 25 0E 84", "11 01 05 CD 6B B2 0E 1B 45 E6", "CD 6B B2 0E 1B"},
		{ReadRequest(0x11, 2, 0xC4, 0x16), "11 02 00 C4 00 16 BA A9", "11 02 03 AC DB 35 20 18", "AC DB 35"},
		{WriteRequest(0x11, 5, 0xAC, []byte{1}), "11 05 00 AC FF 00 4E 8B", "11 05 00 AC FF 00 4E 8B", ""},
	} {
		if want := unhex(t, c.want); !bytes.Equal(c.request, want) {
			t.Errorf("request % X, want % X", c.request, want)
		}
		if c.answer == "" {
			continue
		}
		answer := unhex(t, c.answer)
		if n := answerLength(c.request[1:], answer[1:2]) + 3; n != len(answer) {
			t.Errorf("% X: an answer of %d bytes is expected, it has %d", c.request, n, len(answer))
		}
		values, err := opened(c.request, answer)
		if err != nil || !bytes.Equal(values, unhex(t, c.values)) {
			t.Errorf("% X gives % X, %v; want %s", answer, values, err, c.values)
		}
		// Any flipped bit is noticed.
		for i := range answer {
			for bit := range 8 {
				bad := slices.Clone(answer)
				bad[i] ^= 1 << bit
				if values, err := opened(c.request, bad); err == nil {
					t.Errorf("% X was taken: % X", bad, values)
				}
			}
		}
	}
}

func TestModbusExceptions(t *testing.T) {
	request := ReadRequest(1, 3, 0, 1)
	for code, name := range map[byte]string{1: "illegal function", 2: "illegal data address", 3: "illegal data value", 4: "server device failure", 11: "gateway target", 99: "not in the standard"} {
		_, err := opened(request, Sealed([]byte{1, 0x83, code}))
		if !errors.Is(err, drivers.ErrRefused) || !strings.Contains(err.Error(), name) {
			t.Errorf("exception %d: %v", code, err)
		}
	}
	if _, err := opened(request, Sealed([]byte{1, 0x83, 6})); !errors.Is(err, protocol.ErrBusy) {
		t.Errorf("busy: %v", err)
	}
}

// TestRegisterCodes: expected bytes are those of the types' definitions, laid out by
// hand.
func TestRegisterCodes(t *testing.T) {
	for _, c := range []struct {
		kind, order string
		value       float64
		want        string
	}{
		{"uint16", "", 65535, "FF FF"}, {"int16", "", -2, "FF FE"}, {"int16", "BADC", -2, "FE FF"}, {"uint16", "DCBA", 0x1234, "34 12"},
		{"uint32", "", 0x12345678, "12 34 56 78"}, {"uint32", "CDAB", 0x12345678, "56 78 12 34"},
		{"uint32", "BADC", 0x12345678, "34 12 78 56"}, {"uint32", "DCBA", 0x12345678, "78 56 34 12"},
		{"int32", "", -2147483648, "80 00 00 00"}, {"float32", "", 1.5, "3F C0 00 00"}, {"float32", "CDAB", -0.1015625, "00 00 BD D0"},
		{"int16", "", 2.5, "00 03"},
		{"uint64", "", 0x1122334455667, "00 01 12 23 34 45 56 67"}, {"uint64", "CDAB", 0x1122334455667, "56 67 34 45 12 23 00 01"},
		{"uint64", "BADC", 0x1122334455667, "01 00 23 12 45 34 67 56"}, {"uint64", "DCBA", 0x1122334455667, "67 56 45 34 23 12 01 00"},
		{"int64", "", -2, "FF FF FF FF FF FF FF FE"}, {"int64", "CDAB", -2, "FF FE FF FF FF FF FF FF"}, {"int64", "", 1 << 53, "00 20 00 00 00 00 00 00"},
		{"float64", "", 1.5, "3F F8 00 00 00 00 00 00"}, {"float64", "CDAB", -0.1015625, "00 00 00 00 00 00 BF BA"}, {"float64", "DCBA", 1.5, "00 00 00 00 00 00 F8 3F"},
	} {
		r := Register{Type: c.kind, Order: c.order}
		b, rounded, err := r.encode(c.value)
		if err != nil || !bytes.Equal(b, unhex(t, c.want)) {
			t.Errorf("%s %s of %v is % X, %v; want %s", c.kind, c.order, c.value, b, err, c.want)
			continue
		}
		if got, err := r.decode(b); err != nil || got != rounded {
			t.Errorf("%s %s: % X is read as %v, %v; want %v", c.kind, c.order, b, got, err, rounded)
		}
	}
	for kind, v := range map[string]float64{"bool": 2, "uint16": -1, "int16": 32768, "uint32": 4294967296, "int32": -2147483649, "float32": 1e39,
		"uint64": -1, "int64": 1<<53 + 2} {
		if b, _, err := (&Register{Type: kind}).encode(v); err == nil {
			t.Errorf("%v went into %s as % X", v, kind, b)
		}
	}
	for _, bits := range []string{"7F 80 00 00", "FF 80 00 00", "7F C0 00 00", "7F 80 00 01"} {
		if v, err := (&Register{Type: "float32"}).decode(unhex(t, bits)); err == nil {
			t.Errorf("%s was taken for %v", bits, v)
		}
	}
	for _, bits := range []string{"7F F0 00 00 00 00 00 00", "FF F8 00 00 00 00 00 00"} {
		if v, err := (&Register{Type: "float64"}).decode(unhex(t, bits)); err == nil {
			t.Errorf("%s was taken for %v", bits, v)
		}
	}
	if _, err := (&Register{Type: "int16", None: new(32767.0)}).decode([]byte{0x7F, 0xFF}); !errors.Is(err, errNone) {
		t.Errorf("what stands for no value: %v", err)
	}
}

// FuzzModbusAnswer: whatever comes back, nothing crashes and no value is not
// finite; and a value only comes out of a frame whose check sum is right.
func FuzzModbusAnswer(f *testing.F) {
	f.Add(uint8(3), uint16(10), uint8(3), []byte{17, 3, 6, 0, 0, 0, 0, 0, 0, 1, 2})
	f.Add(uint8(4), uint16(0), uint8(2), Sealed([]byte{17, 4, 4, 0x7F, 0xC0, 0, 0}))
	f.Add(uint8(16), uint16(0), uint8(2), Sealed([]byte{17, 0x90, 3}))
	f.Fuzz(func(t *testing.T, function uint8, register uint16, count uint8, answer []byte) {
		n := int(count)%maxRegisters + 1
		request := ReadRequest(17, int(function), int(register), n)
		if function == writeSingle || function == writeMultiple || function == writeCoil || function == writeCoils {
			request = WriteRequest(17, int(function), int(register), make([]byte, 2*n))
		}
		for _, frame := range [][]byte{answer, Sealed(slices.Clone(answer))} {
			want := 3 + answerLength(request[1:], frame[min(1, len(frame)):])
			if want < 5 || want > MaxFrame {
				t.Fatalf("an answer of %d bytes is expected", want)
			}
			if len(frame) != want {
				continue // never handed on
			}
			values, err := opened(request, frame)
			if err != nil {
				continue
			}
			if !Intact(frame) {
				t.Errorf("% x was taken", frame)
			}
			if ofBits(int(function)) {
				continue
			}
			for _, kind := range []string{"uint16", "int16", "uint32", "int32", "float32", "uint64", "int64", "float64"} {
				r := Register{Type: kind, Order: []string{"ABCD", "CDAB", "BADC", "DCBA"}[function%4]}
				if len(values) < 2*r.size() {
					continue
				}
				if v, err := r.decode(values[:2*r.size()]); !drivers.Finite(v) || (err != nil && v != 0) {
					t.Errorf("%s of % x is %v, %v", kind, values, v, err)
				}
			}
		}
	})
}

// TestWriteAnswerRepeatsTheRequest: an answer with the right check sum that repeats another address or
// value is no answer to this write.
func TestWriteAnswerRepeatsTheRequest(t *testing.T) {
	request := WriteRequest(0x11, 6, 1, []byte{0, 3})
	for _, other := range [][]byte{WriteRequest(0x11, 6, 2, []byte{0, 3}), WriteRequest(0x11, 6, 1, []byte{0, 4})} {
		if _, err := opened(request, other); !errors.Is(err, protocol.ErrFrame) {
			t.Errorf("% X answered by % X: %v", request, other, err)
		}
	}
	if _, err := opened(request, request); err != nil {
		t.Errorf("its own copy: %v", err)
	}
}

// TestSizes: how many registers a value takes, where one that is written is read back, and how long a
// serial line is silent between two frames.
func TestSizes(t *testing.T) {
	for kind, want := range map[string]int{"bool": 1, "uint16": 1, "int16": 1, "uint32": 2, "int32": 2, "float32": 2, "uint64": 4, "int64": 4, "float64": 4} {
		if got := (&Register{Type: kind}).size(); got != want {
			t.Errorf("%s takes %d registers, want %d", kind, got, want)
		}
	}
	tolerance := 0.0
	for function, want := range map[int]int{writeSingle: readHolding, writeCoil: readCoils} {
		if back := (Places{Write: &Register{Function: function}, Verify: &tolerance}).back(); back == nil || back.Function != want {
			t.Errorf("written with function %d, read back by %+v", function, back)
		}
	}
	if back := (Places{Read: &Register{}, Verify: &tolerance}).back(); back != nil {
		t.Errorf("nothing is written, and %+v is read back", back)
	}
	if got := (rtu{silence: time.Second}).gap(); got != time.Second {
		t.Errorf("a silence of %v", got)
	}
}
