package show

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// gate is a writer whose writes wait until it is opened.
type gate struct {
	open chan struct{}
	bytes.Buffer
}

func (g *gate) Write(p []byte) (int, error) {
	<-g.open
	return g.Buffer.Write(p)
}

func TestOutboxKeepsOrder(t *testing.T) {
	var out bytes.Buffer
	box := NewOutbox(&out, true, func() {})
	var want strings.Builder
	for i := range 3 * outboxLines {
		line := fmt.Sprintf("%d\n", i)
		want.WriteString(line)
		box.Put([]byte(line))
	}
	if err := box.Close(); err != nil {
		t.Fatal(err)
	}
	if out.String() != want.String() {
		t.Error("lines are missing or out of order")
	}
}

// A reader who stopped reading must not stop who writes: put returns although
// nothing can be written, and close says what happened.
func TestOutboxSlowReader(t *testing.T) {
	g := &gate{open: make(chan struct{})}
	box := NewOutbox(g, false, func() {})
	for range outboxLines + 100 {
		box.Put([]byte("x\n"))
	}
	// One line may be in the writer's hands already.
	if n := box.dropped.Load(); n != 100 && n != 99 {
		t.Errorf("%d lines dropped, want 99 or 100", n)
	}
	close(g.open)
	if err := box.Close(); !errors.Is(err, errSlowReader) {
		t.Errorf("close: %v", err)
	}
}

func TestOutboxReaderGone(t *testing.T) {
	r, w := io.Pipe()
	r.Close()
	failures := 0
	box := NewOutbox(w, true, func() { failures++ })
	for range 3 * outboxLines {
		box.Put([]byte("x\n"))
	}
	if err := box.Close(); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("close: %v", err)
	}
	if failures != 1 {
		t.Errorf("told %d times that the reader is gone, want once", failures)
	}
}
