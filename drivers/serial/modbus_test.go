package serial

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/driverstest"
)

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
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
		{readRequest(0x11, 3, 0x6B, 3), "11 03 00 6B 00 03 76 87", "11 03 06 AE 41 56 52 43 40 49 AD", "AE 41 56 52 43 40"},
		{readRequest(0x11, 4, 8, 1), "11 04 00 08 00 01 B2 98", "11 04 02 00 0A F8 F4", "00 0A"},
		{writeRequest(0x11, 6, 1, []byte{0, 3}), "11 06 00 01 00 03 9A 9B", "11 06 00 01 00 03 9A 9B", ""},
		{writeRequest(0x11, 16, 1, []byte{0, 10, 1, 2}), "11 10 00 01 00 02 04 00 0A 01 02 C6 F0", "11 10 00 01 00 02 12 98", ""},
		{readRequest(1, 3, 0, 10), "01 03 00 00 00 0A C5 CD", "", ""},
	} {
		if want := unhex(t, c.want); !bytes.Equal(c.request, want) {
			t.Errorf("request % X, want % X", c.request, want)
		}
		if c.answer == "" {
			continue
		}
		answer := unhex(t, c.answer)
		if n := answerLength(c.request, answer[:2]); n != len(answer) {
			t.Errorf("% X: an answer of %d bytes is expected, it has %d", c.request, n, len(answer))
		}
		values, err := parseAnswer(c.request, answer)
		if err != nil || !bytes.Equal(values, unhex(t, c.values)) {
			t.Errorf("% X gives % X, %v; want %s", answer, values, err, c.values)
		}
		// Any flipped bit is noticed.
		for i := range answer {
			for bit := range 8 {
				bad := slices.Clone(answer)
				bad[i] ^= 1 << bit
				if values, err := parseAnswer(c.request, bad); err == nil {
					t.Errorf("% X was taken: % X", bad, values)
				}
			}
		}
	}
}

func TestModbusExceptions(t *testing.T) {
	request := readRequest(1, 3, 0, 1)
	for code, name := range map[byte]string{1: "illegal function", 2: "illegal data address", 3: "illegal data value", 4: "server device failure", 11: "gateway target", 99: "not in the standard"} {
		_, err := parseAnswer(request, sealed([]byte{1, 0x83, code}))
		if !errors.Is(err, drivers.ErrRefused) || !strings.Contains(err.Error(), name) {
			t.Errorf("exception %d: %v", code, err)
		}
	}
	if _, err := parseAnswer(request, sealed([]byte{1, 0x83, 6})); !errors.Is(err, errBusy) {
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
	for kind, v := range map[string]float64{"uint16": -1, "int16": 32768, "uint32": 4294967296, "int32": -2147483649, "float32": 1e39} {
		if b, _, err := (&Register{Type: kind}).encode(v); err == nil {
			t.Errorf("%v went into %s as % X", v, kind, b)
		}
	}
	for _, bits := range []string{"7F 80 00 00", "FF 80 00 00", "7F C0 00 00", "7F 80 00 01"} {
		if v, err := (&Register{Type: "float32"}).decode(unhex(t, bits)); err == nil {
			t.Errorf("%s was taken for %v", bits, v)
		}
	}
	if _, err := (&Register{Type: "int16", None: ptr(32767.0)}).decode([]byte{0x7F, 0xFF}); !errors.Is(err, errNone) {
		t.Errorf("what stands for no value: %v", err)
	}
}

// ovenOptions describe the counter of fake_test.go as registers.
func ovenOptions() (Options, []ChannelOptions) {
	o := Default()
	o.Protocol, o.Port, o.Address, o.Baud = "modbus", "/dev/fake", 17, 19200
	o.ReplyTimeout, o.ReadTimeout = 200*time.Millisecond, 30*time.Millisecond
	o.Expect = &Expect{Register: Register{Function: 4, Address: 500, Type: "uint16"}, Value: 4711}
	return o, []ChannelOptions{
		{Channel: "a", Unit: "degC", Min: ptr(-100.0), Max: ptr(100.0), Safe: ptr(20.0), Scale: ptr(0.1),
			Read:  &Read{Register: &Register{Function: 3, Address: 10, Type: "int16"}},
			Write: &Write{Register: &Register{Function: 6, Address: 10, Type: "int16"}}},
		{Channel: "b", Safe: ptr(0.0), Read: &Read{Register: &Register{Function: 3, Address: 11, Type: "float32", Order: "CDAB"}},
			Write: &Write{Idempotent: true, Register: &Register{Function: 16, Address: 11, Type: "float32", Order: "CDAB"}}},
		{Channel: "s", Read: &Read{Register: &Register{Function: 4, Address: 100, Type: "uint32"}}},
	}
}

// TestModbusDevice: values, limits, safe state, and what the frames were.
func TestModbusDevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, channels := ovenOptions()
		dev, b, c := onBench(t, o, channels)
		f := b.last()
		var frames []string
		hear := f.hear
		f.hear = func(data []byte) []byte { frames = append(frames, hex.EncodeToString(data)); return hear(data) }
		if _, err := dev.Write(t.Context(), drivers.Setpoints{Values: map[string]float64{"a": -12.34, "b": 2.5}}); err != nil {
			t.Fatal(err)
		}
		r, err := dev.Read(t.Context(), []string{"s", "b", "a"})
		if err != nil || math.Abs(r.Values["a"]-(-12.3)) > 1e-12 || r.Values["b"] != 2.5 || r.Values["s"] == 0 {
			t.Errorf("%v, %v", r.Values, err)
		}
		// -123 is ff85; 2.5 is 40200000. a and b touch and are read with one request.
		want := []string{"1106000aff85", "1110000b0002040000" + "4020", "1103000a0003", "110400640002"}
		for i, w := range want {
			if i >= len(frames) || !strings.HasPrefix(frames[i], w) {
				t.Errorf("frame %d of %q should begin with %s", i, frames, w)
			}
		}
		if len(frames) != len(want) {
			t.Errorf("%d frames: %q", len(frames), frames)
		}
		if err := dev.Halt(t.Context()); err != nil {
			t.Error(err)
		}
		if got := c.values; got["a"] != 20 || got["b"] != 0 {
			t.Errorf("after Halt: %v", got)
		}
		if err := set(dev, "a", 100.04); !errors.Is(err, drivers.ErrRefused) {
			t.Errorf("above max: %v", err)
		}
	})
}

// TestModbusFaults: a damaged frame is no data, and nothing after it is wrong.
func TestModbusFaults(t *testing.T) {
	for name, change := range map[string]func([]byte) []byte{
		"silence":          func([]byte) []byte { return nil },
		"flipped bit":      func(b []byte) []byte { b[4] ^= 1; return b },
		"other address":    func(b []byte) []byte { return sealed(append([]byte{18}, b[1:len(b)-2]...)) },
		"other function":   func(b []byte) []byte { return sealed(append([]byte{17, 4}, b[2:len(b)-2]...)) },
		"too short":        func(b []byte) []byte { return b[:len(b)-1] },
		"too long":         func(b []byte) []byte { return append(b, 0) },
		"two answers":      func(b []byte) []byte { return append(b, b...) },
		"busy":             func([]byte) []byte { return sealed([]byte{17, 0x83, 6}) },
		"other byte sum":   func(b []byte) []byte { b[2]++; return sealed(b[:len(b)-2]) },
		"nothing but 0xFF": func([]byte) []byte { return bytes.Repeat([]byte{0xFF}, 40) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, channels := ovenOptions()
				dev, b, _ := onBench(t, o, channels)
				f := b.last()
				hear, bad := f.hear, 2
				f.hear = func(data []byte) []byte {
					answer := hear(data)
					if data[1] == 3 && bad > 0 {
						bad--
						return change(slices.Clone(answer))
					}
					return answer
				}
				if got := value(t, dev, "a"); got != 1 {
					t.Errorf("a is %v", got)
				}
				bad = 3
				if r, err := dev.Read(t.Context(), []string{"a"}); !errors.Is(err, drivers.ErrUnavailable) || len(r.Values) > 0 {
					t.Errorf("three bad answers: %v, %v", r.Values, err)
				}
				if got := value(t, dev, "b"); got != 2 {
					t.Errorf("then b is %v", got)
				}
			})
		})
	}
}

// TestModbusExpect: another instrument on the port is not written to.
func TestModbusExpect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, channels := ovenOptions()
		other := o
		other.Expect = &Expect{Register: o.Expect.Register, Value: 4712}
		c := newCounter()
		b := &bench{}
		b.set(func() *fakePort { return newFakePort(t, hearing(t, speak(t, other, channels, c))) })
		o.Open = b.open
		dev, err := New(o, channels, env(t))
		if err != nil {
			t.Fatal(err)
		}
		defer dev.Close()
		if _, err := dev.Open(t.Context()); err == nil || !strings.Contains(err.Error(), "holds 4712, and expect.value is 4711") {
			t.Errorf("Open: %v", err)
		}
	})
}

// TestModbusConforms checks the contract over a real pseudo-terminal.
func TestModbusConforms(t *testing.T) {
	o, channels := ovenOptions()
	o.Port = filepath.Join(t.TempDir(), "oven")
	o.ReplyTimeout = 150 * time.Millisecond // the silence of each greeting
	serve(t, Plant{Options: o, Channels: channels, Device: newCounter(), Env: env(t)})
	driverstest.Conform(t, func() drivers.Device {
		dev, err := New(o, channels, env(t))
		if err != nil {
			t.Fatal(err)
		}
		return dev
	})
}

// FuzzModbusAnswer: whatever comes back, nothing crashes and no value is not
// finite; and a value only comes out of a frame whose check sum is right.
func FuzzModbusAnswer(f *testing.F) {
	f.Add(uint8(3), uint16(10), uint8(3), []byte{17, 3, 6, 0, 0, 0, 0, 0, 0, 1, 2})
	f.Add(uint8(4), uint16(0), uint8(2), sealed([]byte{17, 4, 4, 0x7F, 0xC0, 0, 0}))
	f.Add(uint8(16), uint16(0), uint8(2), sealed([]byte{17, 0x90, 3}))
	f.Fuzz(func(t *testing.T, function uint8, register uint16, count uint8, answer []byte) {
		n := int(count)%maxRegisters + 1
		request := readRequest(17, int(function), int(register), n)
		if function == writeSingle || function == writeMultiple {
			request = writeRequest(17, int(function), int(register), make([]byte, 2*n))
		}
		for _, frame := range [][]byte{answer, sealed(slices.Clone(answer))} {
			if want := answerLength(request, frame); want < 5 || want > maxFrame {
				t.Fatalf("an answer of %d bytes is expected", want)
			}
			if len(frame) != answerLength(request, frame) {
				continue // never handed on
			}
			values, err := parseAnswer(request, frame)
			if err != nil {
				continue
			}
			if !intact(frame) {
				t.Errorf("% x was taken", frame)
			}
			for _, kind := range []string{"uint16", "int16", "uint32", "int32", "float32"} {
				r := Register{Type: kind, Order: []string{"ABCD", "CDAB", "BADC", "DCBA"}[function%4]}
				if len(values) < 2*r.words() {
					continue
				}
				if v, err := r.decode(values[:2*r.words()]); !finite(v) || (err != nil && v != 0) {
					t.Errorf("%s of % x is %v, %v", kind, values, v, err)
				}
			}
		}
	})
}

// FuzzModbusServer: whatever is sent to a served instrument, it neither crashes nor
// answers what is not intact.
func FuzzModbusServer(f *testing.F) {
	o, channels := ovenOptions()
	f.Add(readRequest(17, 3, 10, 3))
	f.Add(writeRequest(17, 16, 11, []byte{0, 0, 0x7F, 0xC0}))
	f.Add(writeRequest(17, 6, 10, []byte{0x7F, 0xFF}))
	f.Fuzz(func(t *testing.T, data []byte) {
		o := o
		o.ReplyTimeout = time.Millisecond
		c := newCounter()
		in := speak(t, o, channels, c)
		for _, request := range [][]byte{data, sealed(slices.Clone(data))} {
			answer, err := in.hear(context.Background(), request)
			if err != nil {
				t.Fatal(err)
			}
			if len(answer) > 0 && len(answer) <= maxFrame && !intact(answer) && len(request) <= 13 {
				t.Errorf("% x is answered with % x", request, answer)
			}
			in.reset()
		}
		for name, v := range c.values {
			if !finite(v) {
				t.Errorf("%s was set to %v", name, v)
			}
		}
	})
}
