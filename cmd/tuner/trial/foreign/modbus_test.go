package foreign

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/trial"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial"
	"github.com/labtuner/tuner/drivers/serial/modbus"
	"github.com/labtuner/tuner/drivers/serial/text"
	"github.com/labtuner/tuner/loop/worker"
)

// TestModbusTypes: every type of register in both word orders, as pymodbus lays it out and reads it.
func TestModbusTypes(t *testing.T) {
	python, port := python(t), trial.FreePort(t)
	// Each value is exact in its type; 2^52+1 needs all of a double's digits.
	values := map[string][2]float64{"uint16": {65535, 4660}, "int16": {-2, -32768}, "uint32": {4294967295, 305419896}, "int32": {-2147483648, 19088743},
		"float32": {-0.1015625, 1.5}, "uint64": {1<<52 + 1, 1 << 40}, "int64": {-(1<<52 + 1), -3}, "float64": {-0.1, 3.141592653589793}}
	var before, after [][]any
	var channels []serial.ChannelOptions
	put := map[string]float64{}
	for kind, v := range values {
		for order, word := range map[string]string{"ABCD": "big", "CDAB": "little"} {
			address, name := 10*len(before), kind+"-"+order
			row := func(v float64) []any {
				number := json.RawMessage(strconv.FormatFloat(v, 'f', -1, 64))
				return []any{address, strings.ToUpper(kind), word, number}
			}
			before, after = append(before, row(v[0])), append(after, row(v[1]))
			r := &modbus.Register{Function: 3, Address: address, Type: kind, Order: order}
			w := &modbus.Register{Function: 16, Address: address, Type: kind, Order: order}
			channels = append(channels, serial.ChannelOptions{Channel: name, ScaleKeys: drivers.ScaleKeys{Safe: &v[0]}, Read: &serial.Read{Register: r},
				Write: &serial.Write{Register: w, Idempotent: true, WriteKeys: text.WriteKeys{Verify: &text.Verify{}}}})
			put[name] = v[1]
		}
	}
	rows, err := json.Marshal(before)
	if err != nil {
		t.Fatal(err)
	}
	start(t, python, "modbus_types", port, nil, "rows="+string(rows))
	o := serial.Default()
	o.Protocol, o.Port, o.Address, o.ReplyTimeout = "modbus-tcp", "tcp://127.0.0.1:"+port, 17, patience
	dev, err := serial.New(o, channels, drivers.Env{Clock: worker.RealClock{}})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	if _, err := dev.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(channels))
	for i, c := range channels {
		names[i] = c.Channel
	}
	got, err := dev.Read(context.Background(), names)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range channels {
		if want := values[strings.SplitN(c.Channel, "-", 2)[0]][0]; got.Values[c.Channel] != want {
			t.Errorf("%s (%v) is read as %v", c.Channel, before[i], got.Values[c.Channel])
		}
	}
	if _, err := dev.Write(context.Background(), drivers.Setpoints{Values: put}); err != nil {
		t.Fatal(err)
	}
	if rows, err = json.Marshal(after); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(python, filepath.Join("testdata", "simulators.py"), "modbus_client", port, "rows="+string(rows)).Output()
	if err != nil {
		t.Fatal(err)
	}
	var seen []float64
	if err := json.Unmarshal(out, &seen); err != nil || len(seen) != len(channels) {
		t.Fatalf("%s: %v", out, err)
	}
	for i, c := range channels {
		if seen[i] != put[c.Channel] {
			t.Errorf("%s: pymodbus reads %v, and %v was written", c.Channel, seen[i], put[c.Channel])
		}
	}
}
