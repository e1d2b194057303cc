package remote

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/loop/control"
)

func TestParseCommand(t *testing.T) {
	text := `{"transaction":"4f1c-2","session":"ab","issued":"2026-06-01T12:00:00.25Z","expires_ms":1500,"args":{"reason":"lunch"},"key":"anna","seq":7}`
	want := Command{Transaction: "4f1c-2", Session: "ab", Issued: noon.Add(250 * time.Millisecond), Expires: 1500 * time.Millisecond,
		Args: json.RawMessage(`{"reason":"lunch"}`), Key: "anna", Seq: 7}
	got, err := parseCommand([]byte(text))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	for text, says := range map[string]string{
		`{"transaction":"t","expires_ms":0}`:                      "expires_ms is 0 and must be 1 to 3600000",
		`{"transaction":"t","expires_ms":3600001}`:                "expires_ms is 3600001",
		`{"transaction":"t","expires_ms":1e3}`:                    "cannot unmarshal number 1e3",
		`{"transaction":"t"}`:                                     "expires_ms is missing",
		`{"expires_ms":1}`:                                        "transaction is missing",
		`{"transaction":"t","expires_ms":1,"issued":"yesterday"}`: `issued is "yesterday" and must be a time`,
		`{"transaction":"t","expires_ms":1,"seq":-1}`:             "cannot unmarshal",
		`{"transaction":"t","expires_ms":1}x`:                     "something after",
		`{"transaction":"t","transaction":"u","expires_ms":1}`:    `"transaction" is there twice`,
		`{"transaction":"t","expires_ms":1,"speed":2}`:            `unknown member "speed"`,
		`"x"`: "no JSON object",
		``:    "no JSON object",
	} {
		if _, err := parseCommand([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
}

// FuzzParseCommand: what is accepted is within its bounds and comes back as it was.
func FuzzParseCommand(f *testing.F) {
	f.Add(command(nil))
	f.Add([]byte(`{"transaction":"t","session":"s","expires_ms":1,"args":{"reason":"x"},"key":"k","seq":1}`))
	f.Add([]byte(`{"transaction":"t","expires_ms":1,"expires_ms":2}`))
	f.Add([]byte(`{"transaction":"t","expires_ms":1,"args":[[[[]]]]}`))
	f.Add([]byte("{\"transaction\":\"\xff\"}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := parseCommand(text)
		if err != nil {
			return
		}
		if len(text) > MaxPayload || control.CheckTransaction(c.Transaction) != nil || c.Expires <= 0 || c.Expires > MaxExpiry {
			t.Fatalf("accepted %+v", c)
		}
		// Exactly one object, each member once: a decoder that keeps the last one and one
		// that keeps the first agree.
		var any map[string]json.RawMessage
		if err := json.Unmarshal(text, &any); err != nil {
			t.Fatalf("accepted what is no JSON: %v", err)
		}
		again, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		back, err := parseCommand(again)
		if len(again) > MaxPayload {
			return // escapes made it longer
		}
		if err != nil || !back.Issued.Equal(c.Issued) || back.Transaction != c.Transaction || back.Session != c.Session || back.Seq != c.Seq {
			t.Fatalf("%+v comes back as %+v, %v", c, back, err)
		}
	})
}

// FuzzOpen: nothing but the very bytes that were signed is opened.
func FuzzOpen(f *testing.F) {
	topic := testTopics.Command("pause")
	good := testKeys[0].sign(topic, command(func(c *Command) { c.Key, c.Seq = "anna", 1 }))
	f.Add(good)
	f.Add([]byte("e30.e30"))
	f.Add([]byte("..."))
	f.Fuzz(func(t *testing.T, payload []byte) {
		if _, err := testKeys.open(topic, payload); err == nil && !bytes.Equal(payload, good) {
			t.Fatalf("opened %q", payload)
		}
	})
}

func TestParseKeys(t *testing.T) {
	good := "# people\n\nanna " + strings.Repeat("0a", 32) + "\r\nbob\t" + strings.Repeat("0B", 40) + "\n"
	keys, err := ParseKeys([]byte(good))
	if err != nil || len(keys) != 2 || keys[0].Name != "anna" || len(keys[1].Secret) != 40 {
		t.Errorf("got %d keys, %v", len(keys), err)
	}
	secret := strings.Repeat("0c", 31)
	for text, says := range map[string]string{
		"":                             "there is no key in it",
		"anna":                         "line 1: a line is NAME and a key",
		"anna " + secret:               "line 1: the key of \"anna\" has 31 bytes, and needs 32",
		"anna " + secret + "0cxy":      "not hexadecimal",
		good + "anna " + secret + "0c": "line 5: \"anna\" has a key already",
	} {
		if _, err := ParseKeys([]byte(text)); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), secret) {
			t.Errorf("%q: %v, want %q and no secret", text, err, says)
		}
	}
}

func TestTopics(t *testing.T) {
	top := NewTopics("hall/1", "a+b#")
	if top.Status() != "tuner/hall_1/a_b_/status" || top.Commands() != "tuner/hall_1/a_b_/cmd/+" {
		t.Errorf("%s, %s", top.Status(), top.Commands())
	}
	if name, ok := top.commandOf(top.Command("set-best")); !ok || name != "set-best" {
		t.Errorf("%q, %v", name, ok)
	}
}
