package exec

import (
	"bytes"
	"fmt"
	"syscall"
	"time"

	"github.com/labtuner/tuner/drivers/exec/wire"
)

// longLine sends a request that is longer than the protocol allows. The child may
// refuse it, ignore it or exit; it may not hang.
func (x *examiner) longLine() {
	line := append([]byte(`{"id":2,"op":"read","channels":[],"pad":"`), bytes.Repeat([]byte("x"), wire.MaxLine)...)
	x.survives("line of more than 64 KiB", append(line, "\"}\n"...))
}

// noJSON sends what is no request at all.
func (x *examiner) noJSON() { x.survives("line that is no JSON", []byte("hello, is anybody there?\n")) }

// survives sends a line that no host may send: afterwards the child either still
// answers, or has ended.
func (x *examiner) survives(name string, line []byte) {
	d, c, ok := x.restart(name)
	if !ok {
		return
	}
	defer d.Close()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		// A child that reads no more makes this fail: that is seen below.
		_ = c.in.SetWriteDeadline(time.Now().Add(x.options.ReplyTimeout))
		_, _ = c.in.Write(line)
	}()
	select {
	case s, more := <-c.lines:
		if more {
			if _, err := wire.Object(s.text); err != nil {
				x.fails(name, "standard output is for answers only", fmt.Errorf("the child said %s: %w", wire.Quote(s.text), err))
			} else {
				x.passed(name, "answered %s", wire.Quote(s.text))
			}
		} else if x.silence(name, c) { // its output has ended; has it?
			x.passed(name, "the child ended%s", stderrTailOf(c))
		}
	case <-time.After(x.options.ReplyTimeout):
		if x.silence(name, c) {
			x.passed(name, "ignored; the child ended with its input")
		}
	case <-x.ctx.Done():
	}
	c.ignore()
	c.in.Close()
	<-sent
}

// silence reports whether a child that does not answer ends with its input; one that
// does not fails.
func (x *examiner) silence(name string, c *child) bool {
	c.in.Close()
	select {
	case <-c.exited:
		return true
	case <-time.After(x.options.ExitTimeout):
		x.fails(name, "refuse the line, ignore it, or exit; whatever happens, end when the input does",
			fmt.Errorf("the child neither answered nor ended with its input within %v", x.options.ExitTimeout))
		return false
	}
}

// halfLine ends the input in the middle of a request, as a host does that dies.
func (x *examiner) halfLine() {
	const name = "end of input inside a line"
	d, c, ok := x.restart(name)
	if !ok {
		return
	}
	defer d.Close()
	if _, err := c.in.WriteString(`{"id":2,"op":"wri`); err != nil {
		x.fails(name, "", d.gone(c))
		return
	}
	if x.leaves(name, c) { // whatever its status: half a request is an error
		x.passed(name, "ended by itself")
	}
}

// term sends the signal by which a service manager ends all processes of a service
// at once: the child may take its time until its input ends, or go safe and exit.
func (x *examiner) term() {
	const name = "signal TERM"
	d, c, ok := x.restart(name)
	if !ok {
		return
	}
	defer d.Close()
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		x.fails(name, "", fmt.Errorf("the child has ended before: %w", err))
		return
	}
	select {
	case <-c.exited:
		if status, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			x.warning(name, "catch the signal, bring every output to safe, then exit: a service manager sends it to all processes of a service at once",
				"the child died of it without a chance to go safe")
			return
		}
		x.passed(name, "the child ended by itself")
	case <-time.After(x.options.ExitTimeout):
		c.ignore()
		c.in.Close()
		x.passed(name, "ignored until the input ends")
	case <-x.ctx.Done():
	}
}
