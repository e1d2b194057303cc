package configs

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// MQTT is what the tuner itself says to a broker. Where that is, and who logs in, are keys of
// the package that connects.
type MQTT struct {
	Commands      bool   `toml:"commands" doc:"whether commands are accepted over MQTT; without it only status is published"`
	KeysFile      string `toml:"command_keys_file" doc:"file of keys, one NAME HEX a line: commands must then be signed with one of them; absent: everyone who may publish at the broker may command"`
	AllowInsecure bool   `toml:"allow_insecure" doc:"true: a broker on another computer may be used without encryption or without a login; the status tells"`
	Discovery     string `toml:"discovery" doc:"topic prefix of Home Assistant's discovery, as in homeassistant; absent: off"`
	// Not longer: who looks wants to know within half a minute whether the tuner is there.
	// Not shorter: a retained message each second wears a broker's disk.
	Heartbeat time.Duration `toml:"heartbeat" default:"10s" bound:">= 1s, <= 10m" doc:"how often the status is published again, so that a listener notices a dead run"`
	// What a chart can show. Shorter loads the broker, longer hides a step's course.
	Telemetry time.Duration `toml:"telemetry" default:"1s" bound:">= 250ms, <= 1h" doc:"how often the values are published; seldom spares a slow network"`
}

// brokerNodes are all addresses of the broker.
func (c *Config) brokerNodes() []string {
	return append([]string{value[string](c, "mqtt.broker")}, value[[]string](c, "mqtt.cluster")...)
}

// brokerLocal says that every node of the broker is on this computer: what is said to it
// passes no network.
func (c *Config) brokerLocal() bool {
	return !slices.ContainsFunc(c.brokerNodes(), func(address string) bool {
		u, err := url.Parse(address)
		return err != nil || !isLoopback(u.Hostname())
	})
}

// brokerEncrypted says that every address asks for TLS.
func (c *Config) brokerEncrypted() bool {
	return !slices.ContainsFunc(c.brokerNodes(), func(address string) bool {
		scheme, _, _ := strings.Cut(address, ":")
		return !slices.Contains([]string{"ssl", "tls", "mqtts"}, scheme)
	})
}

// brokerLogin says that the broker can tell who this is.
func (c *Config) brokerLogin() bool {
	return value[string](c, "mqtt.username") != "" && c.passwordPlaces() > 0 || value[string](c, "mqtt.cert_file") != ""
}

// passwordPlaces counts where the broker's password is kept.
func (c *Config) passwordPlaces() (n int) {
	for _, key := range []string{"mqtt.password_file", "mqtt.password_credential", "mqtt.password_env"} {
		if value[string](c, key) != "" {
			n++
		}
	}
	return n
}

// BrokerInsecure says that what passes between the tuner and the broker of [mqtt] may be read
// or forged on its way, or that the broker cannot tell who the tuner is.
func (c *Config) BrokerInsecure() bool {
	return !c.brokerLocal() && (!c.brokerEncrypted() || !c.brokerLogin())
}

// mqtt checks [mqtt].
func (k *checker) mqtt() {
	m := k.cfg.MQTT
	if m == nil {
		return
	}
	schemes := []string{"tcp", "mqtt", "ssl", "tls", "mqtts"}
	u, address := &url.URL{}, true
	for i, text := range k.cfg.brokerNodes() {
		node, err := url.Parse(text)
		if err != nil || node.Hostname() == "" || !slices.Contains(schemes, node.Scheme) {
			address = false
			k.bad([]string{"mqtt.broker", "mqtt.cluster"}[min(i, 1)], fmt.Sprintf("must be an address such as tcp://HOST:1883, got %q", text), "schemes are "+strings.Join(schemes, ", "))
		} else if i == 0 {
			u = node
		}
	}
	if k.cfg.passwordPlaces() > 1 {
		k.bad("mqtt", "the password is kept in more than one place", "keep one of password_file, password_credential and password_env")
	}
	if k.cfg.passwordPlaces() > 0 && value[string](k.cfg, "mqtt.username") == "" {
		k.bad("mqtt", "a password without a username", "add username, the user's name at the broker", "mqtt.username")
	}
	if m.KeysFile != "" && !m.Commands {
		k.bad("mqtt.command_keys_file", "keys for commands, and no commands are taken", "write commands = true, or leave the keys out", "mqtt.commands")
	}
	if !address || k.cfg.brokerLocal() || m.AllowInsecure {
		return
	}
	const hint = "; where the network is yours alone, allow_insecure = true takes the risk"
	if !k.cfg.brokerEncrypted() {
		k.bad("mqtt.broker", fmt.Sprintf("%q is another computer, and the connection is not encrypted: anybody on the way could read it and forge it", k.cfg.brokerNodes()[0]),
			"write tls://"+u.Hostname()+":8883"+hint)
	}
	if !k.cfg.brokerLogin() {
		k.bad("mqtt", "the broker is another computer, and there is no login: it could not tell the tuner from anybody else",
			"add username with password_file, or cert_file with key_file"+hint, "mqtt.username")
	}
}
