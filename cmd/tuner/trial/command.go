package trial

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/drivers/driverstest/broker"
)

// Command is a process of its own that runs tuner: this test binary, which
// TestMain turns into one by its name.
func Command(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Args[0] = "tuner"
	cmd.Dir = dir
	return cmd
}

func CodeOf(err error) int {
	if exit, ok := err.(*exec.ExitError); ok {
		return exit.ExitCode()
	}
	return 0
}

func ReadFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func FreeAddress(t *testing.T) string {
	t.Helper()
	address, err := broker.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return address
}

func FreePort(t *testing.T) string {
	t.Helper()
	_, port, err := net.SplitHostPort(FreeAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func SampleText(t *testing.T, name string) string {
	t.Helper()
	for _, s := range configs.Samples() {
		if s.Name == name {
			return string(s.Text)
		}
	}
	t.Fatalf("there is no sample %s", name)
	return ""
}

// WithKey gives a key, which the text has or shows as a default, another value.
func WithKey(t *testing.T, text, key, value string) string {
	t.Helper()
	line := regexp.MustCompile(`(?m)^(# )?` + key + ` = .*$`)
	if n := len(line.FindAllString(text, -1)); n != 1 {
		t.Fatalf("the sample has key %s %d times, want once", key, n)
	}
	return line.ReplaceAllLiteralString(text, key+" = "+value)
}

// FeedFile writes the file of the script doses.txtar beside a journal's place.
func FeedFile(t *testing.T) string {
	t.Helper()
	script, err := os.ReadFile("../scripts/testdata/script/doses.txtar")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(script), "-- feed.toml --\n")
	text, _, _ = strings.Cut(text, "\n-- ")
	file := filepath.Join(t.TempDir(), "feed.toml")
	if err := os.WriteFile(file, []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
