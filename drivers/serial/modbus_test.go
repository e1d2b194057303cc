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
	"github.com/labtuner/tuner/drivers/serial/modbus"
	"github.com/labtuner/tuner/drivers/serial/port/porttest"
	"github.com/labtuner/tuner/drivers/serial/text"
)

// ovenOptions describe the counter of fake_test.go as registers.
func ovenOptions() (Options, []ChannelOptions) {
	o := Default()
	o.Protocol, o.Port, o.Address, o.Baud = "modbus", "/dev/fake", 17, 19200
	o.ReplyTimeout, o.ReadTimeout = 200*time.Millisecond, 30*time.Millisecond
	o.Expect = &modbus.Expect{Register: modbus.Register{Function: 4, Address: 500, Type: "uint16"}, Value: 4711}
	return o, []ChannelOptions{
		{Channel: "a", Unit: "degC", ScaleKeys: drivers.ScaleKeys{Min: ptr(-100.0), Max: ptr(100.0), Safe: ptr(20.0), Scale: ptr(0.1)},
			Read:  &Read{Register: &modbus.Register{Function: 3, Address: 10, Type: "int16"}},
			Write: &Write{Register: &modbus.Register{Function: 6, Address: 10, Type: "int16"}}},
		{Channel: "b", ScaleKeys: drivers.ScaleKeys{Safe: ptr(0.0)}, Read: &Read{Register: &modbus.Register{Function: 3, Address: 11, Type: "float32", Order: "CDAB"}},
			Write: &Write{Idempotent: true, Register: &modbus.Register{Function: 16, Address: 11, Type: "float32", Order: "CDAB"}}},
		{Channel: "s", Read: &Read{Register: &modbus.Register{Function: 4, Address: 100, Type: "uint32"}}},
	}
}

// TestModbusDevice: values, limits, safe state, and what the frames were.
func TestModbusDevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, channels := ovenOptions()
		dev, b, c := onBench(t, o, channels)
		f := b.last()
		var frames []string
		hear := f.Hear
		f.Hear = func(data []byte) []byte { frames = append(frames, hex.EncodeToString(data)); return hear(data) }
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

// TestModbusReadsBackNoNumber: what an instrument has in place of a number, read back after a write
// of 0, is not taken for 0.
func TestModbusReadsBackNoNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, channels := ovenOptions()
		channels[1].Write.Verify = &text.Verify{}
		dev, b, c := onBench(t, o, channels)
		f := b.last()
		hear := f.Hear
		f.Hear = func(data []byte) []byte {
			if data[1] == 3 {
				c.values["b"] = 9.9e37
			}
			return hear(data)
		}
		if err := set(dev, "b", 0); err == nil || !strings.Contains(err.Error(), "stands for an overload or for no number") {
			t.Errorf("set to 0 and read back as 9.9e37: %v", err)
		}
	})
}

// TestModbusFaults: a damaged frame is no data, and nothing after it is wrong.
func TestModbusFaults(t *testing.T) {
	for name, change := range map[string]func([]byte) []byte{
		"silence":          func([]byte) []byte { return nil },
		"flipped bit":      func(b []byte) []byte { b[4] ^= 1; return b },
		"other address":    func(b []byte) []byte { return modbus.Sealed(append([]byte{18}, b[1:len(b)-2]...)) },
		"other function":   func(b []byte) []byte { return modbus.Sealed(append([]byte{17, 4}, b[2:len(b)-2]...)) },
		"too short":        func(b []byte) []byte { return b[:len(b)-1] },
		"too long":         func(b []byte) []byte { return append(b, 0) },
		"two answers":      func(b []byte) []byte { return append(b, b...) },
		"busy":             func([]byte) []byte { return modbus.Sealed([]byte{17, 0x83, 6}) },
		"other byte sum":   func(b []byte) []byte { b[2]++; return modbus.Sealed(b[:len(b)-2]) },
		"nothing but 0xFF": func([]byte) []byte { return bytes.Repeat([]byte{0xFF}, 40) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, channels := ovenOptions()
				dev, b, _ := onBench(t, o, channels)
				f := b.last()
				hear, bad := f.Hear, 2
				f.Hear = func(data []byte) []byte {
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
		other.Expect = &modbus.Expect{Register: o.Expect.Register, Value: 4712}
		c := newCounter()
		b := &bench{}
		b.set(func() *porttest.Fake { return porttest.NewFake(t, hearing(t, speak(t, other, channels, c))) })
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
	t.Parallel()
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

// FuzzModbusServer: whatever is sent to a served instrument, it neither crashes nor
// answers what is not intact.
func FuzzModbusServer(f *testing.F) {
	o, channels := ovenOptions()
	f.Add(modbus.ReadRequest(17, 3, 10, 3))
	f.Add(modbus.WriteRequest(17, 16, 11, []byte{0, 0, 0x7F, 0xC0}))
	f.Add(modbus.WriteRequest(17, 6, 10, []byte{0x7F, 0xFF}))
	f.Fuzz(func(t *testing.T, data []byte) {
		o := o
		o.ReplyTimeout = time.Millisecond
		c := newCounter()
		in := speak(t, o, channels, c)
		for _, request := range [][]byte{data, modbus.Sealed(slices.Clone(data))} {
			answer, err := in.Hear(context.Background(), request)
			if err != nil {
				t.Fatal(err)
			}
			if len(answer) > 0 && len(answer) <= modbus.MaxFrame && !modbus.Intact(answer) && len(request) <= 13 {
				t.Errorf("% x is answered with % x", request, answer)
			}
			in.Reset()
		}
		for name, v := range c.values {
			if !drivers.Finite(v) {
				t.Errorf("%s was set to %v", name, v)
			}
		}
	})
}
