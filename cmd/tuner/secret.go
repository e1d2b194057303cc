package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// place is where a secret is kept: at most one of its parts is set.
type place struct {
	// file is a path, credential the name of a systemd credential, env that of an
	// environment variable.
	file, credential, env string
	// base is the folder that a relative file starts from.
	base string
}

// secretMax bounds a secret's length in bytes.
const secretMax = 4096

// secret reads what a place holds, its first line; "" where no place is named. No error
// repeats what was read.
func (e *env) secret(p place) (string, error) {
	switch {
	case p.file != "":
		path := p.file
		if !filepath.IsAbs(path) {
			path = filepath.Join(p.base, path)
		}
		e.warnOfReaders(path)
		return secretFile(path)
	case p.credential != "":
		dir, ok := e.lookup("CREDENTIALS_DIRECTORY")
		if !ok {
			return "", withHint(fmt.Errorf("credential %q: this process was given no credentials", p.credential),
				"systemd gives them to a service with LoadCredential="+p.credential+":FILE; typed by hand, keep the secret in a file")
		}
		if p.credential != filepath.Base(p.credential) {
			return "", fmt.Errorf("credential %q is not a name", p.credential)
		}
		return secretFile(filepath.Join(dir, p.credential))
	case p.env != "":
		text, ok := e.lookup(p.env)
		if !ok || text == "" {
			return "", withHint(fmt.Errorf("environment variable %q is not set", p.env), "it should hold a secret")
		}
		return checkedSecret(text, "environment variable "+p.env)
	}
	return "", nil
}

// warnOfReaders tells where everybody on this computer can read a secret.
func (e *env) warnOfReaders(path string) {
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o004 != 0 && e.stderr != nil {
		fmt.Fprintf(e.stderr, "tuner: warning: the secret in %s can be read by everybody on this computer: chmod o-r %[1]s\n", path)
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
