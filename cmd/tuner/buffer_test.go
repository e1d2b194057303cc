package main

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
)

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

// waitFor waits for a text. The limit only keeps a failing test from hanging.
func (s *syncBuffer) waitFor(t *testing.T, text string) {
	t.Helper()
	for limit := time.Now().Add(30 * time.Second); !strings.Contains(s.String(), text); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("no %q after 30 s:\n%s", text, s.String())
		}
	}
}
