package mqtt

import (
	"context"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/labtuner/tuner/drivers/driverstest/broker"
)

// relay stands between one client and the broker, and can fail. What it holds while nothing passes
// goes on when something does again, also where the client has given its connection up meanwhile:
// as what lies in a router.
type relay struct {
	t       *testing.T
	l       net.Listener
	to      string
	workers sync.WaitGroup

	mu     sync.Mutex
	kind   outage
	down   bool
	healed chan struct{} // closed when the outage ends
	conns  map[*net.TCPConn]bool
}

func newRelay(t *testing.T, to string) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{t: t, l: l, to: to, healed: make(chan struct{}), conns: map[*net.TCPConn]bool{}}
	r.workers.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			r.workers.Go(func() { r.carry(conn.(*net.TCPConn)) })
		}
	})
	return r
}

// dial is what its client connects by.
func (r *relay) dial(ctx context.Context, _ *url.URL) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", r.l.Addr().String())
}

// carry serves one connection.
func (r *relay) carry(near *net.TCPConn) {
	defer r.forget(near)
	r.mu.Lock()
	down, kind, healed := r.down, r.kind, r.healed
	r.conns[near] = true
	r.mu.Unlock()
	switch {
	case down && kind == cut:
		near.SetLinger(0)
		return
	case down && kind == hang: // taken, and never answered
		<-healed
		return
	}
	conn, err := net.Dial("tcp", r.to)
	if err != nil {
		return // the broker is away
	}
	far := conn.(*net.TCPConn)
	r.mu.Lock()
	r.conns[far] = true
	r.mu.Unlock()
	r.workers.Go(func() { r.pump(far, near) })
	r.pump(near, far)
}

// pump passes on what comes, as the outage allows, and ends what it passes to.
func (r *relay) pump(from, to *net.TCPConn) {
	defer r.forget(to)
	buf := make([]byte, 1024)
	for {
		n, err := from.Read(buf)
		r.mu.Lock()
		hole, healed := r.down && r.kind != cut && r.kind != hang, r.healed
		r.mu.Unlock()
		if hole {
			<-healed
		}
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// forget closes a connection.
func (r *relay) forget(conn *net.TCPConn) {
	r.mu.Lock()
	delete(r.conns, conn)
	r.mu.Unlock()
	conn.Close()
}

// strike begins an outage.
func (r *relay) strike(kind outage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down, r.kind, r.healed = true, kind, make(chan struct{})
	if kind != cut && kind != hang {
		return
	}
	for conn := range r.conns {
		conn.SetLinger(0)
		conn.Close()
	}
}

// heal ends it.
func (r *relay) heal() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.down {
		r.down = false
		close(r.healed)
	}
}

// close ends the relay.
func (r *relay) close() {
	r.l.Close()
	r.heal()
	r.mu.Lock()
	for conn := range r.conns {
		conn.Close()
	}
	r.mu.Unlock()
	r.workers.Wait()
}

// strikeRelays begins an outage of the relays of both sides or of the broker, and gives the
// function that ends it.
func strikeRelays(b *broker.Broker, device, plant *relay, kind outage) (heal func()) {
	if kind == brokerRestarts {
		b.Stop()
		return b.Restart
	}
	var struck []*relay
	if kind != plantHole {
		struck = append(struck, device)
	}
	if kind != deviceHole {
		struck = append(struck, plant)
	}
	for _, r := range struck {
		r.strike(kind)
	}
	return func() {
		for _, r := range struck {
			r.heal()
		}
	}
}
