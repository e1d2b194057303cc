package serial

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/port"
	"github.com/labtuner/tuner/drivers/serial/port/porttest"
)

// meter is an instrument that speaks SCPI on a pseudo-terminal, and notes what it was told.
type meter struct{ told string }

func (*meter) Reset() {}

func (m *meter) Hear(_ context.Context, data []byte) (said []byte, _ error) {
	m.told += string(data)
	for range strings.Count(string(data), "*IDN?\r\n") {
		said = append(said, "Maker,Meter,1,1.0\n"...)
	}
	return said, nil
}

// TestDiscover: what is at a port that was named is found by the standard question, and is told nothing else.
func TestDiscover(t *testing.T) {
	path := filepath.Join(t.TempDir(), "meter")
	ctx, cancel := context.WithCancel(context.Background())
	m, done := &meter{}, make(chan error, 1)
	go func() { done <- port.Serve(ctx, path, m) }()
	for target := ""; !strings.HasPrefix(target, "/dev/pts/"); {
		target, _ = filepath.EvalSymlinks(path) // until the plant has made it
	}
	found, err := discover(context.Background(), path, drivers.Env{Clock: wall{}})
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	want := fmt.Sprintf("[port = %q profile = %q]", path, "scpi-meter")
	if err != nil || len(found) != 1 || fmt.Sprint(found[0].Keys) != want || len(found[0].Channels) != 1 {
		t.Fatalf("%+v, %v; it was told %q", found, err, m.told)
	}
	if rest := strings.ReplaceAll(m.told, "*IDN?\r\n", ""); rest != "" {
		t.Errorf("beside the question it was told %q", rest)
	}
}

// TestDiscoverByTheLeast: each instrument is found by what it can be asked without harm, at its speed, and
// what is none is told nothing but questions, within the time that is looked.
func TestDiscoverByTheLeast(t *testing.T) {
	lines := func(end string, answers map[string]string) func() func(string) string {
		return func() func(string) string {
			heard := ""
			return func(data string) (said string) {
				for heard += data; ; {
					line, rest, whole := strings.Cut(heard, end)
					if !whole {
						return said
					}
					heard = rest
					said += answers[line]
				}
			}
		}
	}
	ezo := map[string]string{"*IDN?": "*ER\r", "\ni": "*ER\r", "i": "?i,pH,1.98\r*OK\r"}
	for name, c := range map[string]struct {
		baud    int
		plays   func() func(string) string
		keys    string // "": nothing is found
		told    string // all that it may be told
		problem string
	}{
		"SCPI":                {9600, lines("\n", map[string]string{"*IDN?\r": "M,N,1,2\n"}), "scpi-meter", "*IDN?\r\n", ""},
		"SCPI, CRLF, fast":    {115200, lines("\r\n", map[string]string{"*IDN?": "M,N,1,2\r\n"}), "scpi-meter baud = 115200 terminator = \"\\r\\n\"", "*IDN?\r\n", ""},
		"energy meter":        {115200, lines("\r\n", map[string]string{"*IDN?": "EnergyMax,3,1,2\r\n"}), "energy-meter", "*IDN?\r\n", ""},
		"sketch":              {115200, lines("\n", map[string]string{"*IDN?\r": "ERR unknown command\n", "ID?": "TUNER-SKETCH 1\n"}), "arduino", "*IDN?\r\n ID?\n", ""},
		"EZO":                 {9600, lines("\r", ezo), "ezo-ph", "*IDN?\r\n i\r", ""},
		"silent":              {0, lines("\n", nil), "", "*IDN?\r\n ID?\n", "*IDN? at 9600 baud: silence; *IDN? at 115200 baud: silence; ID? at 115200 baud: silence"},
		"another language":    {9600, lines("\n", map[string]string{"*IDN?\r": "?\n"}), "", "*IDN?\r\n ID?\n", `*IDN? at 9600 baud: "?"`},
		"a line too many":     {9600, lines("\n", map[string]string{"*IDN?\r": "*IDN?\nM,N,1,2\n"}), "", "*IDN?\r\n ID?\n", `"*IDN?\nM,N,1,2"`},
		"its identity is cut": {9600, lines("\n", map[string]string{"*IDN?\r": "M,N,1,2"}), "", "*IDN?\r\n ID?\n", "*IDN? at 9600 baud: silence"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				told, began := map[string]bool{}, time.Now()
				f := finder{at: "/dev/x", env: drivers.Env{Clock: wall{}}, open: func(_ context.Context, s port.Spec) (port.Raw, error) {
					plays := c.plays()
					return porttest.NewFake(t, func(data []byte) []byte {
						told[string(data)] = true
						if s.Baud != c.baud {
							return nil // it hears garbage
						}
						return []byte(plays(string(data)))
					}), nil
				}}
				found, err := f.find(context.Background())
				keys := ""
				if len(found) == 1 {
					keys = strings.TrimPrefix(strings.Join(found[0].Keys[1:], " "), "profile = ")
					keys = strings.Replace(keys, `"`, "", 2)
				}
				if keys != c.keys || (err == nil) != (c.keys != "") || err != nil && !strings.Contains(err.Error(), c.problem) {
					t.Errorf("%+v, %v", found, err)
				}
				for text := range told {
					if !slices.Contains(strings.Split(c.told, " "), text) {
						t.Errorf("it was told %q", text)
					}
				}
				if took := time.Since(began); took > 15*time.Second {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// TestDiscoverIsBounded: what talks without end is told nothing, and the end of the time is said.
func TestDiscoverIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		f := finder{at: "/dev/x", env: drivers.Env{Clock: wall{}}, open: func(ctx context.Context, _ port.Spec) (port.Raw, error) {
			fake := porttest.NewFake(t, func(data []byte) []byte {
				t.Errorf("it was told %q", data)
				return nil
			})
			go func() {
				for ctx.Err() == nil {
					fake.Say([]byte("1,2,3,4\n"))
					time.Sleep(20 * time.Millisecond)
				}
			}()
			return fake, nil
		}}
		if found, err := f.find(ctx); found != nil || err == nil || !strings.Contains(err.Error(), "talks without being asked") {
			t.Errorf("%v, %v", found, err)
		}
		short, stop := context.WithTimeout(ctx, 2*time.Second)
		defer stop()
		f = finder{at: "/dev/x", env: f.env, open: func(context.Context, port.Spec) (port.Raw, error) {
			return porttest.NewFake(t, func([]byte) []byte { return nil }), nil
		}}
		if _, err := f.find(short); err == nil || !strings.Contains(err.Error(), "the time is over") {
			t.Error(err)
		}
		cancel() // ends the talker
		time.Sleep(time.Second)
	})
}
