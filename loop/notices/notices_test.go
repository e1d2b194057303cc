package notices

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// patience bounds what a test waits for: an hour's machine may be busy.
const patience = 30 * time.Second

// server is a real HTTP server that answers as told and keeps what came.
type server struct {
	*httptest.Server
	mu     sync.Mutex
	came   []Notice
	titles []string
	told   []string
	answer func(n int) int
}

func serve(t *testing.T, answer func(n int) int) *server {
	s := &server{answer: answer}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		text, _ := io.ReadAll(q.Body)
		var n Notice
		if err := json.Unmarshal(text, &n); err != nil {
			n.Text = string(text)
		}
		s.mu.Lock()
		s.came, s.titles = append(s.came, n), append(s.titles, q.Header.Get("Title"))
		count := len(s.came)
		s.mu.Unlock()
		w.WriteHeader(s.answer(count))
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) tell(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, text)
}

func (s *server) list() (texts []string, told string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.came {
		texts = append(texts, n.Text)
	}
	return texts, strings.Join(s.told, "; ")
}

func (s *server) sender(t *testing.T, every time.Duration) *Sender {
	x := NewSender(Options{Way: &Webhook{URL: s.URL + "/secret", Format: JSON}, Kinds: Kinds(), Every: every, Retry: time.Millisecond, Tell: s.tell})
	t.Cleanup(func() { x.Close(0) })
	return x
}

func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not %s within %v", what, patience)
		}
	}
}

// TestTriedAgain: a server that answers 500 and 429 gets the notice until it takes it, once;
// that is told, without the URL. One that answers 404 is not asked again.
func TestTriedAgain(t *testing.T) {
	s := serve(t, func(n int) int { return []int{500, 429, 503, 200}[min(n-1, 3)] })
	x := s.sender(t, 0)
	x.Put(Notice{Event: Tripped, Text: "interlock"})
	x.Close(patience)
	if texts, told := s.list(); len(texts) != 4 || !strings.Contains(told, "500") || !strings.HasSuffix(told, "delivered again") || strings.Contains(told, "secret") {
		t.Errorf("%d came; told %s", len(texts), told)
	}
	s = serve(t, func(int) int { return 404 })
	x = s.sender(t, 0)
	x.Put(Notice{Event: Tripped})
	x.Close(patience)
	if texts, told := s.list(); len(texts) != 1 || !strings.Contains(told, "404") {
		t.Errorf("%d came; told %s", len(texts), told)
	}
}

// TestRedirectIsNotFollowed: the server that a webhook is sent on to sees neither the notice nor the
// secret in the URL; that it was not delivered is told.
func TestRedirectIsNotFollowed(t *testing.T) {
	var asked atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer other.Close()
	s := &server{}
	s.Server = httptest.NewServer(http.RedirectHandler(other.URL, http.StatusFound))
	defer s.Close()
	x := s.sender(t, 0)
	x.Put(Notice{Event: Tripped, Text: "interlock"})
	x.Close(patience)
	if _, told := s.list(); asked.Load() != 0 || !strings.Contains(told, "302") || strings.Contains(told, "secret") {
		t.Errorf("the other server was asked %d times; told %q", asked.Load(), told)
	}
}

// TestNeverInTheWay: while the server hangs, or is not there, Put returns at once, of each
// kind one notice waits, and Close keeps to its patience.
func TestNeverInTheWay(t *testing.T) {
	hang := make(chan struct{})
	slow := serve(t, func(int) int { <-hang; return 200 })
	defer close(hang)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	down := "http://" + l.Addr().String()
	l.Close()
	for _, url := range []string{slow.URL, down} {
		x := NewSender(Options{Way: &Webhook{URL: url, Format: JSON}, Kinds: Kinds(), Tell: func(string) {}})
		begin := time.Now()
		for i := range 100_000 {
			x.Put(Notice{Event: Kinds()[i%4], Text: fmt.Sprint(i)})
		}
		x.mu.Lock()
		if waiting := len(x.waiting); waiting > 4 {
			t.Errorf("%d wait", waiting)
		}
		x.mu.Unlock()
		x.Close(10 * time.Millisecond)
		// An attempt is given 10 s: whoever waited for one would be above this.
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%s: it took %v", url, took)
		}
	}
}

// TestRate: of a kind that comes often the newest is told, with how many it stands for, and
// another kind does not wait for it; the end tells what is left.
func TestRate(t *testing.T) {
	s := serve(t, func(int) int { return 200 })
	x := s.sender(t, time.Hour)
	x.Put(Notice{Event: Held, Text: "first"})
	await(t, "delivered", func() bool { texts, _ := s.list(); return len(texts) == 1 })
	for i := range 5 {
		x.Put(Notice{Event: Held, Text: fmt.Sprint(i)})
	}
	x.Put(Notice{Event: Tripped, Text: "trip"})
	await(t, "the trip", func() bool { texts, _ := s.list(); return len(texts) == 2 && texts[1] == "trip" })
	x.Close(patience)
	if texts, _ := s.list(); strings.Join(texts, " ") != "first trip 4" || s.came[2].Replaces != 4 {
		t.Errorf("came %v, %+v", texts, s.came)
	}
	only := NewSender(Options{Way: &Webhook{URL: s.URL}, Kinds: []string{Tripped}, Tell: s.tell})
	only.Put(Notice{Event: Held})
	only.Close(patience)
	if texts, _ := s.list(); len(texts) != 3 {
		t.Errorf("what nobody asked for came: %v", texts)
	}
}

// TestFormats: ntfy gets the text and a title, Slack {"text": ...}.
func TestFormats(t *testing.T) {
	s := serve(t, func(int) int { return 200 })
	n := Notice{Event: Tripped, Text: "tripped: it is 30 °C", Name: "oven\r\nX: y"}
	for _, format := range []string{Text, Slack} {
		if err := (&Webhook{URL: s.URL, Format: format}).Deliver(context.Background(), n); err != nil {
			t.Error(err)
		}
	}
	if s.came[0].Text != n.Text || s.titles[0] != "oven__X: y: tripped" || s.came[1].Text != n.Name+": "+n.Text {
		t.Errorf("came %+v, %q", s.came, s.titles)
	}
}

// TestCommand: a program gets the notice on its standard input and in its environment; one
// that fails or hangs is an error, and its children are gone.
func TestCommand(t *testing.T) {
	dir := t.TempDir()
	run := func(ctx context.Context, script string) error {
		return (&Command{Args: []string{"sh", "-c", script}, Folder: dir}).Deliver(ctx, Notice{Event: Held, Text: "a door", Step: 7})
	}
	if err := run(t.Context(), `cat >in; echo "$TUNER_EVENT: $TUNER_TEXT" >out`); err != nil {
		t.Fatal(err)
	}
	in, _ := os.ReadFile(filepath.Join(dir, "in"))
	out, _ := os.ReadFile(filepath.Join(dir, "out"))
	var n Notice
	if err := json.Unmarshal(in, &n); err != nil || n.Step != 7 || string(out) != "held: a door\n" {
		t.Errorf("%s %s %v", in, out, err)
	}
	if err := run(t.Context(), "exit 3"); err == nil {
		t.Error("a failure was taken for done")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if err := run(ctx, "sleep 1000 & sleep 1000"); err == nil || time.Since(begin) > 20*time.Second {
		t.Errorf("it hung for %v: %v", time.Since(begin), err)
	}
}
