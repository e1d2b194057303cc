package simulator

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestMain runs the tests in a process that keeps no log of the files it opens: go test
// asks for one, and it could not be written while a world's disk is full.
func TestMain(m *testing.M) {
	flag.Parse()
	if log := flag.Lookup("test.testlogfile"); log == nil || log.Value.String() == "" {
		os.Exit(m.Run())
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
		os.Exit(max(ended.ExitCode(), 1)) // by a signal: -1
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
