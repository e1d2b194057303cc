package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/mqtt"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/remote"
)

// brokerOptions turns [mqtt] into the options of a connection.
func (e *env) brokerOptions(cfg *configs.Config) mqtt.Options {
	m, o := cfg.MQTT, mqtt.Default()
	o.ConnectTimeout = e.patience(o.ConnectTimeout)
	o.Broker, o.Cluster, o.ClientID, o.Username = m.Broker, m.Cluster, m.ClientID, m.Username
	o.CAFile, o.CertFile, o.KeyFile, o.ServerName = m.CAFile, m.CertFile, m.KeyFile, m.ServerName
	o.Base, o.Random = cfg.Dir, e.random
	if s := m.Secret; s != (configs.Secret{}) {
		o.Password = func() (string, error) {
			return e.secret(place{s.PasswordFile, s.PasswordCredential, s.PasswordEnv, cfg.Dir})
		}
	}
	return o
}

// wireMQTT checks what only the connection knows of [mqtt].
func (w *wiring) wireMQTT() []configs.Problem {
	if w.cfg.MQTT == nil {
		return nil
	}
	_, err := mqtt.NewClient(mqtt.ClientSpec{Options: (&env{}).brokerOptions(w.cfg)})
	if err == nil {
		return nil
	}
	var problems []configs.Problem
	for _, e := range flatten(err) {
		problems = append(problems, w.cfg.Problem("mqtt", strings.TrimPrefix(e.Error(), "mqtt: "), ""))
	}
	return problems
}

// commandKeys reads the keys that commands must be signed with, nil where none need be.
func commandKeys(cfg *configs.Config) (remote.Keys, error) {
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
	m := s.w.cfg.MQTT
	if m == nil || s.panel == nil {
		return nil, nil
	}
	keys, err := commandKeys(s.w.cfg)
	if err != nil {
		return nil, err
	}
	memory := controlstate.CommandMemory{}
	if s.control != nil && s.control.State().Commands != nil {
		memory = *s.control.State().Commands
	}
	log = log.With("broker", m.Broker)
	r := remote.New(remote.Options{Topics: remote.NewTopics(s.w.cfg.Site, s.w.cfg.Name), Session: s.panel.Status().Session,
		Version: buildVersion(), Commands: m.Commands, Keys: keys, Insecure: m.Insecure(), Heartbeat: m.Heartbeat,
		Telemetry: m.Telemetry, Discovery: m.Discovery, Memory: memory, Now: s.env.now, Log: log}, s.panel)
	will := mqtt.Message(r.Will())
	options := s.env.brokerOptions(s.w.cfg)
	if options.Password != nil { // what cannot be had is told before anything begins
		if _, err := options.Password(); err != nil {
			return nil, configError(s.w, "mqtt", "the password cannot be had: "+err.Error(), "its first line is the password")
		}
	}
	client, err := mqtt.NewClient(mqtt.ClientSpec{Options: options, Env: drivers.Env{Clock: s.clock, Log: log},
		Subscribe: r.Subscriptions(), Will: &will, Connected: r.Connected,
		Tell:   func(text string) { s.panel.Tell("the connection for commands: " + text) },
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
		r.Run(context.Background(), mqttLink{client})
	}()
	return p, nil
}

// goodbyeMax bounds the wait for the last words: the actuators are at rest by then, and
// somebody may be waiting.
const goodbyeMax = 10 * time.Second

// leave waits until the run's end has been told, and goes.
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

// mqttLink is a connection as loop/remote wants it.
type mqttLink struct{ *mqtt.Client }

// Publish implements remote.Link.
func (l mqttLink) Publish(ctx context.Context, m remote.Message) error {
	return l.Client.Publish(ctx, mqtt.Message(m))
}

// mqttWords says what check tells of [mqtt].
func (w *wiring) mqttWords() string {
	m := w.cfg.MQTT
	if m == nil {
		return "off: no status, no commands"
	}
	words := []string{"status at " + m.Broker + " under " + remote.NewTopics(w.cfg.Site, w.cfg.Name).Tree()}
	switch {
	case m.KeysFile != "":
		words = append(words, "signed commands are taken")
	case m.Commands:
		words = append(words, "commands are taken from whoever the broker lets publish them")
	default:
		words = append(words, "no commands")
	}
	if m.Discovery != "" {
		words = append(words, "Home Assistant finds it")
	}
	if m.Insecure() {
		words = append(words, "INSECURE: not encrypted or without a login, as allow_insecure says")
	}
	return strings.Join(words, "; ")
}

// refusedError is a command that the running tuner has refused.
type refusedError struct{ remote.Answer }

func (e refusedError) Error() string {
	return fmt.Sprintf("%s was refused (%s): %s", e.Command, e.Code, e.Message)
}
