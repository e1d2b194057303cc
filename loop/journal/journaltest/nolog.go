// Package journaltest has what tests of files need: a full disk, damage at random, and counts of
// what came of it.
package journaltest

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Main runs the tests of a package in a process that keeps no log of the files it opens,
// and returns the exit code: go test asks for such a log, and fails where it cannot be
// written because a test let no file grow (RLIMIT_FSIZE). It is called by TestMain.
func Main(m *testing.M) int {
	flag.Parse()
	if log := flag.Lookup("test.testlogfile"); log == nil || log.Value.String() == "" {
		return m.Run()
	}
	var args []string
	for _, a := range os.Args[1:] {
		if !strings.HasPrefix(a, "-test.testlogfile") {
			args = append(args, a)
		}
	}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended):
		return max(ended.ExitCode(), 1) // by a signal: -1
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
