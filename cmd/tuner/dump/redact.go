package dump

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop/journal"
)

// removed stands where a secret was.
const removed = "(removed)"

// redactor takes secrets out of what others are to read: values whose key says that they
// are secret, what follows such a word in a text, passwords in addresses, and the secrets
// themselves wherever they turn up, as far as the places that the configuration names can
// be read here.
type redactor struct {
	known []string
	home  string
}

// secretText finds a word for a secret with what is given for it: --password x,
// "token": "x", api_key=x, Bearer x.
var secretText = regexp.MustCompile(`(?i)((?:passwd|password|passphrase|secret|token|api[-_]?key|apikey|credential|authorization)["'\\]*\s*[=:,]\s*["'\\]*(?:(?:basic|bearer)\s+)?|\b(?:pwd|pass|private[-_]?key)["'\\]*\s*=\s*["'\\]*|--?[a-z-]*(?:passwd|password|passphrase|secret|token|api[-_]?key)[ "',]+|\b(?:basic|bearer)\s+)([^\s"',;\\]+)`)

// spokenText finds what a sentence says after such a word: the password is x, token x. It
// is taken for a secret where it looks like one, see looksSecret.
var spokenText = regexp.MustCompile(`(?i)(\b(?:passwd|password|passphrase|secret|token|api[-_ ]?key|pwd)\s+(?:is\s+|was\s+)?["'\\]*)([^\s"',;\\]{4,})`)

// looksSecret says that a word of a sentence has what words have not: a digit or a sign.
func looksSecret(word string) bool { return strings.ContainsAny(word, "0123456789!@#$%^&*") }

// addressText finds a password in an address.
var addressText = regexp.MustCompile(`(://[^/@\s:]*:)([^/@\s]+)(@)`)

// member is a name with its text or number in a JSON document.
var member = regexp.MustCompile(`("(?:[^"\\]|\\.)*")(\s*:\s*)("(?:[^"\\]|\\.)*"|-?[0-9][^\s,}]*)`)

// literal is a string of a JSON document.
var literal = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// shortestSecret is the least that is looked for in texts: a shorter one would be found
// everywhere by chance.
const shortestSecret = 4

// newRedactor learns the secrets that the settings name the places of. What names a file
// by a relative path is looked for in each of the folders.
func newRedactor(settings []journal.Setting, lookup func(string) (string, bool), folders []string) *redactor {
	r := &redactor{}
	if home, ok := lookup("HOME"); ok && len(home) > 1 {
		r.home = home
	}
	credentials, _ := lookup("CREDENTIALS_DIRECTORY")
	for _, s := range settings {
		place := strings.Trim(s.Value, `"'`)
		switch key := strings.ToLower(s.Key); {
		case configs.IsSecretKey(key):
			r.learn(place)
		case configs.IsSecretKey(strings.TrimSuffix(key, "_env")):
			secret, _ := lookup(place)
			r.learn(secret)
		case configs.IsSecretKey(strings.TrimSuffix(key, "_file")), strings.HasSuffix(key, "_keys_file"):
			r.learnFile(place, folders)
		case configs.IsSecretKey(strings.TrimSuffix(key, "_credential")) && credentials != "":
			r.learnFile(place, []string{credentials})
		}
		for _, found := range secretText.FindAllStringSubmatch(s.Value, -1) {
			r.learn(found[2])
		}
		for _, found := range addressText.FindAllStringSubmatch(s.Value, -1) {
			r.learn(found[2])
		}
	}
	return r
}

// learn has a secret looked for everywhere.
func (r *redactor) learn(secret string) {
	if secret = strings.TrimSpace(secret); len(secret) >= shortestSecret {
		r.known = append(r.known, secret)
	}
}

// learnFile learns the lines of a file, and the last word of each: a line of keys is NAME
// and key. What cannot be read here is not known here.
func (r *redactor) learnFile(path string, folders []string) {
	if filepath.IsAbs(path) {
		folders = []string{""}
	}
	for _, folder := range folders {
		text, err := os.ReadFile(filepath.Join(folder, path))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			r.learn(line)
			if words := strings.Fields(line); len(words) > 1 {
				r.learn(words[len(words)-1])
			}
		}
	}
}

// setting takes out a secret that stands as the value of its key, and what a program is
// given in its environment: that is where its passwords are, under any name.
func (r *redactor) setting(s journal.Setting) journal.Setting {
	if configs.IsSecretKey(s.Key) || strings.HasPrefix(s.Key, "device.") && strings.Contains(s.Key, ".env.") {
		s.Value = removed
	}
	return s
}

// text takes secrets out of one text.
func (r *redactor) text(s string) string {
	for _, secret := range r.known {
		s = strings.ReplaceAll(s, secret, removed)
	}
	s = addressText.ReplaceAllString(s, "${1}"+removed+"${3}")
	s = secretText.ReplaceAllString(s, "${1}"+removed)
	s = spokenText.ReplaceAllStringFunc(s, func(said string) string {
		if part := spokenText.FindStringSubmatch(said); looksSecret(part[2]) {
			return part[1] + removed
		}
		return said
	})
	if r.home != "" {
		s = strings.ReplaceAll(s, r.home, "~")
	}
	return s
}

// document takes secrets out of every text of a JSON document, names included.
func (r *redactor) document(doc []byte) []byte {
	doc = member.ReplaceAllFunc(doc, func(pair []byte) []byte {
		parts := member.FindSubmatch(pair)
		var name string
		if err := json.Unmarshal(parts[1], &name); err == nil && !configs.IsSecretKey(name) {
			return pair
		}
		return fmt.Appendf(nil, "%s%s%q", parts[1], parts[2], removed)
	})
	return literal.ReplaceAllFunc(doc, func(quoted []byte) []byte {
		var s string
		if err := json.Unmarshal(quoted, &s); err != nil {
			return []byte(`"` + removed + `"`) // what cannot be looked at is not shown
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(r.text(s)); err != nil {
			return []byte(`"` + removed + `"`)
		}
		return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	})
}
