package web

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
)

// Strangers who open connections and say nothing get no more than connectionsMax of the
// process's files, and those of them who go make room again.
func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	s := NewServer(ServerOptions{ReadByAll: true})
	s.Handle("GET /", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "here") }))
	go func() { served <- s.Serve(ctx, listener) }()
	defer func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	dial := func() net.Conn {
		t.Helper()
		c, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	ask := func(c net.Conn) error {
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			return err
		}
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, answer.Body)
		return err
	}

	// Each is answered, so that it is known to be inside, and stays.
	var guests []net.Conn
	for i := range connectionsMax {
		c := dial()
		if err := ask(c); err != nil {
			t.Fatalf("connection %d is not answered: %v", i+1, err)
		}
		guests = append(guests, c)
	}
	if err := ask(dial()); err == nil {
		t.Fatalf("connection %d is answered", connectionsMax+1)
	}
	if err := ask(guests[0]); err != nil {
		t.Errorf("who was inside is not answered any more: %v", err)
	}
	guests[1].Close()
	for { // the server learns of it when it reads next
		if ask(dial()) == nil {
			break
		}
	}
}

// A connection whose request is refused is not kept: a stranger would hold it for minutes.
func TestRefusedConnectionsAreClosed(t *testing.T) {
	s := NewServer(ServerOptions{Token: testToken})
	for host, want := range map[string]int{"localhost": http.StatusUnauthorized, "evil.example": http.StatusMisdirectedRequest} {
		answer := ask(t, s, host)
		if answer.StatusCode != want || !answer.Close {
			t.Errorf("a request for %s is answered %d, connection closed: %v", host, answer.StatusCode, answer.Close)
		}
	}
}

// ask sends one request over a connection of its own.
func ask(t *testing.T, s *Server, host string) *http.Response {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, listener) }()
	defer func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	c, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: "+host+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}
