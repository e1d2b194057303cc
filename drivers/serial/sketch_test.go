package serial

import (
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/port"
)

var cxx = flag.String("cxx", "", "a C++ compiler, such as g++, to build the Arduino sketch with and try it")

// TestSketch compares the profile with the sketch. With -cxx the sketch itself is
// built for this computer and driven over a pseudo-terminal.
func TestSketch(t *testing.T) {
	text, err := os.ReadFile("testdata/tuner_sketch/tuner_sketch.ino")
	if err != nil {
		t.Fatal(err)
	}
	o, channels, err := fromProfile("arduino")
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`strcmp\(line, "ID\?"\) == 0\) \{\s*Serial.print\("(.*)\\n"\)`).FindSubmatch(text)
	if name == nil || !regexp.MustCompile(o.Identify.Match).Match(name[1]) {
		t.Errorf("the sketch says it is %q, the profile wants %q", name, o.Identify.Match)
	}
	pins := regexp.MustCompile(`PINS\[\] = \{(.*)\}`).FindSubmatch(text)
	var outputs []string
	for _, c := range channels {
		if c.Write != nil {
			outputs = append(outputs, strings.TrimPrefix(c.Channel, "d"))
		}
	}
	if pins == nil || string(pins[1]) != strings.Join(outputs, ", ") {
		t.Errorf("the sketch's outputs are %q, the profile's %q", pins, outputs)
	}
	if *cxx != "" {
		trySketch(t, o, channels)
	}
}

// trySketch builds and drives the sketch.
func trySketch(t *testing.T, o Options, channels []ChannelOptions) {
	program := filepath.Join(t.TempDir(), "sketch")
	build := exec.Command(*cxx, "-Wall", "-Werror", "-x", "c++", "-include", "testdata/tuner_sketch/host.h", "-o", program, "testdata/tuner_sketch/tuner_sketch.ino")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p, err := port.OpenPTY()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	sketch := exec.Command(program)
	in, err := sketch.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := sketch.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := sketch.Start(); err != nil {
		t.Fatal(err)
	}
	defer sketch.Wait()
	defer in.Close()
	// A first half of a command, as a broken cable leaves it.
	if _, err := in.Write([]byte("W D3 0.9")); err != nil {
		t.Fatal(err)
	}
	go io.Copy(p.Master, out)
	go func() {
		buf := make([]byte, 256)
		for {
			n, _, err := p.Read(t.Context(), buf)
			if err != nil {
				return
			}
			if _, err := in.Write(buf[:n]); err != nil {
				return
			}
		}
	}()
	o.Port, o.OpenDelay = p.Path, 0
	dev := openDevice(t, o, channels)
	if got := value(t, dev, "d3"); got != 0 {
		t.Errorf("half a command set d3 to %v", got)
	}
	if err := set(dev, "d9", 0.25); err != nil {
		t.Error(err)
	}
	r, err := dev.Read(t.Context(), []string{"a0", "a3", "d9", "d10"})
	if err != nil || r.Values["a0"] != 0 || r.Values["a3"] < 0.298 || r.Values["a3"] > 0.3 || r.Values["d9"] != 0.25 || r.Values["d10"] != 0 {
		t.Errorf("%v, %v", r.Values, err)
	}
	if err := set(dev, "d9", 1.5); !errors.Is(err, drivers.ErrRefused) {
		t.Errorf("beyond 1: %v", err)
	}
	if err := dev.Halt(t.Context()); err != nil {
		t.Error(err)
	}
	if got := value(t, dev, "d9"); got != 0 {
		t.Errorf("after Halt d9 is %v", got)
	}
}
