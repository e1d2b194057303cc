package session

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/mqtt"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/remote"
)

// CommandKeys reads the keys that commands must be signed with, nil where none need be.
func CommandKeys(cfg *configs.Config) (remote.Keys, error) {
	if cfg.MQTT == nil || cfg.MQTT.KeysFile == "" {
		return nil, nil
	}
	text, err := os.ReadFile(cfg.Path(cfg.MQTT.KeysFile))
	if err != nil {
		return nil, configs.NewError(cfg.Problem("mqtt.command_keys_file", err.Error(), "make one: (printf 'anna '; openssl rand -hex 32) > FILE; chmod 600 FILE"))
	}
	keys, err := remote.ParseKeys(text)
	if err != nil {
		return nil, configs.NewError(cfg.Problem("mqtt.command_keys_file", err.Error(), ""))
	}
	return keys, nil
}

// presence is a run at its broker.
type presence struct {
	client *mqtt.Client
	done   chan struct{}
}

// appear puts the run at the broker of the file; nil where the file names none.
func (s *session) appear(log *slog.Logger) (*presence, error) {
	m := s.Setup.Config.MQTT
	if m == nil || s.panel == nil {
		return nil, nil
	}
	keys, err := CommandKeys(s.Setup.Config)
	if err != nil {
		return nil, err
	}
	memory := controlstate.CommandMemory{}
	if s.control != nil && s.control.State().Commands != nil {
		memory = *s.control.State().Commands
	}
	log = log.With("broker", setup.Broker(s.Setup.Config).Broker)
	r := remote.New(remote.Options{Topics: remote.NewTopics(s.Setup.Config.Site, s.Setup.Config.Name), Session: s.panel.Status().Session,
		Version: host.Version(), Commands: m.Commands, Keys: keys, Insecure: s.Setup.Config.BrokerInsecure(), Heartbeat: m.Heartbeat,
		Telemetry: m.Telemetry, Discovery: m.Discovery, Memory: memory, Now: s.Env.Now, Log: log}, s.panel)
	will := mqtt.Message(r.Will())
	options := setup.BrokerOptions(s.Env, s.Setup.Config)
	if options.Password != nil { // what cannot be read is reported before anything begins
		if _, err := options.Password(); err != nil {
			return nil, s.Setup.Refuse("mqtt", "the password cannot be had: "+err.Error(), "its first line is the password")
		}
	}
	client, err := mqtt.NewClient(mqtt.ClientSpec{Options: options, Env: drivers.Env{Clock: s.Clock, Log: log},
		Subscribe: r.Subscriptions(), Will: &will, Connected: r.Connected,
		Notify: func(text string) { s.panel.Tell("the connection for commands: " + text) },
		Urgent: func(m mqtt.Message) bool { return r.Urgent(remote.Message(m)) },
		Handle: func(m mqtt.Message) { r.Handle(remote.Message(m)) }})
	if err != nil {
		return nil, err
	}
	if m.Commands {
		s.panel.MakeReachable()
	}
	p := &presence{client: client, done: make(chan struct{})}
	client.Start()
	go func() {
		defer close(p.done)
		r.Run(context.Background(), Link{client})
	}()
	return p, nil
}

// goodbyeMax bounds the wait for the last words: the actuators are at rest by then, and
// a client may be waiting.
const goodbyeMax = 10 * time.Second

// leave waits until the run's end has been published, and disconnects.
func (p *presence) leave() {
	if p == nil {
		return
	}
	select {
	case <-p.done:
	case <-time.After(goodbyeMax):
	}
	p.client.Close()
}

// Link is a connection as loop/remote wants it.
type Link struct{ *mqtt.Client }

// Publish implements remote.Link.
func (l Link) Publish(ctx context.Context, m remote.Message) error {
	return l.Client.Publish(ctx, mqtt.Message(m))
}
