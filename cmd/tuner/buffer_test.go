package main

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long tests wait for what should come soon. It only keeps a failing test
// from hanging: a machine may be slow, and have much else to do.
const patience = 3 * time.Minute

// syncBuffer is a buffer that one goroutine writes and another reads.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// waitFor waits for a text.
func (s *syncBuffer) waitFor(t *testing.T, text string) {
	t.Helper()
	for limit := time.Now().Add(patience); !strings.Contains(s.String(), text); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("no %q after %v:\n%s", text, patience, s.String())
		}
	}
}
