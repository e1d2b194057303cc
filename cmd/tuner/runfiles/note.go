package runfiles

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/labtuner/tuner/cmd/tuner/host"
)

// A note says where the control state of a run lies: a file of one line, in a folder that
// does not change with the run's name or its journal. Without notes a run that is given
// another journal in another folder would not find what the last one has latched.

const noteSuffix = ".control-state"

// noteFolders are where notes may be: the first is where they are written.
func noteFolders(e *host.Env) (out []string) {
	if dir := e.StateDirectory(); dir != "" {
		out = append(out, filepath.Join(dir, "instruments"))
	}
	if dir, _ := e.Lookup("XDG_STATE_HOME"); dir != "" {
		out = append(out, filepath.Join(dir, "tuner", "instruments"))
	} else if dir, _ := e.Lookup("HOME"); dir != "" {
		out = append(out, filepath.Join(dir, ".local", "state", "tuner", "instruments"))
	}
	return out
}

// NoteControl notes where a control state lies, once. Where no folder can be written,
// control states are found only in the folders that are searched anyway.
func NoteControl(e *host.Env, path string) {
	path = host.Absolute(path)
	sum := sha256.Sum256([]byte(path))
	name := hex.EncodeToString(sum[:8]) + noteSuffix
	for _, dir := range noteFolders(e) {
		note := filepath.Join(dir, name)
		if there, err := readNote(note); err == nil && there == path {
			return
		}
		if os.MkdirAll(dir, 0o700) == nil && os.WriteFile(note, []byte(path+"\n"), 0o600) == nil {
			return
		}
	}
}

// noteMax bounds a note: the longest path there is.
const noteMax = 4096

// readNote is the path that a note holds.
func readNote(note string) (string, error) {
	text, err := os.ReadFile(note)
	if err != nil {
		return "", err
	}
	path, whole := strings.CutSuffix(string(text), "\n")
	if !whole || len(path) > noteMax || !filepath.IsAbs(path) {
		return "", fmt.Errorf("%s: %w", note, errors.New("it is no path"))
	}
	return path, nil
}
