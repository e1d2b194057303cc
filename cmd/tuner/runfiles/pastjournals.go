package runfiles

import (
	"cmp"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/host"
)

// Journals are the journals of runs that are known on this computer, by the notes of the state folder and in some
// folders: this user's alone, the newest first, at most so many.
func Journals(e *host.Env, most int, folders ...string) []string {
	written := map[string]time.Time{}
	for _, control := range namedControls(e, folders...) {
		for _, path := range besideControl(control) {
			if info, err := os.Stat(path); err == nil && mine(info) && isDatabase(path) {
				written[path] = info.ModTime()
			}
		}
	}
	out := make([]string, 0, len(written))
	for path := range written {
		out = append(out, path)
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(written[b].Compare(written[a]), cmp.Compare(a, b)) })
	return out[:min(most, len(out))]
}

// besideControl are the files that may be the journal of a control state.
func besideControl(control string) []string {
	list, err := os.ReadDir(filepath.Dir(control))
	if err != nil {
		return nil // the folder is gone, or is another user's
	}
	var out []string
	for _, f := range list {
		if path := filepath.Join(filepath.Dir(control), f.Name()); ControlPath(path) == control && f.Type().IsRegular() {
			out = append(out, path)
		}
	}
	return out
}

// mine says that a file is one of this process's user.
func mine(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}

// isDatabase says that a file begins as SQLite's do; whether it is a journal shows when it is opened.
func isDatabase(path string) bool {
	const begins = "SQLite format 3\x00"
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // it was only read
	head := make([]byte, len(begins))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == begins
}
