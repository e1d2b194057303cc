package exec

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// Options are the keys of a [[device]] with driver = "exec".
type Options struct {
	Command      []string          `toml:"command" required:"true" doc:"the program and its arguments, one string each; a first word \"tuner\" is this very program"`
	Env          map[string]string `toml:"env" doc:"environment variables that the child gets beside tuner's own"`
	Dir          string            `toml:"dir" doc:"folder that the child runs in; absent: the configuration's"`
	StartTimeout time.Duration     `toml:"start_timeout" bound:"> 0s, <= 10m" doc:"longest wait for the child's hello; slow imports need more"`
	ReplyTimeout time.Duration     `toml:"reply_timeout" bound:"> 0s, <= 1h" doc:"longest wait for an answer; a later one is a fault"`
	DoseTimeout  time.Duration     `toml:"dose_timeout" bound:">= 0s, <= 24h" doc:"longest wait for the answer to a dose, which comes when it has been given; 0s: reply_timeout"`
	ExitTimeout  time.Duration     `toml:"exit_timeout" bound:"> 0s, <= 10m" doc:"how long the child may take to go safe and exit; then its process group is killed"`

	// Base is the folder that Dir and a relative command start at; empty: the
	// working folder.
	Base string `toml:"-"`
	// Executable is the path of the running program, for a first word "tuner".
	Executable string `toml:"-"`
}

// ChannelOptions are the keys of a [device.channel.X] of an exec device.
type ChannelOptions struct {
	// Channel is X: the name that tuner uses.
	Channel string `toml:"-"`
	Name    string `toml:"name" doc:"the channel's name in the child's hello; absent: the same"`
}

// Default returns the options that a file need not write.
func Default() Options {
	return Options{
		StartTimeout: 30 * time.Second, // imports from a memory card, on a computer with other work
		ReplyTimeout: 2 * time.Second,  // a meter that averages takes a second
		ExitTimeout:  3 * time.Second,  // a stage needs a moment to stop
	}
}

// validate checks what no tag says, and gives every problem at once.
func (o Options) validate() error {
	var problems []error
	bad := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	switch {
	case len(o.Command) == 0 || o.Command[0] == "":
		bad(`command is empty; write the program and its arguments, such as ["python3", "heater.py"]`)
	case len(o.Command) == 1 && strings.ContainsAny(o.Command[0], " \t"):
		bad("command %q is one string with blanks; write one string for each argument", o.Command[0])
	case o.Command[0] == selfCommand && o.Executable == "":
		bad("command %q means the running program, whose path is not known here; write its full path", selfCommand)
	}
	for key := range o.Env {
		if key == "" || strings.ContainsAny(key, "=\x00") {
			bad("env has a variable named %q; a name is not empty and holds no equals sign", key)
		}
	}
	return errors.Join(problems...)
}

// selfCommand, as a command's first word, means the running program.
const selfCommand = "tuner"

// program is the path or name of the program to start.
func (o Options) program() string {
	first := o.Command[0]
	switch {
	case first == selfCommand:
		return o.Executable
	case strings.ContainsRune(first, filepath.Separator) && !filepath.IsAbs(first):
		// Absolute: a name without a folder would be looked for in PATH, and one with a
		// relative folder from the folder that the child runs in.
		if path, err := filepath.Abs(o.resolve(first)); err == nil {
			return path
		}
		return "./" + o.resolve(first)
	}
	return first
}

// folder is where the child runs; empty means the working folder.
func (o Options) folder() string {
	if o.Dir == "" {
		return o.Base
	}
	return o.resolve(o.Dir)
}

func (o Options) resolve(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(o.Base, path)
}

// names maps tuner's channel names to the child's, for the channels that the
// file lists.
func names(channels []ChannelOptions) (map[string]string, error) {
	child := map[string]string{}
	owner := map[string]string{}
	for _, c := range channels {
		name := c.Name
		if name == "" {
			name = c.Channel
		}
		if c.Channel == "" {
			return nil, fmt.Errorf("a channel without a name stands for the child's %q", name)
		}
		if _, twice := child[c.Channel]; twice {
			return nil, fmt.Errorf("channel %q is listed twice", c.Channel)
		}
		if other, taken := owner[name]; taken {
			return nil, fmt.Errorf("channels %q and %q both stand for the child's %q; keep one", other, c.Channel, name)
		}
		child[c.Channel], owner[name] = name, c.Channel
	}
	return child, nil
}
