package host

import (
	"net"
	"path/filepath"
	"testing"
	"time"
)

// TestSystemdSocket delivers by a real socket, as the environment names it.
func TestSystemdSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	t.Setenv("NOTIFY_SOCKET", path)
	t.Setenv("WATCHDOG_USEC", "30000000")
	m := systemd(func(name string) (string, bool) { return path, name == "NOTIFY_SOCKET" })
	if m == nil || m.Watchdog != 30*time.Second || m.Monotonic() <= 0 {
		t.Fatalf("manager %+v", m)
	}
	if err := m.Send("READY=1"); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 64)
	if n, err := socket.Read(b); err != nil || string(b[:n]) != "READY=1" {
		t.Errorf("heard %q, %v", b[:n], err)
	}
	if m := systemd(func(string) (string, bool) { return "", false }); m != nil {
		t.Errorf("a manager without a socket: %+v", m)
	}
}
