package port

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"
)

// listen serves an instrument at an address of the network until ctx ends: to one connection
// at a time, the newest, as the one before may have died without a sign.
func listen(ctx context.Context, a Address, in Instrument) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(a.Host, a.Port))
	if err != nil {
		return fmt.Errorf("cannot listen at %s: %w; a plant's port is an address of this computer with a free number, such as tcp://127.0.0.1:5025", a, err)
	}
	s := &listener{in: in, telnet: a.Scheme == schemeRFC2217}
	stop := context.AfterFunc(ctx, func() { l.Close(); s.replace(nil) })
	defer stop()
	defer l.Close()
	var serving sync.WaitGroup
	defer serving.Wait()
	defer s.replace(nil)
	for {
		conn, err := l.Accept()
		if err != nil {
			if failure := s.failure(); failure != nil {
				return failure
			}
			return err
		}
		s.replace(conn)
		serving.Wait() // the one before, which has been closed
		if err := s.failure(); err != nil {
			return err
		}
		serving.Go(func() {
			if err := s.serve(ctx, conn); err != nil {
				s.fail(err)
				l.Close()
			}
		})
	}
}

// listener is an instrument with its present connection.
type listener struct {
	in     Instrument
	telnet bool

	mu   sync.Mutex
	conn net.Conn
	err  error
}

// replace ends the present connection for another.
func (s *listener) replace(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		s.conn.Close() // what it says is of no use: it is over
	}
	s.conn = conn
}

func (s *listener) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *listener) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// serve answers over one connection until it ends. An error is the instrument's.
func (s *listener) serve(ctx context.Context, conn net.Conn) error {
	defer conn.Close()
	s.in.Reset()
	var t *telnet
	if s.telnet {
		t = newTelnet(true)
	}
	buf := make([]byte, 4096)
	for {
		n, err := conn.Read(buf)
		if err != nil {
			return nil
		}
		heard, reply := buf[:n], []byte(nil)
		if t != nil {
			heard, reply = t.hear(heard)
		}
		said, err := s.in.Hear(ctx, heard)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		if t != nil {
			said = append(reply, t.hide(said)...)
		}
		if len(said) == 0 {
			continue
		}
		if err := conn.SetWriteDeadline(time.Now().Add(sayLimit)); err != nil {
			return nil
		}
		if _, err := conn.Write(said); err != nil {
			return nil // nobody takes it, as on a real line
		}
	}
}
