package setup

import (
	"strings"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/drivers/mqtt"
)

// BrokerOptions turns [mqtt] into the options of a connection.
func BrokerOptions(e *host.Env, cfg *configs.Config) mqtt.Options {
	m, o := cfg.MQTT, mqtt.Default()
	o.ConnectTimeout = e.Patience(o.ConnectTimeout)
	o.Broker, o.Cluster, o.ClientID, o.Username = m.Broker, m.Cluster, m.ClientID, m.Username
	o.CAFile, o.CertFile, o.KeyFile, o.ServerName = m.CAFile, m.CertFile, m.KeyFile, m.ServerName
	o.Base, o.Random = cfg.Dir, e.Random
	if s := m.Secret; s != (configs.Secret{}) {
		o.Password = func() (string, error) {
			return e.Secret(host.SecretPlace{File: s.PasswordFile, Credential: s.PasswordCredential, Env: s.PasswordEnv, Base: cfg.Dir})
		}
	}
	return o
}

// wireMQTT checks what only the connection knows of [mqtt].
func wireMQTT(cfg *configs.Config) []configs.Problem {
	if cfg.MQTT == nil {
		return nil
	}
	_, err := mqtt.NewClient(mqtt.ClientSpec{Options: BrokerOptions((&host.Env{}), cfg)})
	if err == nil {
		return nil
	}
	var problems []configs.Problem
	for _, e := range fault.Flatten(err) {
		problems = append(problems, cfg.Problem("mqtt", strings.TrimPrefix(e.Error(), "mqtt: "), ""))
	}
	return problems
}
