package setup

import (
	"strings"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/drivers/mqtt"
)

// Broker is where [mqtt], which the file has, connects to.
func Broker(cfg *configs.Config) mqtt.Connection { return *configs.Owned[mqtt.Connection](cfg, "mqtt") }

// BrokerOptions turns [mqtt] into the options of a connection.
func BrokerOptions(e *host.Env, cfg *configs.Config) mqtt.Options {
	o := mqtt.Default()
	o.Keys = Broker(cfg)
	o.ConnectTimeout = e.Patience(o.ConnectTimeout)
	o.Base, o.Random = cfg.Dir, e.Random
	if p := (host.SecretPlace{File: o.PasswordFile, Credential: o.PasswordCred, Env: o.PasswordEnv, Base: cfg.Dir}); p.File+p.Credential+p.Env != "" {
		o.Password = func() (string, error) { return e.Secret(p) }
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
