package web

import (
	"net"
	"sync"
)

// connectionsMax is how many connections are held at once: a browser keeps at most six,
// and what comes beyond has not shown a token yet. Each takes a file descriptor, and what
// drives the instrument needs those: its journal, its devices, its broker.
const connectionsMax = 128

// crowd is a listener that holds no more than its number of connections. What comes beyond
// is closed at once: left waiting it would be answered when nobody waits any more.
type crowd struct {
	net.Listener
	free chan struct{}
}

// newCrowd lets n connections of a listener in at a time.
func newCrowd(l net.Listener, n int) *crowd { return &crowd{l, make(chan struct{}, n)} }

// Accept waits for a connection that there is room for.
func (c *crowd) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case c.free <- struct{}{}:
			return &guest{Conn: conn, leave: sync.OnceFunc(func() { <-c.free })}, nil
		default:
			conn.Close() // it was let down in any case: there is nothing to do about an error
		}
	}
}

// guest is a connection that makes room when it is closed.
type guest struct {
	net.Conn
	leave func()
}

func (g *guest) Close() error {
	defer g.leave()
	return g.Conn.Close()
}
