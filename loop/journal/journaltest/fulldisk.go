package journaltest

import (
	"os/signal"
	"syscall"
	"testing"
)

// FullFor lets no file of this process grow while do runs.
func FullFor(t *testing.T, do func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	var had syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &had); err != nil {
		t.Fatal(err)
	}
	set := func(limit syscall.Rlimit) {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Fatal(err)
		}
	}
	set(syscall.Rlimit{Cur: 0, Max: had.Max})
	defer set(had)
	do()
}
