package link

import (
	"io"
	"net"
	"testing"
	"time"
)

// TestLastWordsArrive closes a connection at whose end bytes wait that nobody reads, while
// the broker is slow to read what was sent. Without care the close is a reset, and the
// broker's kernel throws the setpoint away.
func TestLastWordsArrive(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	raw, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	broker, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer broker.Close()
	client := lingeringConn{raw}
	if _, err := broker.Write([]byte("a reading")); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Write([]byte("a setpoint")); err != nil {
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	go func() { closed <- client.Close() }()
	select {
	case <-closed:
		t.Fatal("closed before the broker has ended its half: what it has not read may be thrown away")
	case <-time.After(100 * time.Millisecond): // it waits for the broker
	}
	if err := broker.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	heard, err := io.ReadAll(broker)
	if string(heard) != "a setpoint" || err != nil {
		t.Errorf("the broker read %q, %v; want the setpoint and a clean end", heard, err)
	}
	broker.Close()
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// TestCloseEndsWithoutTheBroker closes a connection whose other side never ends it.
func TestCloseEndsWithoutTheBroker(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	raw, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	go func() { closed <- lingeringConn{raw}.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it waits for a broker that does not end the connection")
	}
}
