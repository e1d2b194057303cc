package web

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
)

// shownRun is a dashboard of the lab's run on a real server.
func shownRun(t *testing.T, steps int) (d *Dashboard, base string) {
	t.Helper()
	path := labJournal(t, steps).Path()
	d = NewDashboard(DashboardOptions{Panel: control.NewPanel("session"), Options: labOptions(), Now: time.Now,
		Open: func() (*journal.Reader, error) { return journal.OpenReader(path) }})
	s := NewServer(ServerOptions{Token: testToken, ReadByAll: true})
	if err := d.Mount(s); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return d, "http://" + listener.Addr().String()
}

// listen connects to a stream and waits for its greeting.
func listen(t *testing.T, base string) (*bufio.Scanner, *http.Response) {
	t.Helper()
	answer, err := http.Get(base + "/api/stream")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() && lines.Text() != "event: hello" {
	}
	return lines, answer
}

// next gives the next message of a kind.
func next(t *testing.T, lines *bufio.Scanner, kind string) string {
	t.Helper()
	for lines.Scan() {
		if lines.Text() == "event: "+kind && lines.Scan() {
			return strings.TrimPrefix(lines.Text(), "data: ")
		}
	}
	t.Fatalf("the stream ended before %q: %v", kind, lines.Err())
	return ""
}

func newsOf(n int) control.News {
	d, o := labStep(n)
	return control.News{Decision: &d, Outcome: &o}
}

// What is streamed and what is fetched anew are the same, and a step that is told twice
// (once by the journal, once by the loop) counts once.
func TestStreamBringsTheDocumentUpToDate(t *testing.T) {
	d, base := shownRun(t, 10)
	fetch := func() *Document {
		text, err := d.encoded(false)
		if err != nil {
			t.Fatal(err)
		}
		var doc Document
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		return &doc
	}
	if doc := fetch(); doc.Total != 10 {
		t.Fatalf("%d steps", doc.Total)
	}
	lines, _ := listen(t, base)
	for n := 9; n <= 12; n++ {
		d.add(newsOf(n))
	}
	d.add(control.News{Event: &journal.Event{Level: "warn", Kind: "safety", Message: "held", Step: 12, At: labStamp(12)}})
	for n := 11; n <= 12; n++ {
		var u update
		if err := json.Unmarshal([]byte(next(t, lines, "step")), &u); err != nil {
			t.Fatal(err)
		}
		if u.Step.N != n || u.Total != n || u.Sets[0].Steps+u.Sets[1].Steps != n {
			t.Errorf("step %d came as %+v of %d", n, u.Step, u.Total)
		}
	}
	if text := next(t, lines, "story"); !strings.Contains(text, `"message":"held"`) {
		t.Errorf("story %s", text)
	}
	kept := fetch()
	if kept.Total != 12 || kept.Events[len(kept.Events)-1].Message != "held" {
		t.Errorf("%d steps, events %+v", kept.Total, kept.Events)
	}
	d.add(control.News{Lost: 3}) // then everything is read again
	next(t, lines, "again")
	if doc := fetch(); doc.Total != 10 {
		t.Errorf("after a loss %d steps, the journal has 10", doc.Total)
	}
}

// Ten clients, one of which never reads: nobody waits for it, the nine get everything, it is
// dropped.
func TestSlowClientIsDropped(t *testing.T) {
	t.Parallel()
	d, base := shownRun(t, 3)
	if _, err := d.encoded(false); err != nil {
		t.Fatal(err)
	}
	var streams []*bufio.Scanner
	for range 9 {
		lines, _ := listen(t, base)
		streams = append(streams, lines)
	}
	readers := clientsOf(d)
	_, lazy := listen(t, base)
	if n := len(clientsOf(d)); n != 10 {
		t.Fatalf("%d clients, want 10", n)
	}
	got := make(chan int, len(streams))
	const messages = 3000
	for _, lines := range streams {
		go func() {
			n := 0
			for n < messages && lines.Scan() {
				if lines.Text() == "event: story" {
					n++
				}
			}
			got <- n
		}()
	}
	// Far more than sockets and rings hold. On a loaded machine readers may be slow too, so
	// each message waits until they have room.
	event := journal.Event{Level: "info", Kind: "test", Message: strings.Repeat("x", 4000)}
	for range messages {
		for !haveRoom(d, readers) {
			time.Sleep(time.Millisecond)
		}
		d.add(control.News{Event: &event})
	}
	for range streams {
		if n := <-got; n != messages {
			t.Errorf("a client that reads got %d of %d messages", n, messages)
		}
	}
	left := clientsOf(d)
	for _, c := range readers {
		if !slices.Contains(left, c) {
			t.Error("a client that reads was dropped")
		}
	}
	if len(left) != len(readers) {
		t.Errorf("%d clients are left, want %d", len(left), len(readers))
	}
	if err := lazy.Body.Close(); err != nil {
		t.Error(err)
	}
}

func clientsOf(d *Dashboard) []*client {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Collect(maps.Keys(d.clients))
}

// haveRoom says that none of the readers has a full ring.
func haveRoom(d *Dashboard, readers []*client) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !slices.ContainsFunc(readers, func(c *client) bool { return len(c.messages) == cap(c.messages) })
}

// No more pages are served than people could look at.
func TestTooManyClients(t *testing.T) {
	_, base := shownRun(t, 3)
	for range clientsMax {
		listen(t, base)
	}
	answer, err := http.Get(base + "/api/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("client %d: %s", clientsMax+1, answer.Status)
	}
}

// What the page's buttons do when nobody runs: an answer in words, never silence.
func TestCommandsAnswer(t *testing.T) {
	t.Parallel()
	_, base := shownRun(t, 3)
	for _, c := range []struct {
		path   string
		status int
	}{{"pause", 409}, {"set-best", 409}, {"nothing", 404}} {
		q, err := http.NewRequest(http.MethodPost, fmt.Sprintf("%s/api/command/%s", base, c.path), nil)
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Authorization", "Bearer "+testToken)
		answer, err := (&http.Client{Timeout: 4 * commandWait}).Do(q)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != c.status {
			t.Errorf("%s: %s, want %d", c.path, answer.Status, c.status)
		}
	}
}
