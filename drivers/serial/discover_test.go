package serial

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/port"
	"github.com/labtuner/tuner/scripts/testsize"
)

// meter is an instrument that speaks SCPI on a pseudo-terminal, and notes what it was told.
type meter struct {
	line string
	told []string
}

func (m *meter) Reset() { m.line = "" }

func (m *meter) Hear(_ context.Context, data []byte) (said []byte, _ error) {
	m.line += strings.ReplaceAll(string(data), "\x03", "")
	for {
		line, rest, whole := strings.Cut(m.line, "\n")
		if !whole {
			return said, nil
		}
		m.line, m.told = rest, append(m.told, strings.TrimSpace(line))
		switch strings.TrimSpace(line) {
		case "*IDN?":
			said = append(said, "Maker,Meter,1,1.0\n"...)
		case "SYST:ERR?":
			said = append(said, "+0,\"No error\"\n"...)
		case "READ?":
			said = append(said, "1.5\n"...)
		}
	}
}

// TestDiscover: what is at a port that was named is found by the profile that identifies it, and is told
// nothing that sets anything.
func TestDiscover(t *testing.T) {
	testsize.Only(t) // the profiles before wait out their reply timeouts
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
	if err != nil || len(found) != 1 || !slices.Contains(found[0].Keys, `profile = "scpi-meter"`) || len(found[0].Channels) != 1 {
		t.Fatalf("%+v, %v; it was told %q", found, err, m.told)
	}
	// *OK,1 and C,0 are how an EZO instrument is greeted: it answers once to each command. \x18 cancels a half line.
	for _, line := range strings.FieldsFunc(strings.Join(m.told, "\r"), func(r rune) bool { return r == '\r' }) {
		if !slices.Contains([]string{"*OK,1", "C,0", "i", "*IDN?", "ID?", "*CLS", "SYST:ERR?", "READ?", "\x18"}, line) {
			t.Errorf("it was told %q", line)
		}
	}
}
