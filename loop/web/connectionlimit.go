package web

import (
	"net"
	"sync"
)

// connectionsMax is how many connections are held at once: a browser keeps at most six,
// and what comes beyond has not shown a token yet. Each takes a file descriptor, and what
// drives the instrument needs those: its journal, its devices, its broker.
const connectionsMax = 128

// connectionLimit is a listener that holds no more than its number of connections. What comes beyond
// is closed at once: left waiting it would be answered when no one waits any more.
type connectionLimit struct {
	net.Listener
	free chan struct{}
}

// newConnectionLimit lets n connections of a listener in at a time.
func newConnectionLimit(l net.Listener, n int) *connectionLimit {
	return &connectionLimit{l, make(chan struct{}, n)}
}

// Accept waits for a connection that there is room for.
func (c *connectionLimit) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case c.free <- struct{}{}:
			return &limitedConn{Conn: conn, release: sync.OnceFunc(func() { <-c.free })}, nil
		default:
			conn.Close() // it was let down in any case: there is nothing to do about an error
		}
	}
}

// limitedConn is a connection that makes room when it is closed.
type limitedConn struct {
	net.Conn
	release func()
}

func (g *limitedConn) Close() error {
	defer g.release()
	return g.Conn.Close()
}
