package configs

import (
	"strings"
	"testing"

	"github.com/labtuner/tuner/configs/internal/schema"
)

func TestIsSecret(t *testing.T) {
	for key, want := range map[string]bool{
		"password": true, "Password": true, "mqtt_password": true, "token": true, "api_key": true,
		"password_file": false, "password_env": false, "password_credential": false, "tokens": false, "key": false, "compass": false,
	} {
		if got := schema.IsSecret(key, "x"); got != want {
			t.Errorf("isSecret(%q) = %v", key, got)
		}
	}
	if schema.IsSecret("token", 1.5) {
		t.Error("a number was taken for a secret")
	}
}

// TestSecretsAreNotRepeated: a message about a secret does not show it, wherever
// in the file it stands.
func TestSecretsAreNotRepeated(t *testing.T) {
	for _, key := range []string{
		"\n[mqtt]\nbroker = \"tcp://localhost:1\"\npassword = \"hunter2\"\n",
		"\n[mqtt]\nbroker = \"tcp://u:hunter2@localhost:1\"\n",
		"\n[device.channel.p]\nlogin = [{ token = \"hunter2\" }]\n",
		"\n[device.channel.p]\nurls = [\"http://u:hunter2@h/\"]\n",
	} {
		problems := problemsOf(t, smallText+key)
		text := render(&Error{Problems: problems})
		if strings.Contains(text, "hunter2") {
			t.Errorf("a secret is repeated:\n%s", text)
		}
		if len(problems) != 1 || !strings.Contains(problems[0].What, "must not stand in") {
			t.Errorf("%s:\n%s", key, text)
		}
	}
}
