package broker

import (
	"bytes"
	"log/slog"

	mochi "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/listeners"
	"github.com/mochi-mqtt/server/v2/packets"
)

// embedded runs a broker within the test's process.
type embedded struct {
	server *mochi.Server
	said   lockedBuffer
}

func (e *embedded) start(address string) error {
	server, err := newServer(slog.New(slog.NewTextHandler(&e.said, nil)))
	if err != nil {
		return err
	}
	listener := listeners.NewTCP(listeners.Config{ID: "tcp", Type: listeners.TypeTCP, Address: address})
	if err := server.AddListener(listener); err != nil {
		return err
	}
	if err := server.Serve(); err != nil {
		return err
	}
	e.server = server
	return nil
}

func (e *embedded) stop() {
	if err := e.server.Close(); err != nil {
		e.said.Write([]byte(err.Error() + "\n"))
	}
}

func (e *embedded) log() string { return e.said.String() }

// newServer makes an embedded broker with the rules of this package.
func newServer(log *slog.Logger) (*mochi.Server, error) {
	server := mochi.New(&mochi.Options{Logger: log, InlineClient: true})
	return server, server.AddHook(new(rules), nil)
}

// rules are the access rules of the embedded broker. It knows no others, so what
// these do not allow is denied.
type rules struct {
	mochi.HookBase
}

// ID names the hook in the broker's log.
func (*rules) ID() string { return "rules" }

// Provides says which questions the hook answers.
func (*rules) Provides(b byte) bool {
	return bytes.IndexByte([]byte{mochi.OnConnectAuthenticate, mochi.OnACLCheck}, b) >= 0
}

// OnConnectAuthenticate lets in anonymous clients and the one user.
func (*rules) OnConnectAuthenticate(_ *mochi.Client, pk packets.Packet) bool {
	name, password := string(pk.Connect.Username), string(pk.Connect.Password)
	return name == "" || (name == User && password == Password)
}

// OnACLCheck denies the topics under Denied, to readers and writers.
func (*rules) OnACLCheck(_ *mochi.Client, topic string, _ bool) bool {
	return len(topic) < len(Denied) || topic[:len(Denied)] != Denied
}
