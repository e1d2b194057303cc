package session

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The token outlives a kill and nothing else: it is made anew where others could have read or
// written it.
func TestPageLink(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.link")
	link := func(seed byte) *pageLink {
		l, err := newPageLink(path, bytes.NewReader(bytes.Repeat([]byte{seed}, 16)))
		if err != nil {
			t.Fatal(err)
		}
		if err := l.write("http://127.0.0.1:1/"); err != nil {
			t.Fatal(err)
		}
		return l
	}
	first := link(1)
	if want := strings.Repeat("01", 16); first.token != want || content(t, path) != "http://127.0.0.1:1/#token="+want+"\n" {
		t.Errorf("%+v, %s", first, content(t, path))
	}
	if second := link(2); second.token != first.token {
		t.Error("after a kill the token is another")
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if third := link(3); third.token != strings.Repeat("03", 16) {
		t.Error("a token that others could read is taken up")
	}
	elsewhere := filepath.Join(t.TempDir(), "eve")
	if err := os.Rename(path, elsewhere); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, path); err != nil {
		t.Fatal(err)
	}
	if fourth := link(4); fourth.token != strings.Repeat("04", 16) || !strings.Contains(content(t, elsewhere), "0303") {
		t.Error("a link to another file is followed")
	}
	fourth := link(5)
	d := doors{address: "http://127.0.0.1:1/", link: fourth}
	if got := d.text(true); got != "http://127.0.0.1:1/#token="+fourth.token {
		t.Errorf("on a terminal: %s", got)
	}
	if got := d.text(false); strings.Contains(got, fourth.token) || !strings.Contains(got, path) {
		t.Errorf("in a log: %s", got)
	}
	if err := fourth.remove(); err != nil {
		t.Fatal(err)
	}
	if sixth := link(6); sixth.token != strings.Repeat("06", 16) {
		t.Error("a token outlives its process's end")
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
