package remote

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/labtuner/tuner/loop/control"
)

// keyMin is the least length of a key, in bytes: that of the hash.
const keyMin = 32

// Key is a secret that signs commands.
type Key struct {
	Name   string
	Secret []byte
}

// Keys are those whose commands are taken.
type Keys []Key

// ParseKeys reads a key file: one key a line, its name and then at least 32 random bytes
// in hexadecimal, as openssl rand -hex 32 makes them. Empty lines and those that begin with
// # do not count. An error names the line and never a secret.
func ParseKeys(text []byte) (Keys, error) {
	var keys Keys
	s := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; s.Scan(); n++ {
		fields := strings.Fields(s.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) != 2 {
			return nil, fmt.Errorf("line %d: a line is NAME and a key in hexadecimal", n)
		}
		secret, err := hex.DecodeString(fields[1])
		switch {
		case err != nil:
			return nil, fmt.Errorf("line %d: the key of %q is not hexadecimal; make one with openssl rand -hex 32", n, control.Clip(fields[0]))
		case len(secret) < keyMin:
			return nil, fmt.Errorf("line %d: the key of %q has %d bytes, and needs %d; make one with openssl rand -hex 32", n, control.Clip(fields[0]), len(secret), keyMin)
		case len(fields[0]) > transactionMax:
			return nil, fmt.Errorf("line %d: the name has %d bytes; at most %d are taken", n, len(fields[0]), transactionMax)
		}
		if _, taken := keys.find(fields[0]); taken {
			return nil, fmt.Errorf("line %d: %q has a key already", n, control.Clip(fields[0]))
		}
		keys = append(keys, Key{Name: fields[0], Secret: secret})
	}
	if err := s.Err(); err != nil {
		return nil, err
	}
	if len(keys) == 0 {
		return nil, errors.New("there is no key in it")
	}
	return keys, nil
}

func (k Keys) find(name string) (Key, bool) {
	for _, key := range k {
		if key.Name == name {
			return key, true
		}
	}
	return Key{}, false
}

// mac authenticates the exact bytes of a body for one topic. The prefix keeps it apart
// from whatever else the key may be used for.
func (k Key) mac(topic string, body []byte) []byte {
	h := hmac.New(sha256.New, k.Secret)
	h.Write([]byte("tuner-command/1\n" + topic + "\n")) // a hash's Write never fails
	h.Write(body)
	return h.Sum(nil)
}

// sign wraps a body for a topic: base64url(body).base64url(HMAC-SHA256), without padding.
func (k Key) sign(topic string, body []byte) []byte {
	e := base64.RawURLEncoding
	return []byte(e.EncodeToString(body) + "." + e.EncodeToString(k.mac(topic, body)))
}

var errForged = errors.New("the signature does not fit")

// open reads a signed payload: the command, once its signature has been checked with the
// key that it names. A name that there is not takes as long as a wrong signature.
func (k Keys) open(topic string, payload []byte) (Command, error) {
	head, tail, ok := bytes.Cut(payload, []byte("."))
	if !ok {
		return Command{}, errors.New("it is not signed: base64url(command).base64url(signature)")
	}
	strict := base64.RawURLEncoding.Strict()
	body, err1 := strict.DecodeString(string(head))
	mac, err2 := strict.DecodeString(string(tail))
	if err1 != nil || err2 != nil {
		return Command{}, errors.New("it is not in base64url")
	}
	c, err := parseCommand(body)
	if err != nil {
		return Command{}, err
	}
	key, known := k.find(c.Key)
	if !hmac.Equal(key.mac(topic, body), mac) || !known {
		return Command{}, errForged
	}
	return c, nil
}

// isSigned says that a payload is meant to be signed: no JSON begins so.
func isSigned(payload []byte) bool {
	t := bytes.TrimSpace(payload)
	return len(t) > 0 && t[0] != '{'
}
