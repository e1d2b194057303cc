package notices

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Command delivers by a program of one's own: the Notice comes as JSON on its standard input,
// its kind and text also in $TUNER_EVENT and $TUNER_TEXT. It is to end with 0.
type Command struct {
	Args []string
	// Folder is where it runs.
	Folder string
}

// Deliver implements Way. A program that takes too long is killed, with its children.
func (c *Command) Deliver(ctx context.Context, n Notice) error {
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Dir, cmd.Stdin = c.Folder, bytes.NewReader(append(text, '\n'))
	cmd.Env = append(os.Environ(), "TUNER_EVENT="+n.Event, "TUNER_TEXT="+n.Text)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", c.Args[0], err)
	}
	return nil
}
