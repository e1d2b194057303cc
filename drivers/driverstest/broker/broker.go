// Package broker starts an MQTT broker for a test: the installed Mosquitto where
// there is one, else an embedded broker; the test's log says which. It listens on
// a free port of the loopback interface and ends with the test.
//
// All brokers here have the same rules, so that a test need not ask which one it
// got: anonymous clients and the user [User] with [Password] may log in, a wrong
// password may not; everybody may use every topic, except that nothing goes
// through topics under [Denied]. The embedded broker refuses to subscribe to
// them; Mosquitto accepts the subscription and delivers nothing.
package broker

import (
	"testing"
	"time"
)

// The rules of every broker of this package.
const (
	User     = "lab"
	Password = "correct horse"
	Denied   = "denied/"
)

// Kind says which broker runs.
type Kind string

// The two kinds.
const (
	Mosquitto Kind = "mosquitto"
	Embedded  Kind = "embedded"
)

// Broker is a running broker. Its methods are for the test's goroutine.
type Broker struct {
	// URL is its address, as in tcp://127.0.0.1:40321; Restart keeps it.
	URL  string
	Kind Kind

	t       testing.TB
	address string
	engine  engine
	running bool
}

// engine is what makes a broker; stop leaves it ready for another start.
type engine interface {
	start(address string) error
	stop()
	// log is what the broker said, for a test that fails.
	log() string
}

// TLS makes a broker speak TLS.
type TLS struct {
	// CertFile and KeyFile are the broker's own, in PEM form.
	CertFile, KeyFile string
	// ClientCAFile names the authority whose clients alone are let in; empty: no
	// client needs a certificate.
	ClientCAFile string
}

// Start runs Mosquitto where it is installed, else an embedded broker.
func Start(t testing.TB) *Broker {
	t.Helper()
	return start(t, nil)
}

// StartTLS is Start with encryption.
func StartTLS(t testing.TB, secure TLS) *Broker {
	t.Helper()
	return start(t, &secure)
}

func start(t testing.TB, secure *TLS) *Broker {
	t.Helper()
	if path := findMosquitto(); path != "" {
		return run(t, Mosquitto, newMosquitto(t, path, secure), secure)
	}
	return run(t, Embedded, &embedded{secure: secure}, secure)
}

// StartEmbedded runs an embedded broker even where Mosquitto is installed.
func StartEmbedded(t testing.TB) *Broker {
	t.Helper()
	return run(t, Embedded, &embedded{}, nil)
}

// StartEmbeddedTLS is StartEmbedded with encryption.
func StartEmbeddedTLS(t testing.TB, secure TLS) *Broker {
	t.Helper()
	return run(t, Embedded, &embedded{secure: &secure}, &secure)
}

// attempts to find a port: between choosing and using it, another process may
// take it.
const attempts = 5

func run(t testing.TB, kind Kind, e engine, secure *TLS) *Broker {
	t.Helper()
	b := &Broker{Kind: kind, t: t, engine: e}
	var err error
	for range attempts {
		if b.address, err = FreeAddress(); err != nil {
			break
		}
		if err = e.start(b.address); err == nil {
			break
		}
	}
	if err != nil {
		t.Fatalf("broker: %s does not start: %v\n%s", kind, err, e.log())
	}
	b.URL, b.running = "tcp://"+b.address, true
	if secure != nil {
		b.URL = "tls://" + b.address
	}
	t.Cleanup(func() {
		b.Stop()
		if t.Failed() {
			t.Logf("broker: %s said:\n%s", kind, e.log())
		}
	})
	t.Logf("broker: %s at %s", kind, b.URL)
	return b
}

// Stop ends the broker: connections break and new ones are refused.
func (b *Broker) Stop() {
	if b.running {
		b.engine.stop()
		b.running = false
	}
}

// Restart starts a stopped broker at the same address, without its memory of
// clients, retained messages and queues.
func (b *Broker) Restart() {
	b.t.Helper()
	b.Stop()
	var err error
	for limit := time.Now().Add(startTime); time.Now().Before(limit); time.Sleep(100 * time.Millisecond) {
		if err = b.engine.start(b.address); err == nil {
			b.running = true
			return
		} // the port may be held by dying connections
	}
	b.t.Fatalf("broker: %s does not start again at %s: %v\n%s", b.Kind, b.address, err, b.engine.log())
}
