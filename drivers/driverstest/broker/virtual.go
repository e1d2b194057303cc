package broker

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"sync"
	"testing"

	mochi "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// Virtual is an embedded broker without sockets: clients reach it through Dial,
// over pipes in memory, so that it runs in virtual time within a bubble of
// testing/synctest. Its methods may be called from any goroutine.
type Virtual struct {
	server  *mochi.Server
	serving sync.WaitGroup // the goroutines of the server's ends

	mu        sync.Mutex
	listeners int // for the next one's number
	down      bool
	pipes     []net.Conn // both ends of every connection
}

// errUnreachable is what Dial says during an outage.
var errUnreachable = errors.New("broker: unreachable, as the test wants it")

// StartVirtual starts a broker; it ends with Stop, which a bubble must call
// before it ends.
func StartVirtual(t testing.TB) *Virtual {
	t.Helper()
	server, err := newServer(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	// It is not served: all that this would add is a loop that looks once a second for
	// sessions, messages and wills whose time is over, of which there are none without
	// MQTT 5, and that took half of the computing of a day in virtual time.
	return &Virtual{server: server}
}

// Dial opens a connection to the broker; the address does not matter.
func (v *Virtual) Dial(context.Context, *url.URL) (net.Conn, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.down {
		return nil, errUnreachable
	}
	client, server := net.Pipe()
	v.pipes = append(v.pipes, client, server)
	v.serving.Go(func() {
		// What ends a connection is the client's to report.
		_ = v.server.EstablishConnection("pipe", server)
		server.Close()
	})
	return client, nil
}

// Cut breaks every connection and refuses new ones until Restore.
func (v *Virtual) Cut() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.down = true
	for _, p := range v.pipes {
		p.Close()
	}
	v.pipes = nil
}

// Restore lets connections through again.
func (v *Virtual) Restore() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.down = false
}

// Publish sends a message from the broker itself.
func (v *Virtual) Publish(topic string, payload []byte, retained bool) error {
	return v.server.Publish(topic, payload, retained, 0)
}

// Listen calls f with every message on a topic, from the broker's goroutines. It
// does not need a connection, so an outage does not interrupt it.
func (v *Virtual) Listen(topic string, f func(payload []byte)) error {
	v.mu.Lock()
	v.listeners++
	id := v.listeners
	v.mu.Unlock()
	return v.server.Subscribe(topic, id, func(_ *mochi.Client, _ packets.Subscription, pk packets.Packet) { f(pk.Payload) })
}

// Stop ends the broker. No Dial may be under way or follow.
func (v *Virtual) Stop() error {
	v.Cut()
	v.serving.Wait()
	return v.server.Close()
}
