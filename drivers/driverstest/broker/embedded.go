package broker

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"time"

	mochi "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/listeners"
	"github.com/mochi-mqtt/server/v2/packets"
)

// embedded runs a broker within the test's process.
type embedded struct {
	secure *TLS // nil: none
	server *mochi.Server
	said   lockedBuffer
}

func (e *embedded) start(address string) error {
	server, err := newServer(slog.New(slog.NewTextHandler(&e.said, nil)))
	if err != nil {
		return err
	}
	config, err := e.secure.config()
	if err != nil {
		return err
	}
	listener := listeners.NewTCP(listeners.Config{ID: "tcp", Type: listeners.TypeTCP, Address: address, TLSConfig: config})
	if err := server.AddListener(listener); err != nil {
		return err
	}
	if err := server.Serve(); err != nil {
		return err
	}
	e.server = server
	return nil
}

// config reads the files of an embedded broker's TLS; nil stays nil.
func (s *TLS) config() (*tls.Config, error) {
	if s == nil {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(s.CertFile, s.KeyFile)
	if err != nil {
		return nil, err
	}
	c := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if s.ClientCAFile == "" {
		return c, nil
	}
	text, err := os.ReadFile(s.ClientCAFile)
	if err != nil {
		return nil, err
	}
	c.ClientCAs, c.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
	if !c.ClientCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("no certificate in %s", s.ClientCAFile)
	}
	return c, nil
}

func (e *embedded) stop() {
	if err := e.server.Close(); err != nil {
		e.said.Write([]byte(err.Error() + "\n"))
	}
}

func (e *embedded) log() string { return e.said.String() }

// sysTopics is how often, in seconds, the embedded broker publishes its own state. Not oftener: nobody
// here listens, and in virtual time a broker that does so every second does little else.
const sysTopics = 3600

// newServer makes an embedded broker with the rules of this package.
func newServer(log *slog.Logger) (*mochi.Server, error) {
	capabilities := mochi.NewDefaultServerCapabilities()
	capabilities.MaximumMessageExpiryInterval = 0 // else it forgets what is retained after a day
	server := mochi.New(&mochi.Options{Logger: log, InlineClient: true, Capabilities: capabilities, SysTopicResendInterval: sysTopics})
	return server, server.AddHook(&rules{server: server}, nil)
}

// rules are the access rules of the embedded broker. It knows no others, so what
// these do not allow is denied.
type rules struct {
	mochi.HookBase
	server *mochi.Server
}

// ID names the hook in the broker's log.
func (*rules) ID() string { return "rules" }

// Provides says which questions the hook answers.
func (*rules) Provides(b byte) bool {
	return bytes.IndexByte([]byte{mochi.OnConnectAuthenticate, mochi.OnACLCheck, mochi.OnSessionEstablish}, b) >= 0
}

// OnConnectAuthenticate lets in anonymous clients and the one user.
func (*rules) OnConnectAuthenticate(_ *mochi.Client, pk packets.Packet) bool {
	name, password := string(pk.Connect.Username), string(pk.Connect.Password)
	return name == "" || (name == User && password == Password)
}

// OnSessionEstablish ends the client that has the name already, and waits until the
// broker has forgotten it. The broker does the first too, but where the old client's
// end overtakes the new one's entry, it forgets the new one, and the next client of
// the name no longer throws it out.
func (r *rules) OnSessionEstablish(cl *mochi.Client, _ packets.Packet) {
	// One that was thrown out before it learnt that it is connected is not forgotten either:
	// the broker then takes the name from what is dead already.
	for range 100 {
		old, there := r.server.Clients.Get(cl.ID)
		if !there || !old.Properties.Clean { // a lasting session is not forgotten
			return
		}
		old.Stop(packets.ErrSessionTakenOver)
		time.Sleep(time.Millisecond)
	}
}

// OnACLCheck denies the topics under Denied, to readers and writers.
func (*rules) OnACLCheck(_ *mochi.Client, topic string, _ bool) bool {
	return len(topic) < len(Denied) || topic[:len(Denied)] != Denied
}
