package hosttest

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
)

// Patience is how long tests wait for what should come soon. It only keeps a failing test
// from hanging: a machine may be slow, and have much else to do.
const Patience = 3 * time.Minute

// Buffer is a buffer that one goroutine writes and another reads.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *Buffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *Buffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// WaitFor waits for a text.
func (s *Buffer) WaitFor(t *testing.T, text string) {
	t.Helper()
	for limit := time.Now().Add(Patience); !strings.Contains(s.String(), text); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("no %q after %v:\n%s", text, Patience, s.String())
		}
	}
}
