package setup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/worker"
)

// writeOven writes a file of twelve lines and the program that it starts, whose power goes to a
// limit, and which notes each start.
func writeOven(t *testing.T, most string) (folder, file string) {
	t.Helper()
	folder = t.TempDir()
	script := `echo started >> starts
echo '{"protocol":"tuner-exec/1","name":"oven","channels":[{"name":"power","unit":"W","access":"rw","min":0,"max":` + most + `,"safe":0,"resolution":0.1},{"name":"yield","unit":"g","access":"r","min":-50,"max":50}]}'
read line
echo '{"id":1,"ok":false,"error":{"code":"unknown_op","message":"no","retry":false}}'
cat > heard
`
	text := `schema = 1
name = "oven"
objective = { sensor = "yield" }
policy = { kind = "irgp-ucb" }
stop = { steps = 14 }
device = [{ name = "oven", driver = "exec", command = ["sh", "oven.sh"] }]
sensor = [{ name = "yield", device = "oven", max_age = "1s" }]
variable = [
  { name = "power", device = "oven" },
]
[safety.variable]
power = { slew = 50 }
`
	file = filepath.Join(folder, "oven.toml")
	for name, text := range map[string]string{"oven.sh": script, "oven.toml": text} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder, file
}

func starts(t *testing.T, folder string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "starts"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(text), "started")
}

// slow is a device that says how long it may take to open, and notes how long it is given.
type slow struct {
	drivers.Device
	given time.Duration
}

func (s *slow) OpenTime() time.Duration { return 40 * time.Second }
func (s *slow) Close() error            { return nil }

func (s *slow) Open(ctx context.Context) ([]drivers.Channel, error) {
	end, _ := ctx.Deadline()
	s.given = time.Until(end)
	return nil, nil
}

// A device that may take long to open is given as long when it is asked.
func TestAskedTakesItsTime(t *testing.T) {
	dev := &slow{}
	d := Device{Name: "slow", Wired: drivers.Wired{Build: func(drivers.Env) (drivers.Device, error) { return dev, nil }}}
	a := asker{host: &host.Env{}}
	if _, err := a.openDevice(context.Background(), d); err != nil {
		t.Fatal(err)
	}
	if dev.given < 30*time.Second || dev.given > dev.OpenTime() {
		t.Errorf("it is given %v, want %v", dev.given, dev.OpenTime())
	}
}

// A file that leaves its limits to a program is loaded with what the program says; the text holds
// it, so that it is loaded again without the program. check alone starts nothing.
func TestLoadAsked(t *testing.T) {
	folder, file := writeOven(t, "10")
	e, _, _, _ := hosttest.Env()
	_, err := Load(file, e)
	if left, is := errors.AsType[*Unasked](err); !is || len(left.Config.Asks) != 7 || starts(t, folder) != 0 {
		t.Fatalf("%v, %d starts", err, starts(t, folder))
	}
	if want := "leaves 7 keys to its devices, which have not been asked; the first is sensor.yield.unit"; !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	w, err := LoadAsked(t.Context(), file, e, nil)
	if err != nil {
		t.Fatal(err)
	}
	v := w.Options.Variables[0]
	if v.High != 10 || v.Limits.High != 10 || v.Resolution != 0.1 || v.Tolerance != 0.1 || v.Unit != "W" || starts(t, folder) != 1 {
		t.Errorf("%+v, %d starts", v, starts(t, folder))
	}
	if heard, _ := os.ReadFile(filepath.Join(folder, "heard")); strings.Contains(string(heard), "safe") || strings.Contains(string(heard), "write") {
		t.Errorf("it was told %s", heard)
	}
	again, err := Parse(file, w.Config.Text, e)
	if err != nil || fmt.Sprint(again.Options.Variables) != fmt.Sprint(w.Options.Variables) || starts(t, folder) != 1 {
		t.Errorf("from the record: %v", err)
	}
	// A run that goes on takes what was recorded, whatever the program says now.
	other, file2 := writeOven(t, "20")
	w2, err := LoadAsked(t.Context(), file2, e, func(*configs.Config) []byte { return w.Config.Text })
	if err != nil || w2.Options.Variables[0].High != 10 || starts(t, other) != 0 {
		t.Errorf("recorded: %v, %d starts", err, starts(t, other))
	}
}

// A program that does not start, and a file that is wrong beside what it leaves, are told.
func TestLoadAskedProblems(t *testing.T) {
	folder, file := writeOven(t, "10")
	e, _, _, _ := hosttest.Env()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	wrong := strings.Replace(string(text), `max_age = "1s"`, `max_age = "1s", rnage = [0, 1]`, 1)
	if err := os.WriteFile(file, []byte(wrong), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(file, e); err == nil || !strings.Contains(err.Error(), "rnage") || strings.Contains(err.Error(), "power.unit") {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "oven.sh"), []byte("exit 3"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadAsked(t.Context(), file, e, nil); err == nil || !strings.Contains(err.Error(), `device "oven" was asked what it is`) {
		t.Errorf("%v", err)
	}
}

// TestInterruptedWhileItAsks: an interrupt while a device is asked what it is is no fault of the instrument.
func TestInterruptedWhileItAsks(t *testing.T) {
	_, file := writeOven(t, "10")
	e, _, _, _ := hosttest.Env()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := LoadAsked(ctx, file, e, nil); !errors.Is(err, context.Canceled) || errors.Is(err, loop.ErrInstrument) {
		t.Error(err)
	}
}

// TestLoadProbed: a program that is asked and then read is started once, and one that nobody reads is ended;
// built again it is started again.
func TestLoadProbed(t *testing.T) {
	folder, file := writeOven(t, "10")
	e, _, _, _ := hosttest.Env()
	w, done, err := LoadProbed(t.Context(), file, e, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	env := drivers.Env{Clock: worker.RealClock{}, ReadOnly: true}
	for want := 1; want <= 2; want++ {
		dev, err := w.Devices[0].Build(env)
		if err != nil {
			t.Fatal(err)
		}
		if channels, err := dev.Open(t.Context()); err != nil || len(channels) != 2 || starts(t, folder) != want {
			t.Errorf("%v, %v, %d starts, want %d", channels, err, starts(t, folder), want)
		}
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := done(); err != nil {
		t.Error(err)
	}
	w, done, err = LoadProbed(t.Context(), file, e, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := done(); err != nil {
		t.Error(err)
	}
	dev, err := w.Devices[0].Build(env)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dev.Open(t.Context()); err != nil || starts(t, folder) != 4 {
		t.Errorf("after done it is another device: %v, %d starts", err, starts(t, folder))
	}
	if err := dev.Close(); err != nil {
		t.Error(err)
	}
}
