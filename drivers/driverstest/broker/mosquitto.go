package broker

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// startTime is how long Mosquitto may take to listen, on a machine that has much else to do.
const startTime = time.Minute

// findMosquitto gives the path of the installed broker, or "".
func findMosquitto() string {
	if path, err := exec.LookPath("mosquitto"); err == nil {
		return path
	}
	const path = "/usr/sbin/mosquitto" // Debian's place, which is not on every PATH
	if _, err := os.Stat(path); err == nil {
		return path
	}
	return ""
}

// mosquitto runs the installed broker with a configuration in a temporary folder.
type mosquitto struct {
	path, folder string
	secure       *TLS // nil: none
	cmd          *exec.Cmd
	ended        chan error
	said         lockedBuffer
}

func newMosquitto(t testing.TB, path string, secure *TLS) *mosquitto {
	t.Helper()
	m := &mosquitto{path: path, folder: t.TempDir(), secure: secure}
	rules := "topic deny " + Denied + "#\ntopic readwrite #\nuser " + User + "\ntopic deny " + Denied + "#\ntopic readwrite #\n"
	if err := os.WriteFile(m.file("acl"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("mosquitto_passwd", "-c", "-b", m.file("passwd"), User, Password).CombinedOutput()
	if err != nil {
		t.Fatalf("broker: mosquitto is installed, but mosquitto_passwd fails: %v: %s", err, out)
	}
	return m
}

func (m *mosquitto) file(name string) string { return filepath.Join(m.folder, name) }

func (m *mosquitto) start(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	owner, err := ownName()
	if err != nil {
		return err
	}
	config := fmt.Sprintf("listener %s 127.0.0.1\nallow_anonymous true\nacl_file %s\npassword_file %s\npersistence false\nuser %s\n",
		port, m.file("acl"), m.file("passwd"), owner)
	if m.secure != nil {
		config += fmt.Sprintf("certfile %s\nkeyfile %s\n", m.secure.CertFile, m.secure.KeyFile)
		if m.secure.ClientCAFile != "" {
			config += fmt.Sprintf("cafile %s\nrequire_certificate true\n", m.secure.ClientCAFile)
		}
	}
	if err := os.WriteFile(m.file("mosquitto.conf"), []byte(config), 0o600); err != nil {
		return err
	}
	m.cmd = exec.Command(m.path, "-c", m.file("mosquitto.conf"))
	m.cmd.Stdout, m.cmd.Stderr = &m.said, &m.said
	if err := m.cmd.Start(); err != nil {
		return err
	}
	m.ended = make(chan error, 1)
	go func(cmd *exec.Cmd, ended chan<- error) { ended <- cmd.Wait() }(m.cmd, m.ended)
	for began := time.Now(); time.Since(began) < startTime; time.Sleep(10 * time.Millisecond) {
		select {
		case err := <-m.ended:
			return fmt.Errorf("it ended at once: %v", err)
		default:
		}
		if conn, err := net.Dial("tcp", address); err == nil {
			return conn.Close()
		}
	}
	m.stop()
	return fmt.Errorf("it does not listen after %v", startTime)
}

func (m *mosquitto) stop() {
	// It is ours alone and holds nothing worth a farewell.
	_ = m.cmd.Process.Kill()
	<-m.ended
}

func (m *mosquitto) log() string { return m.said.String() }

// lockedBuffer collects a process's output while others may read it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// ownName is the user that Mosquitto is to stay: started by root it would change
// to a user who cannot read the test's folder.
func ownName() (string, error) {
	u, err := user.Current()
	if err != nil {
		return "", err
	}
	return u.Username, nil
}
