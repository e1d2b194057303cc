package remote

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/labtuner/tuner/loop/control"
)

const (
	// MaxPayload bounds a command, in bytes. Not less: a signed one with a reason needs
	// 700. Not more: nothing that a person says to an instrument is longer.
	MaxPayload = 4096
	// MaxExpiry bounds a command's life.
	MaxExpiry = time.Hour
	// transactionMax bounds every name in a command.
	transactionMax = control.TransactionMax
	// depthMax bounds nesting: args is an object of an object.
	depthMax = 4
)

// Command is the content of a command message.
type Command struct {
	// Transaction names this command for its sender: 1 to 64 letters, digits and -_.:
	Transaction string
	// Session is what the status said.
	Session string
	// Issued is when it was sent by the sender's clock, zero where that is unknown: then
	// Expires counts from its arrival.
	Issued time.Time
	// Expires is how long after Issued it may still act.
	Expires time.Duration
	// Args is a JSON object, or empty.
	Args json.RawMessage
	// Key and Seq are of a signed command: whose key, and a number that grows.
	Key string
	Seq uint64
}

// wireCommand is a Command as JSON.
type wireCommand struct {
	Transaction string          `json:"transaction"`
	Session     string          `json:"session,omitempty"`
	Issued      string          `json:"issued,omitempty"`
	ExpiresMS   *int64          `json:"expires_ms,omitempty"`
	Args        json.RawMessage `json:"args,omitempty"`
	Key         string          `json:"key,omitempty"`
	Seq         uint64          `json:"seq,omitempty"`
}

// members are the names of a wireCommand.
var members = []string{"transaction", "session", "issued", "expires_ms", "args", "key", "seq"}

// MarshalJSON writes a command as ParseCommand reads it.
func (c Command) MarshalJSON() ([]byte, error) {
	w := wireCommand{Transaction: c.Transaction, Session: c.Session, Args: c.Args, Key: c.Key, Seq: c.Seq}
	if !c.Issued.IsZero() {
		w.Issued = c.Issued.UTC().Format(time.RFC3339Nano)
	}
	ms := c.Expires.Milliseconds()
	w.ExpiresMS = &ms
	return json.Marshal(w)
}

// parseCommand reads a command strictly: one JSON object in UTF-8 with the members that
// there are, each at most once and spelled exactly, and nothing after it. transaction and
// expires_ms (1 to 3600000) are required.
func parseCommand(payload []byte) (Command, error) {
	if len(payload) > MaxPayload {
		return Command{}, fmt.Errorf("it has %d bytes; at most %d are read", len(payload), MaxPayload)
	}
	if !utf8.Valid(payload) {
		return Command{}, errors.New("it is not UTF-8")
	}
	if err := checkJSON(payload); err != nil {
		return Command{}, err
	}
	var w wireCommand
	d := json.NewDecoder(bytes.NewReader(payload))
	d.DisallowUnknownFields()
	if err := d.Decode(&w); err != nil {
		return Command{}, err
	}
	c := Command{Transaction: w.Transaction, Session: w.Session, Args: w.Args, Key: w.Key, Seq: w.Seq}
	if err := control.CheckTransaction(w.Transaction); err != nil {
		return Command{}, err
	}
	switch {
	case len(w.Session) > transactionMax || len(w.Key) > transactionMax:
		return Command{}, fmt.Errorf("session and key have at most %d bytes", transactionMax)
	case w.ExpiresMS == nil:
		return Command{}, errors.New("expires_ms is missing: how many milliseconds it may still act")
	case *w.ExpiresMS < 1 || *w.ExpiresMS > MaxExpiry.Milliseconds():
		return Command{}, fmt.Errorf("expires_ms is %d and must be 1 to %d", *w.ExpiresMS, MaxExpiry.Milliseconds())
	}
	c.Expires = time.Duration(*w.ExpiresMS) * time.Millisecond
	if w.Issued != "" {
		at, err := time.Parse(time.RFC3339Nano, w.Issued)
		if err != nil {
			return Command{}, fmt.Errorf("issued is %q and must be a time as in 2026-01-31T12:00:00Z", control.Clip(w.Issued))
		}
		c.Issued = at
	}
	return c, nil
}

// checkJSON refuses what the decoder would let pass: members twice or in other letters,
// deep nesting, something after the object.
func checkJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	first, err := d.Token()
	if err != nil {
		return fmt.Errorf("it is no JSON object: %w", err)
	}
	if first != json.Delim('{') {
		return errors.New("it is no JSON object")
	}
	if err := checkObject(d, 1); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("there is something after the JSON object")
	}
	return nil
}

// checkObject reads the rest of an object.
func checkObject(d *json.Decoder, depth int) error {
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		name, ok := t.(string)
		switch {
		case !ok:
			return errors.New("a member has no name")
		case seen[name]:
			return fmt.Errorf("%q is there twice", control.Clip(name))
		case depth == 1 && !slices.Contains(members, name):
			return fmt.Errorf("unknown member %q", control.Clip(name))
		}
		seen[name] = true
		if err := checkValue(d, depth); err != nil {
			return err
		}
	}
	_, err := d.Token() // the closing brace
	return err
}

// checkValue reads one value.
func checkValue(d *json.Decoder, depth int) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	delim, nested := t.(json.Delim)
	if !nested {
		return nil
	}
	if depth >= depthMax {
		return errors.New("it is nested too deeply")
	}
	if delim == '{' {
		return checkObject(d, depth+1)
	}
	for d.More() {
		if err := checkValue(d, depth+1); err != nil {
			return err
		}
	}
	_, err = d.Token() // the closing bracket
	return err
}
