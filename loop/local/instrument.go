package local

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// An instrument is driven by one process of this computer at a time, whoever's it is. A file
// could belong to one user only, so what stands for the instrument is an abstract Unix socket
// named by a hash of what the instrument is: the kernel takes it back however the process
// ends. Who connects to it reads who drives the instrument.

// HeldError says that another process drives an instrument. It wraps drivers.ErrUnavailable and
// drivers.ErrOwned.
type HeldError struct {
	// Owner is what that process says of itself, nil where it says nothing; Peer is who it is
	// by the kernel.
	Owner *drivers.Owner
	Peer  string
}

func (e *HeldError) Unwrap() []error { return []error{drivers.ErrUnavailable, drivers.ErrOwned} }

// Error names who drives it.
func (e *HeldError) Error() string {
	if e.Owner == nil {
		return "is held by another process: " + e.Peer
	}
	return "is driven by another tuner: " + e.Owner.By(e.Peer)
}

const (
	// takePatience is how long a name without anybody who answers is waited for: a process that
	// was killed has left it to a child that it was about to start.
	takePatience = 2 * time.Second
	takeAgain    = 10 * time.Millisecond
	// answerTime bounds one answer, answerMost its bytes.
	answerTime = 500 * time.Millisecond
	answerMost = 8 << 10
)

// TakeInstrument has this process be the only one of this computer (of its network namespace,
// where there are several) that drives an instrument, until the result is closed.
//
// Errors: a *HeldError, and what the kernel says.
func TakeInstrument(identity string, d drivers.Owner) (io.Closer, error) {
	sum := sha256.Sum256([]byte(identity))
	name := &net.UnixAddr{Net: "unix", Name: "@tuner-instrument-" + hex.EncodeToString(sum[:16])}
	answer, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("say who drives the instrument: %w", err)
	}
	for end := time.Now().Add(takePatience); ; time.Sleep(takeAgain) {
		l, err := net.ListenUnix("unix", name)
		if err == nil {
			go tellWho(l, append(answer, '\n'))
			return l, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return nil, fmt.Errorf("take the instrument: %w", err)
		}
		if held := whoHolds(name); held.Owner != nil || held.Peer != "" && time.Now().After(end) {
			return nil, held
		}
	}
}

// tellWho answers whoever connects, until the listener is closed.
func tellWho(l *net.UnixListener, answer []byte) {
	for {
		c, err := l.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			time.Sleep(takeAgain) // no descriptor is free, for one
			continue
		}
		_ = c.SetWriteDeadline(time.Now().Add(answerTime)) // the answer fits into the socket's buffer
		_, _ = c.Write(answer)                             // who has gone needs none
		_ = c.Close()
	}
}

// whoHolds asks who has a name. Without an answer there is no Owner, and where nobody listens
// any more no Peer either.
func whoHolds(name *net.UnixAddr) *HeldError {
	c, err := net.DialUnix("unix", nil, name)
	if err != nil {
		return &HeldError{}
	}
	defer c.Close()
	held := &HeldError{Peer: Peer(c)}
	_ = c.SetReadDeadline(time.Now().Add(answerTime)) // else the read fails, which says as much
	line, err := bufio.NewReader(io.LimitReader(c, answerMost)).ReadString('\n')
	var d drivers.Owner
	if err == nil && json.Unmarshal([]byte(strings.TrimSpace(line)), &d) == nil {
		held.Owner = &d
	}
	return held
}
