package controlstate

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/safety"
)

// controlOf is a state that can be told from others by n.
func controlOf(n int) State {
	d := safety.DoseState{Total: float64(n), Granted: true, Dosed: true, LastAt: time.Duration(n)}
	d.Hour[n%len(d.Hour)] = 0.1 * float64(n)
	return State{Wall: time.Unix(int64(n), 0).UTC(), BootID: "boot", Uptime: time.Duration(n), Mode: "TRIPPED",
		Latched:  []Cause{{Rule: safety.RuleInterlock, Name: "interlock", Of: fmt.Sprint(n)}},
		FirstOut: []Cause{{Rule: safety.RuleInterlock, Name: "interlock", Of: fmt.Sprint(n)}},
		Doses:    map[string]safety.DoseState{"calcium": d}}
}

func openControl(t *testing.T, path string) *File {
	t.Helper()
	c, err := Open(path, disk.Holder{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestControlStateComesBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.control")
	c := openControl(t, path)
	if !reflect.DeepEqual(c.State(), State{}) {
		t.Errorf("begins with %+v", c.State())
	}
	for n := range 9 {
		if err := c.Write(controlOf(n)); err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		c = openControl(t, path)
		want := controlOf(n)
		want.Generation = uint64(n + 1)
		if got := c.State(); !reflect.DeepEqual(got, want) || len(c.Notices()) > 0 {
			t.Fatalf("got %+v, want %+v; %v", got, want, c.Notices())
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestControlStateIsLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.control")
	c := openControl(t, path)
	defer c.Close()
	if _, err := Open(path, disk.Holder{}); !errors.Is(err, disk.ErrLocked) || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("a second process: %v", err)
	}
}

// memory is a disk that tears: replace may stop after any number of bytes, before
// or after the rename.
type memory struct {
	files map[string][]byte
	// tear, if not nil, decides what a replace leaves: the bytes of the file beside,
	// whether it is renamed, and whether it is reported.
	tear func(data []byte) (beside int, renamed, told bool)
}

func (m *memory) read(name string) ([]byte, error) {
	data, ok := m.files[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return data, nil
}

func (m *memory) identify(name string) (disk.FileID, error) {
	if _, ok := m.files[name]; !ok {
		return disk.FileID{}, fs.ErrNotExist
	}
	return disk.FileID{Inode: 1}, nil
}

func (m *memory) replace(name string, data []byte) error {
	n, renamed, told := len(data), true, true
	if m.tear != nil {
		n, renamed, told = m.tear(data)
	}
	m.files[name+".new"] = data[:n]
	if renamed {
		m.files[name] = m.files[name+".new"]
		delete(m.files, name+".new")
	}
	if !told {
		return errors.New("power cut")
	}
	return nil
}

func (m *memory) mark(name string) error {
	m.files[name] = nil
	return nil
}

func (m *memory) remove(name string) error {
	delete(m.files, name)
	return nil
}

// TestPowerCutsLoseNothing cuts the power at every byte of a write, before and after
// the rename: what was durable before, or what was being written, comes back.
func TestPowerCutsLoseNothing(t *testing.T) {
	size, err := encode(controlOf(3))
	if err != nil {
		t.Fatal(err)
	}
	for cut := 0; cut <= len(size)+1; cut++ {
		m := &memory{files: map[string][]byte{}}
		c := &File{path: "x", files: m}
		for n := range 3 {
			if err := c.Write(controlOf(n)); err != nil {
				t.Fatal(err)
			}
		}
		m.tear = func(data []byte) (int, bool, bool) { return min(cut, len(data)), cut > len(data), false }
		if c.Write(controlOf(3)) == nil {
			t.Fatal("a power cut goes unnoticed")
		}
		again := &File{path: "x", files: m}
		if err := again.load(); err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if g := again.state.Generation; g != 3 && !(cut > len(size) && g == 4) {
			t.Errorf("cut at %d: generation %d", cut, g)
		}
	}
}

// TestDamagedCopies flips every bit of one copy, then of both: the other stands in;
// without one, the loss is told.
func TestDamagedCopies(t *testing.T) {
	fresh := func() (*memory, *File) {
		m := &memory{files: map[string][]byte{}}
		c := &File{path: "x", files: m}
		for n := range 2 {
			if err := c.Write(controlOf(n)); err != nil {
				t.Fatal(err)
			}
		}
		return m, c
	}
	m, _ := fresh()
	newest := "x-a" // generation 2
	for bit := range 8 * len(m.files[newest]) {
		m, _ := fresh()
		m.files[newest][bit/8] ^= 1 << (bit % 8)
		c := &File{path: "x", files: m}
		if err := c.load(); err != nil || c.state.Generation != 1 || len(c.notices) != 1 {
			t.Fatalf("bit %d: %v, generation %d, %v", bit, err, c.state.Generation, c.notices)
		}
	}
	rng := rand.New(rand.NewPCG(5, 5))
	for range 1000 {
		m, _ := fresh()
		for name, data := range m.files {
			switch rng.IntN(3) {
			case 0:
				m.files[name] = data[:rng.IntN(len(data))]
			case 1:
				data[rng.IntN(len(data))] ^= byte(1 + rng.IntN(255))
			default:
				m.files[name] = append(data, byte(rng.IntN(256)))
			}
		}
		c := &File{path: "x", files: m}
		if err := c.load(); !errors.Is(err, ErrLost) {
			t.Fatalf("both damaged: %v, state %+v", err, c.state)
		}
		if err := c.Write(controlOf(7)); err != nil {
			t.Fatal(err)
		}
		again := &File{path: "x", files: m}
		if err := again.load(); err != nil || again.state.Doses["calcium"].Total != 7 || len(again.Notices()) > 0 {
			t.Fatalf("after a new start: %v, %+v", err, again.state)
		}
	}
}

func TestFailedWriteIsTold(t *testing.T) {
	dir := t.TempDir()
	c := openControl(t, filepath.Join(dir, "x.control"))
	c.path = filepath.Join(dir, "gone", "x.control")
	if err := c.Write(controlOf(1)); !errors.Is(err, disk.ErrIO) || c.State().Generation != 0 {
		t.Errorf("error %v, generation %d", err, c.State().Generation)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func FuzzControlState(f *testing.F) {
	good, err := encode(controlOf(1))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := decode(data)
		if err != nil {
			return
		}
		again, err := encode(s)
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		if back, err := decode(again); err != nil || !reflect.DeepEqual(back, s) {
			t.Fatalf("%+v comes back as %+v, %v", s, back, err)
		}
	})
}
