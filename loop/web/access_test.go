package web

import (
	"encoding/json"
	"io/fs"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/labtuner/tuner/loop/control"
)

// Without the token everything that is only read is there, where the server says so, and no
// command is taken, whatever the method or the path; with it each command reaches the run.
func TestWhoMayCommand(t *testing.T) {
	_, base := shownRun(t, 3)
	bearer := map[string]string{"Authorization": "Bearer " + testToken, "Connection": "close"}
	for _, path := range []string{"/", "/page/live.js", "/api/document", "/api/status", "/api/run", "/api/report"} {
		call{"read " + path, "GET", path, "", nil, "", 200}.make(t, base)
	}
	for _, name := range control.Commands() {
		call{"no token", "POST", "/api/command/" + name, "", nil, "", 401}.make(t, base)
		call{"a wrong one", "POST", "/api/command/" + name, "", map[string]string{"Authorization": "Bearer " + testToken + "x"}, "", 401}.make(t, base)
		call{"a preview", "POST", "/api/preview/" + name, "", nil, "", 401}.make(t, base)
		call{"by GET", "GET", "/api/command/" + name, "", bearer, "", 405}.make(t, base)
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"} {
		call{method, method, "/api/status", "", nil, "", 401}.make(t, base)
	}
	for name, body := range map[string]string{"pause": `{"args": {"reason": 7}}`, "reset": `{"orders": 1}`, "resume": `{} {}`, "set-best": `{"transaction": "a b"}`} {
		a := call{name, "POST", "/api/command/" + name, "", bearer, body, 409}.make(t, base)
		var got Answer
		if err := json.NewDecoder(a.Body).Decode(&got); err != nil || got.OK || got.Code != control.CodeArgs || got.Command != name || got.Session != "session" {
			t.Errorf("%s: %+v, %v", body, got, err)
		}
	}
	for header, want := range map[string]bool{"": false, testToken: true, "another": false} {
		a := call{"access", "GET", "/api/access", "", map[string]string{"Authorization": "Bearer " + header}, "", 200}.make(t, base)
		var got Visitor
		if err := json.NewDecoder(a.Body).Decode(&got); err != nil || got.Commands != want || got.Transport != "web" {
			t.Errorf("access with %q: %+v, %v", header, got, err)
		}
	}
}

// Where no token is known nobody commands by the network.
func TestNoTokenNoCommands(t *testing.T) {
	base := serve(t, ServerOptions{ReadByAll: true})
	call{"read", "GET", "/", "", nil, "", 200}.make(t, base)
	for _, shown := range []string{"Bearer ", "Bearer x", ""} {
		call{"post", "POST", "/", "", map[string]string{"Authorization": shown}, "", 401}.make(t, base)
	}
	call{"cookie", "POST", "/", "", map[string]string{"Cookie": tokenCookie + "=" + hashOf(nil)}, "", 401}.make(t, base)
}

// The socket asks for no token and for no host name, and its visitor is who the kernel says;
// what a client writes about itself changes nothing.
func TestSocketVisitors(t *testing.T) {
	s := NewServer(ServerOptions{})
	var seen Visitor
	s.Handle("POST /", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = VisitorOf(r) }))
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, done := t.Context(), make(chan error, 1)
	go func() { done <- s.ServeSocket(ctx, l, func(net.Conn) string { return "anna" }) }()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, Dial: func(string, string) (net.Conn, error) { return net.Dial("unix", path) }}}
	answer, err := client.Post("http://any.example/?who=eve", "", strings.NewReader(`{"who": "eve"}`))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if want := (Visitor{"anna", "socket", true}); answer.StatusCode != 200 || seen != want {
		t.Errorf("%s, %+v; want %+v", answer.Status, seen, want)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	<-done
}

// No path lists what is there; each file of the page is there.
func TestNothingIsListed(t *testing.T) {
	_, base := shownRun(t, 1)
	for _, path := range []string{"/page", "/page/", "/page/.", "/page/./", "/page//", "/api", "/api/", "/api/command", "/api/command/", "/page/../page/"} {
		client := &http.Client{}
		answer, err := client.Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s, want 404", path, answer.Status)
		}
	}
	list, err := fs.ReadDir(pageFiles, "page")
	if err != nil || len(list) < 5 {
		t.Fatalf("%d files, %v", len(list), err)
	}
	for _, f := range list {
		call{f.Name(), "GET", "/page/" + f.Name(), "", nil, "", 200}.make(t, base)
	}
}
