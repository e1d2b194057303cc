package exec

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	osexec "os/exec"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/driverstest"
)

// pythonHeater is the example as a device, or nil where there is no Python to
// run it with.
func pythonHeater(t *testing.T) (*Device, *records) {
	t.Helper()
	if _, err := osexec.LookPath("python3"); err != nil {
		return nil, nil
	}
	o := patient()
	o.Command, o.Base = []string{"python3", "heater.py"}, "examples"
	return device(t, o)
}

func TestPythonExample(t *testing.T) {
	t.Parallel()
	d, said := pythonHeater(t)
	if d == nil {
		t.Log("there is no python3 here; the Python example was not run")
		return
	}
	t.Run("conforms", func(t *testing.T) {
		driverstest.Conform(t, func() drivers.Device {
			d, _ := pythonHeater(t)
			return d
		})
	})

	ctx := context.Background()
	if _, err := d.Open(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Write(ctx, drivers.Setpoints{Values: map[string]float64{"power": 10}}); err != nil {
		t.Fatal(err)
	}
	// It is warmer with every reading and never beyond what 10 W can do.
	last := 0.0
	for range 5 {
		r, err := d.Read(ctx, []string{"temp"})
		if err != nil {
			t.Fatal(err)
		}
		if temp := r.Values["temp"]; temp <= last || temp > 140 {
			t.Errorf("the temperature is %v after %v", temp, last)
		} else {
			last = temp
		}
	}
	if err := d.Halt(ctx); err != nil {
		t.Fatal(err)
	}
	r, err := d.Read(ctx, []string{"power", "fan"})
	if err != nil || math.Abs(r.Values["power"])+math.Abs(r.Values["fan"]) != 0 {
		t.Errorf("after Halt: %v, %v", r.Values, err)
	}
	if err := d.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if !strings.Contains(said.String(), "level=INFO msg=safe") {
		t.Errorf("the example does not say that it went safe:\n%s", said)
	}
}

// TestExamplesConform: what people copy passes every check, without a warning.
func TestExamplesConform(t *testing.T) {
	t.Parallel()
	lamp := filepath.Join(t.TempDir(), "lamp")
	if out, err := osexec.Command("go", "build", "-o", lamp, "./examples/lamp").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, command := range [][]string{{"python3", "heater.py"}, {"sh", "dial.sh"}, {lamp}} {
		t.Run(filepath.Base(command[len(command)-1]), func(t *testing.T) {
			if _, err := osexec.LookPath(command[0]); err != nil {
				t.Logf("there is no %s here; the example was not run", command[0])
				return
			}
			o := patient()
			o.Command, o.Base = command, "examples"
			by, ok := examined(t, o)
			if !ok || len(by[Warning]) > 0 {
				t.Errorf("failed %q, warnings %q", by[Failed], by[Warning])
			}
		})
	}
}

// TestPythonHelperAge: a helper's Reading tells when it was taken.
func TestPythonHelperAge(t *testing.T) {
	t.Parallel()
	if _, err := osexec.LookPath("python3"); err != nil {
		t.Log("there is no python3 here; the helper was not run")
		return
	}
	o := patient()
	o.Base = "examples"
	o.Command = []string{"python3", "-c", `
import time
from tuner_exec import *

class Old(Instrument):
    channels = [sensor("temp", "degC")]
    def read(self, names):
        return Reading({"temp": 20, "unasked": 1}, taken=time.monotonic() - 60)

serve(Old(), "old")`}
	d, _ := device(t, o)
	if _, err := d.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	before := time.Now()
	r, err := d.Read(context.Background(), []string{"temp"})
	if err != nil {
		t.Fatal(err)
	}
	// Asking and answering made it older than it was.
	if age, took := time.Since(r.At), time.Since(before); age < time.Minute || age > time.Minute+took {
		t.Errorf("the reading is %v old, not 60 s and at most the %v that asking took", age, took)
	}
}

// TestPythonHelperSlips: a handler that returns what it should not, raises, prints or
// leaves is reported in words, an answer is never mixed with what was printed, and the
// outputs go safe whatever ends the script.
func TestPythonHelperSlips(t *testing.T) {
	t.Parallel()
	if _, err := osexec.LookPath("python3"); err != nil {
		t.Log("there is no python3 here; the helper was not run")
		return
	}
	for body, want := range map[string]string{
		`return None`:                   "read() returned None; return a dictionary of values by channel",
		`return 5`:                      "read() returned 5; return a dictionary",
		`return {"temp": None}`:         "read() gave None for channel 'temp'",
		`return {"temp": "hot"}`:        "read() gave 'hot' for channel 'temp'; a value is a number",
		`return {"temp": float("nan")}`: "channel 'temp' gave nan",
		`raise ValueError("boom")`:      "ValueError: boom",
		`sys.exit(3)`:                   "connection ended",
		`print("by accident"); os.write(1, b"and raw\n"); return {"temp": 20}`: "",
	} {
		o := patient()
		o.Base = "examples"
		o.Command = []string{"python3", "-c", `
import os, sys
from tuner_exec import *

class Slip(Instrument):
    channels = [sensor("temp", "degC")]
    def read(self, names):
        ` + body + `
    def safe(self):
        log("all is off")

serve(Slip(), "slip")`}
		d, said := device(t, o)
		if _, err := d.Open(context.Background()); err != nil {
			t.Fatal(err)
		}
		r, err := d.Read(context.Background(), []string{"temp"})
		if want == "" && (err != nil || r.Values["temp"] != 20) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, %v; want %q", body, r.Values, err, want)
		}
		_ = d.Close() // one that has left cannot be closed in order
		if !strings.Contains(said.String(), "all is off") || want == "" && !strings.Contains(said.String(), "by accident") {
			t.Errorf("%s: it does not say that it went safe, or what it printed:\n%s", body, said)
		}
	}
}
