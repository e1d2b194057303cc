package configs

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// MQTT is the tuner's own connection to a broker.
type MQTT struct {
	Broker   string   `toml:"broker" required:"true" doc:"the broker's address, such as tcp://127.0.0.1:1883, or tls://HOST:8883 encrypted"`
	Cluster  []string `toml:"cluster" doc:"further nodes of the same clustered broker, addresses like broker; the next one is tried when a node does not answer"`
	Commands bool     `toml:"commands" doc:"whether commands are accepted, beside publishing status"`
	ClientID string   `toml:"client_id" doc:"name at the broker, which must be the only one of this name; absent: \"tuner-\" and random digits"`
	Username string   `toml:"username" doc:"user name at the broker"`
	Secret
	CAFile        string `toml:"ca_file" doc:"tls: file of the certificates, in PEM form, that vouch for the broker's; absent: the system's"`
	CertFile      string `toml:"cert_file" doc:"tls: file of this client's certificate, in PEM form; absent: none"`
	KeyFile       string `toml:"key_file" doc:"tls: file of the certificate's private key, in PEM form and not encrypted"`
	ServerName    string `toml:"server_name" doc:"tls: the name that the broker's certificate must hold; absent: the host of broker"`
	KeysFile      string `toml:"command_keys_file" doc:"file of keys, one NAME HEX a line: commands must then be signed with one of them; absent: whoever the broker lets publish may command"`
	AllowInsecure bool   `toml:"allow_insecure" doc:"true: a broker on another computer may be used without encryption or without a login; the status tells"`
	Discovery     string `toml:"discovery" doc:"topic prefix of Home Assistant's discovery, as in homeassistant; absent: off"`
	// Not longer: who looks wants to know within half a minute whether the tuner is there.
	// Not shorter: a retained message each second wears a broker's disk.
	Heartbeat time.Duration `toml:"heartbeat" default:"10s" bound:">= 1s, <= 10m" doc:"how often the status is said again"`
	// What a chart can show. Shorter loads the broker, longer hides a step's course.
	Telemetry time.Duration `toml:"telemetry" default:"1s" bound:">= 250ms, <= 1h" doc:"how often the values are published"`
}

// nodes are all addresses of the broker.
func (m *MQTT) nodes() []string { return append([]string{m.Broker}, m.Cluster...) }

// Local says that every node of the broker is on this computer: what is said to it passes
// no network.
func (m *MQTT) Local() bool {
	return !slices.ContainsFunc(m.nodes(), func(address string) bool {
		u, err := url.Parse(address)
		return err != nil || !IsLoopback(u.Hostname())
	})
}

// Encrypted says that every address asks for TLS.
func (m *MQTT) Encrypted() bool {
	return !slices.ContainsFunc(m.nodes(), func(address string) bool {
		scheme, _, _ := strings.Cut(address, ":")
		return !slices.Contains([]string{"ssl", "tls", "mqtts"}, scheme)
	})
}

// login says that the broker can tell who this is.
func (m *MQTT) login() bool { return m.Username != "" && m.places() > 0 || m.CertFile != "" }

// Insecure says that what passes between the tuner and the broker may be read or forged on
// its way, or that the broker cannot tell who the tuner is.
func (m *MQTT) Insecure() bool { return !m.Local() && (!m.Encrypted() || !m.login()) }

// places counts where a password is kept.
func (s *Secret) places() (n int) {
	for _, place := range []string{s.PasswordFile, s.PasswordCredential, s.PasswordEnv} {
		if place != "" {
			n++
		}
	}
	return n
}

// mqtt checks [mqtt].
func (k *checker) mqtt() {
	m := k.cfg.MQTT
	if m == nil {
		return
	}
	schemes := []string{"tcp", "mqtt", "ssl", "tls", "mqtts"}
	u, address := &url.URL{}, true
	for i, text := range m.nodes() {
		node, err := url.Parse(text)
		if err != nil || node.Hostname() == "" || !slices.Contains(schemes, node.Scheme) {
			address = false
			k.bad([]string{"mqtt.broker", "mqtt.cluster"}[min(i, 1)], fmt.Sprintf("must be an address such as tcp://HOST:1883, got %q", text), "schemes are "+strings.Join(schemes, ", "))
		} else if i == 0 {
			u = node
		}
	}
	if m.places() > 1 {
		k.bad("mqtt", "the password is kept in more than one place", "keep one of password_file, password_credential and password_env")
	}
	if m.places() > 0 && m.Username == "" {
		k.bad("mqtt", "a password without a username", "add username, the user's name at the broker", "mqtt.username")
	}
	if m.KeysFile != "" && !m.Commands {
		k.bad("mqtt.command_keys_file", "keys for commands, and no commands are taken", "write commands = true, or leave the keys out", "mqtt.commands")
	}
	if !address || m.Local() || m.AllowInsecure {
		return
	}
	const hint = "; where the network is yours alone, allow_insecure = true takes the risk"
	if !m.Encrypted() {
		k.bad("mqtt.broker", fmt.Sprintf("%q is another computer, and the connection is not encrypted: anybody on the way could read it and forge it", m.Broker),
			"write tls://"+u.Hostname()+":8883"+hint)
	}
	if !m.login() {
		k.bad("mqtt", "the broker is another computer, and there is no login: it could not tell the tuner from anybody else",
			"add username with password_file, or cert_file with key_file"+hint, "mqtt.username")
	}
}
