package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/labtuner/tuner/cmd/tuner/fault"
)

// SecretPlace is where a secret is kept: at most one of its parts is set.
type SecretPlace struct {
	// File is a path, Credential the name of a systemd credential, Env that of an
	// environment variable.
	File, Credential, Env string
	// Base is the folder that a relative file starts from.
	Base string
}

// secretMax bounds a secret's length in bytes.
const secretMax = 4096

// Secret reads what a place holds, its first line; "" where no place is named. No error
// repeats what was read.
func (e *Env) Secret(p SecretPlace) (string, error) {
	switch {
	case p.File != "":
		path := p.File
		if !filepath.IsAbs(path) {
			path = filepath.Join(p.Base, path)
		}
		e.warnOfReaders(path)
		return secretFile(path)
	case p.Credential != "":
		dir, ok := e.Lookup("CREDENTIALS_DIRECTORY")
		if !ok {
			return "", fault.WithHint(fmt.Errorf("credential %q: this process was given no credentials", p.Credential),
				"systemd gives them to a service with LoadCredential="+p.Credential+":FILE; typed by hand, keep the secret in a file")
		}
		if p.Credential != filepath.Base(p.Credential) {
			return "", fmt.Errorf("credential %q is not a name", p.Credential)
		}
		return secretFile(filepath.Join(dir, p.Credential))
	case p.Env != "":
		text, ok := e.Lookup(p.Env)
		if !ok || text == "" {
			return "", fault.WithHint(fmt.Errorf("environment variable %q is not set", p.Env), "it should hold a secret")
		}
		return checkedSecret(text, "environment variable "+p.Env)
	}
	return "", nil
}

// warnOfReaders tells where everybody on this computer can read a secret.
func (e *Env) warnOfReaders(path string) {
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o004 != 0 && e.Stderr != nil {
		fmt.Fprintf(e.Stderr, "tuner: warning: the secret in %s can be read by everybody on this computer: chmod o-r %[1]s\n", path)
	}
}

func secretFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err == nil && info.Size() > secretMax {
		err = fmt.Errorf("it has %d bytes, a secret at most %d", info.Size(), secretMax)
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		var at *fs.PathError
		if errors.As(err, &at) {
			err = at.Err
		}
		return "", fmt.Errorf("secret in %s: %w", path, err)
	}
	return checkedSecret(string(text), path)
}

// checkedSecret is the first line of a text.
func checkedSecret(text, where string) (string, error) {
	line, _, _ := strings.Cut(text, "\n")
	if line = strings.TrimRight(line, "\r"); line == "" {
		return "", fmt.Errorf("secret in %s: the first line is empty", where)
	}
	return line, nil
}
