package hosttest

import (
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/host"
)

// Env is an env in which nothing is real but the files.
func Env(args ...string) (e *host.Env, out, errOut *Buffer, signals chan os.Signal) {
	out, errOut, signals = &Buffer{}, &Buffer{}, make(chan os.Signal, 4)
	return &host.Env{Stdin: strings.NewReader(""), Stdout: out, Stderr: errOut, Args: args,
		Now:        func() time.Time { return time.Date(2026, 3, 1, 21, 4, 5, 0, time.UTC) },
		Lookup:     Lookup,
		Random:     rand.NewChaCha8([32]byte{}),
		IsTerminal: func(io.Writer) bool { return false },
		Slowness:   12,
		Signals:    signals}, out, errOut, signals
}

// Lookup finds the one variable that keeps sockets out of the computer's own folder.
func Lookup(name string) (string, bool) {
	if name == "XDG_RUNTIME_DIR" {
		return os.LookupEnv(name)
	}
	return "", false
}
