package host

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
		place SecretPlace
		want  string
		says  string
	}{
		{"nowhere", SecretPlace{}, "", ""},
		{"file", SecretPlace{File: "good", Base: dir}, hidden, ""},
		{"readable file", SecretPlace{File: "open", Base: dir}, hidden, "can be read by everybody"},
		{"first line empty", SecretPlace{File: "empty", Base: dir}, "", "first line is empty"},
		{"too long", SecretPlace{File: "huge", Base: dir}, "", "at most 4096"},
		{"no file", SecretPlace{File: "none", Base: dir}, "", "no such file"},
		{"environment", SecretPlace{Env: "LAB_TOKEN"}, hidden, ""},
		{"not set", SecretPlace{Env: "NO_TOKEN"}, "", "is not set"},
		{"credential", SecretPlace{Credential: "good"}, hidden, ""},
		{"credential elsewhere", SecretPlace{Credential: "../good"}, "", "is not a name"},
	} {
		var said bytes.Buffer
		e := &Env{Stderr: &said, Lookup: func(name string) (string, bool) {
			v, ok := map[string]string{"LAB_TOKEN": hidden, "CREDENTIALS_DIRECTORY": dir}[name]
			return v, ok
		}}
		got, err := e.Secret(c.place)
		if err != nil {
			said.WriteString(err.Error())
		}
		if got != c.want || (err == nil) != (c.want != "" || c.what == "nowhere") || !strings.Contains(said.String(), c.says) || strings.Contains(said.String(), "hunter2") {
			t.Errorf("%s: %q, %v, said %q", c.what, got, err, said.String())
		}
	}
}
