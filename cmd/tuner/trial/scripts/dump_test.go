package scripts

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/labtuner/tuner/cmd/tuner/commands"
	"github.com/labtuner/tuner/cmd/tuner/dump"
	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/loop/journal"
)

// planted are secrets, each of which stands somewhere in the journal of these tests.
var planted = []string{"plain-hunter2", "env-swordfish", "file-opensesame", "cred-abracadabra", "tok-987654", "urlpass77",
	"bearer-xyzzy", "apikey-4711", "json-plugh", "quoted\"mellon",
	"relative-frotz", "00deadbeef00", "child-env-gnusto", "spoken-rezrov5", "pwd-nitfol"}

// secretive makes a journal in which secrets stand wherever a device, a user or a driver
// may have left them.
func secretive(t *testing.T, dir string) string {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "pw"), []byte("file-opensesame\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{"relative": "relative-frotz\na second line\n", "keys": "# who\nanna 00deadbeef00\n"} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "secret.db")
	set := func(key, value string) journal.Setting {
		return journal.Setting{Key: key, Value: value, Origin: "x.toml:1"}
	}
	j, err := journal.Create(path, journal.Run{ID: "r", Name: "secret", Mode: "run", Policy: "gp-ucb", ConfigFile: dir + "/x.toml",
		ConfigText: []byte("password = \"plain-hunter2\"\n"), Objective: journal.Column{Name: "y", Unit: "W"},
		Variables: []journal.Column{{Name: "a", Unit: "V"}}, ControlSets: []journal.ControlSet{{Variables: []string{"a"}}},
		Effective: []journal.Setting{set("device.pump.password", `"plain-hunter2"`), set("mqtt.password_env", `"PUMP_PW"`),
			set("web.token_file", `"`+filepath.Join(dir, "pw")+`"`), set("mqtt.password_credential", `"pump"`),
			set("device.child.command", `["child", "--token", "tok-987654", "--verbose"]`), set("mqtt.broker", `"tcp://me:urlpass77@host:1883"`),
			set("device.child.passphrase", `"quoted\"mellon"`), set("objective.sensor", `"y"`),
			set("mqtt.password_file", `"relative"`), set("mqtt.command_keys_file", `"keys"`), set("device.child.env.LOGIN", `"child-env-gnusto"`)}}, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, message := range []string{"the pump said: env-swordfish is wrong", "sent file-opensesame", "sent cred-abracadabra",
		"Authorization: Bearer bearer-xyzzy", "GET /?api_key=apikey-4711&x=1", `{"password": "json-plugh"}`, "again tok-987654? token=tok-987654",
		"and plain-hunter2", "a token ring is no secret",
		"sent relative-frotz and 00deadbeef00", "the password is spoken-rezrov5", "pwd=pwd-nitfol"} {
		if err := j.Log(journal.Event{Level: "warn", Kind: "device", Message: message}); err != nil {
			t.Fatal(err)
		}
	}
	id, err := j.Intend(journal.Action{Device: "pump", Kind: "move", Values: map[string]float64{"a": 1}})
	if err != nil {
		t.Fatal(err)
	}
	x := []float64{1}
	for _, err := range []error{
		j.Resolve(id, journal.Failed, nil, "login with env-swordfish failed", journal.Stamp{}),
		j.Decide(journal.Decision{Step: 1, Requested: x, Applied: x, Why: `{"token":"json-plugh"}`}),
		j.Conclude(journal.Outcome{Step: 1, X: x, Mean: math.NaN(), Variance: math.NaN(), StandardError: math.NaN(), Problem: "password=plain-hunter2 refused"}),
		j.Close(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// No planted secret is in a dump, whatever it stood in; what is no secret stays.
func TestDumpHasNoSecrets(t *testing.T) {
	dir := t.TempDir()
	path := secretive(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "pump"), []byte("cred-abracadabra"), 0o600); err != nil {
		t.Fatal(err)
	}
	dump := func() string {
		e, out, errOut, _ := hosttest.Env("dump", path)
		e.Lookup = func(name string) (string, bool) {
			value, ok := map[string]string{"PUMP_PW": "env-swordfish", "CREDENTIALS_DIRECTORY": dir, "HOME": filepath.Dir(dir)}[name]
			return value, ok
		}
		if code := commands.Execute(context.Background(), e); code != 0 {
			t.Fatalf("exit code %d: %s", code, errOut.String())
		}
		return out.String()
	}
	text := dump()
	for _, secret := range planted {
		quoted, err := json.Marshal(secret)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text, strings.Trim(string(quoted), `"`)) || strings.Contains(text, secret) {
			t.Errorf("%s is in the dump", secret)
		}
	}
	if home := filepath.Dir(dir); strings.Contains(text, home) || !strings.Contains(text, "~/") {
		t.Errorf("the home folder %s is in the dump", home)
	}
	for _, kept := range []string{"a token ring is no secret", "the pump said: (removed) is wrong", `"mqtt.password_env"`, `"objective.sensor"`,
		"tcp://me:(removed)@host:1883", "--verbose", `"warn device": 12`, `"move failed": 1`, `"password=(removed) refused": 1`} {
		if !strings.Contains(text, kept) {
			t.Errorf("%q is not in the dump", kept)
		}
	}
	if !json.Valid([]byte(text)) {
		t.Errorf("the dump is no JSON document:\n%s", text)
	}
	if again := dump(); again != text {
		t.Error("two dumps of one journal differ")
	}
}

// A journal that is damaged can be told of, too.
func TestDumpOfDamage(t *testing.T) {
	path := secretive(t, t.TempDir())
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(content), "a token ring")
	content[at] = 'A'
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	e, out, errOut, _ := hosttest.Env("dump", path, "--last", "3")
	if code := commands.Execute(context.Background(), e); code != 0 {
		t.Fatalf("exit code %d: %s", code, errOut.String())
	}
	var doc dump.Document
	if err := json.Unmarshal([]byte(out.String()), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Journal.Damage) != 1 || !strings.Contains(doc.Journal.Damage[0], "table event, row id 9") || len(doc.Problems) != 1 || len(doc.Events) != 3 {
		t.Errorf("damage %q, problems %q, %d events", doc.Journal.Damage, doc.Problems, len(doc.Events))
	}
	if doc.Run == nil || doc.Counts.Steps != 1 || doc.Journal.Schema < 2 {
		t.Errorf("got %+v", doc)
	}
}
