package serve

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/drivers/sim"
)

// openFaultPipe opens a named pipe, which it makes where there is none. Opened for both
// directions, it neither waits for a writer nor ends with one.
func openFaultPipe(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		if err := unix.Mkfifo(path, 0o600); err != nil {
			return nil, fmt.Errorf("faults: named pipe %q: %w", path, err)
		}
	case info.Mode()&fs.ModeNamedPipe == 0:
		return nil, fault.Usage(fault.WithHint(fmt.Errorf("--faults %q is there and is no named pipe", path), "mkfifo makes one; a path that is not there yet will do"))
	}
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("faults: named pipe %q: %w", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil // nonblocking: Close ends a Read
}

// maxFault bounds a line with a fault, in bytes: a channel's name is the longest part.
const maxFault = 256

// injectFrom makes a fault of each line until the pipe is closed.
func injectFrom(pipe *os.File, plant *sim.Plant, tell *show.Narrator) {
	lines := bufio.NewReaderSize(pipe, maxFault)
	tail := false // the line is too long and began earlier
	for {
		line, err := lines.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		if text := strings.TrimSpace(string(line)); text != "" && !tail {
			if long {
				tell.Say("tuner: warning: a line of more than %d bytes is no fault", maxFault)
			} else if err := plant.Inject(text); err != nil {
				tell.Say("tuner: warning: %v", err)
			}
		}
		tail = long
		if err != nil && !long {
			if !errors.Is(err, os.ErrClosed) {
				tell.Say("tuner: warning: faults: %v", err)
			}
			return
		}
	}
}
