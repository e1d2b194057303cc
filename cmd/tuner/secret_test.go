package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each place gives its first line, what is wrong is told, and no word of it is the secret.
func TestSecret(t *testing.T) {
	const hidden = "hunter2-hunter2-hunter2"
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	file("good", hidden+"\r\nsecond line\n", 0o600)
	file("open", hidden, 0o644)
	file("empty", "\n"+hidden, 0o600)
	file("huge", hidden+strings.Repeat("x", secretMax), 0o600)
	for _, c := range []struct {
		what  string
		place place
		want  string
		says  string
	}{
		{"nowhere", place{}, "", ""},
		{"file", place{file: "good", base: dir}, hidden, ""},
		{"readable file", place{file: "open", base: dir}, hidden, "can be read by everybody"},
		{"first line empty", place{file: "empty", base: dir}, "", "first line is empty"},
		{"too long", place{file: "huge", base: dir}, "", "at most 4096"},
		{"no file", place{file: "none", base: dir}, "", "no such file"},
		{"environment", place{env: "LAB_TOKEN"}, hidden, ""},
		{"not set", place{env: "NO_TOKEN"}, "", "is not set"},
		{"credential", place{credential: "good"}, hidden, ""},
		{"credential elsewhere", place{credential: "../good"}, "", "is not a name"},
	} {
		var said bytes.Buffer
		e := &env{stderr: &said, lookup: func(name string) (string, bool) {
			v, ok := map[string]string{"LAB_TOKEN": hidden, "CREDENTIALS_DIRECTORY": dir}[name]
			return v, ok
		}}
		got, err := e.secret(c.place)
		if err != nil {
			said.WriteString(err.Error())
		}
		if got != c.want || (err == nil) != (c.want != "" || c.what == "nowhere") || !strings.Contains(said.String(), c.says) || strings.Contains(said.String(), "hunter2") {
			t.Errorf("%s: %q, %v, said %q", c.what, got, err, said.String())
		}
	}
}

// A run that could not show its secret, or whose token could be guessed, does not begin.
func TestRunRefusesSecretsThatAreNone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ what, text, says string }{
		{"password that is not set", "broker = \"tcp://127.0.0.1:1\"\nusername = \"tuner\"\npassword_env = \"NO_SUCH_PASSWORD\"\n", "mqtt: the password cannot be had: environment variable \"NO_SUCH_PASSWORD\" is not set"},
		{"token of five characters", "broker = \"tcp://127.0.0.1:1\"\n[web]\nlisten = \"127.0.0.1:0\"\ntoken_file = \"token\"\n", "web: the token has 5 characters, and must have at least 16"},
	} {
		dir := oven(t, c.text)
		if err := os.WriteFile(filepath.Join(dir, "token"), []byte("short"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, says, code := tell(t, dir, "run", "oven.toml"); code != 3 || !strings.Contains(says, c.says) {
			t.Errorf("%s: exit code %d\n%s", c.what, code, says)
		}
		if text, err := os.ReadFile(filepath.Join(dir, "oven.log")); err == nil && strings.Contains(string(text), `"op":"write"`) {
			t.Errorf("%s: something was written: %s", c.what, text)
		}
	}
}
