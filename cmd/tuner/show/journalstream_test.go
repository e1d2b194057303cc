package show

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestPriorities(t *testing.T) {
	var b bytes.Buffer
	w := &PriorityWriter{W: &b}
	for _, text := range []string{
		"tuner: error: a\ntuner: hint: b\n", "tuner: warning: c: d=e\n", "tuner: actuator x: at its safe value\n",
		"tuner: warn", "ing: in pieces\n", "Usage:\n", "", "\n",
	} {
		if n, err := w.Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("%q: wrote %d, %v", text, n, err)
		}
	}
	want := "<3>tuner: error: a\n<5>tuner: hint: b\n<4>tuner: warning: c: d=e\n<6>tuner: actuator x: at its safe value\n" +
		"<6>tuner: warning: in pieces\n<6>Usage:\n<6>\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestIsJournal(t *testing.T) {
	open := func(name string) *os.File {
		f, err := os.Create(filepath.Join(t.TempDir(), name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	a, b := open("a"), open("b")
	info, err := a.Stat()
	if err != nil {
		t.Fatal(err)
	}
	stat := info.Sys().(*syscall.Stat_t)
	stream := fmt.Sprintf("%d:%d", uint64(stat.Dev), stat.Ino)
	for _, c := range []struct {
		f      *os.File
		stream string
		want   bool
	}{{a, stream, true}, {b, stream, false}, {a, "", false}, {a, "x", false}} {
		if got := IsJournal(c.f, c.stream); got != c.want {
			t.Errorf("%s against %q: %v", c.f.Name(), c.stream, got)
		}
	}
}
