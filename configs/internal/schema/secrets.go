package schema

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// secretWords end the name of a key that holds a secret. A key that only names
// the place of one ends otherwise, as in password_file.
var secretWords = []string{"password", "passwd", "passphrase", "secret", "token", "api_key", "apikey"}

// userinfo finds a password inside an address, as in tcp://user:pass@host.
var userinfo = regexp.MustCompile(`://[^/@\s:]*:[^/@\s]+@`)

// IsSecretKey says that a key, by its last word, holds a secret: password, a token and the
// like, not where one is kept (password_file).
func IsSecretKey(key string) bool {
	key = strings.ToLower(key[strings.LastIndexByte(key, '.')+1:])
	return slices.ContainsFunc(secretWords, func(word string) bool {
		return key == word || strings.HasSuffix(key, "_"+word) || strings.HasSuffix(key, "-"+word)
	})
}

// IsSecret reports whether a key holds a secret as text.
func IsSecret(key string, value any) bool {
	if _, text := value.(string); !text {
		return false
	}
	return IsSecretKey(key)
}

// RefuseSecrets reports every secret that stands in the file as text, wherever
// it is: the file is kept in the journal and shown in reports. No message
// repeats the secret.
func (w *Walker) RefuseSecrets(raw any, at, key string) {
	const hint = "keep it in a file only the service can read (%_file), a systemd credential (%_credential) or an environment variable (%_env)"
	switch v := raw.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			w.RefuseSecrets(v[k], Join(at, k), k)
		}
	case []map[string]any:
		for i, table := range v {
			w.RefuseSecrets(table, Item(at, i), "")
		}
	case []any:
		for i, item := range v {
			w.RefuseSecrets(item, Item(at, i), key)
		}
	case string:
		switch {
		case IsSecret(key, v):
			w.Report(at, "a secret must not stand in the file", strings.ReplaceAll(hint, "%", strings.ToLower(key)))
		case userinfo.MatchString(v):
			w.Report(at, "a password must not stand in an address", strings.ReplaceAll("write username beside the address; for the password: "+hint, "%", "password"))
		}
	}
}
