package brokers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A run that could not show its secret, or whose token could be guessed, does not begin.
func TestRunRefusesSecretsThatAreNone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ what, text, says string }{
		{"password that is not set", "broker = \"tcp://127.0.0.1:1\"\nusername = \"tuner\"\npassword_env = \"NO_SUCH_PASSWORD\"\n", "mqtt: the password cannot be had: environment variable \"NO_SUCH_PASSWORD\" is not set"},
		{"token of five characters", "broker = \"tcp://127.0.0.1:1\"\n[web]\nlisten = \"127.0.0.1:0\"\ntoken_file = \"token\"\n", "web: the token has 5 characters, and must have at least 16"},
	} {
		dir := oven(t, c.text)
		if err := os.WriteFile(filepath.Join(dir, "token"), []byte("short"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, says, code := tell(t, dir, "run", "oven.toml"); code != 3 || !strings.Contains(says, c.says) {
			t.Errorf("%s: exit code %d\n%s", c.what, code, says)
		}
		if text, err := os.ReadFile(filepath.Join(dir, "oven.log")); err == nil && strings.Contains(string(text), `"op":"write"`) {
			t.Errorf("%s: something was written: %s", c.what, text)
		}
	}
}
