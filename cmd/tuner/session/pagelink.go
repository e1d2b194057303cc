package session

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// A page link is the address of the page with a token that the run has made. The token
// stands behind the #: no browser sends that part, so that it is in no log and no Referer.
//
// The file that holds it lies beside the journal. It stays when the process is killed, so
// that a page that is open can still stop the run after the restart, and goes when the
// process ends: then a token is worth nothing to whoever has the port next.
type pageLink struct{ path, token string }

const linkMark = "#token="

// linkPath is where the link to a run's page lies.
func linkPath(journalPath string) string {
	return strings.TrimSuffix(journalPath, filepath.Ext(journalPath)) + ".link"
}

// newPageLink takes up the token of a process that was killed, or makes one.
func newPageLink(path string, random io.Reader) (*pageLink, error) {
	if token := keptToken(path); token != "" {
		return &pageLink{path, token}, nil
	}
	secret := make([]byte, 16)
	if _, err := io.ReadFull(random, secret); err != nil {
		return nil, fmt.Errorf("make a token for the page: %w", err)
	}
	return &pageLink{path, hex.EncodeToString(secret)}, nil
}

// keptToken is the token of a link that nobody else can have read or written, "" where there
// is none.
func keptToken(path string) string {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
		return ""
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || int(stat.Uid) != os.Geteuid() {
		return ""
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	_, token, _ := strings.Cut(strings.TrimSpace(string(text)), linkMark)
	if _, err := hex.DecodeString(token); err != nil || len(token) != 32 {
		return ""
	}
	return token
}

// text is the link to a page at an address.
func (l *pageLink) text(address string) string { return address + linkMark + l.token }

// write puts the link into its file, for its user alone.
func (l *pageLink) write(address string) error {
	if err := l.remove(); err != nil {
		return err
	}
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("keep the link to the page: %w", err)
	}
	_, err = fmt.Fprintln(f, l.text(address))
	return errors.Join(err, f.Close())
}

// remove takes the link away.
func (l *pageLink) remove() error {
	if l == nil {
		return nil
	}
	if err := os.Remove(l.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the link to the page: %w", err)
	}
	return nil
}
