// Package ask puts a question to a running tuner, and prints what it answers.
//
// A [Question] is one command line. [Question.Find] looks for the run that an argument names: by
// the socket of a run on this computer, by a configuration file, or over the file's broker. The
// command then goes that way with its transaction, so that a second try cannot act twice, and the
// answer comes back within 20 s or is said to be missing. The package knows no command by itself
// but status, the list of runs, make-safe and reset of a run that goes on.
package ask

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/session"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/mqtt"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/local"
	"github.com/labtuner/tuner/loop/remote"
	"github.com/labtuner/tuner/loop/web"
	"github.com/labtuner/tuner/loop/worker"
)

// askPatience is how long a command may take altogether: to find the broker and the
// tuner, and to get the answer.
const askPatience = 20 * time.Second

// Question is one command line that asks a running tuner.
type Question struct {
	Env *host.Env
	// run is the one on this computer that is asked, nil where there is none; cfg is the file
	// whose broker is asked then, nil where the run was named or its file is broken now.
	Run     *local.Run
	cfg     *configs.Config
	Command string
	Reason  string
	// Try is what a try asks for, nil for other commands.
	Try *control.Try
	// Edit is what a command asks for that changes what decisions go by, nil for others.
	Edit *control.Edit
	// key names the key to sign with, "" for the first of the file.
	Key  string
	JSON bool
}

// reach connects to the broker and finds the tuner there.
func (q *Question) reach(ctx context.Context, c *remote.Caller) (*mqtt.Client, remote.Presence, error) {
	if q.cfg.MQTT == nil {
		return nil, remote.Presence{}, fault.WithHint(fmt.Errorf("%w: %w: no run of %s that you may reach is on this computer, and it names no broker to look elsewhere", drivers.ErrUnavailable, remote.ErrNobody, q.cfg.File),
			"tuner run "+q.cfg.File+" begins one")
	}
	o := setup.BrokerOptions(q.Env, q.cfg)
	o.ClientID = "" // that is the running tuner's
	client, err := mqtt.NewClient(mqtt.ClientSpec{Options: o, Env: drivers.Env{Clock: worker.RealClock{}, Log: slog.New(slog.DiscardHandler)},
		Subscribe: c.Subscriptions(q.Command), Handle: func(m mqtt.Message) { c.Handle(remote.Message(m)) }})
	if err != nil {
		return nil, remote.Presence{}, err
	}
	if err := client.Connect(ctx); err != nil {
		client.Close()
		return nil, remote.Presence{}, err
	}
	p, err := c.Find(ctx, q.Env.Now)
	if err != nil {
		client.Close()
		return nil, p, fmt.Errorf("%w: %w", drivers.ErrUnavailable, err)
	}
	return client, p, nil
}

// signer is the key that commands are signed with, nil where none is.
func (q *Question) signer() (*remote.Key, error) {
	keys, err := session.CommandKeys(q.cfg)
	if err != nil || keys == nil {
		return nil, err
	}
	for i := range keys {
		if q.Key == "" || keys[i].Name == q.Key {
			return &keys[i], nil
		}
	}
	return nil, fault.Usage(fmt.Errorf("--key %q: the file of keys has no key of this name", q.Key))
}

// Ask sends the command, waits for its answer and prints it.
func (q *Question) Ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, q.Env.Patience(askPatience))
	defer cancel()
	args, err := q.args()
	if err != nil {
		return err
	}
	var a remote.Answer
	if q.Run != nil {
		a, err = q.askHere(ctx, args)
	} else {
		a, err = q.askElsewhere(ctx, args)
	}
	if err != nil {
		return err
	}
	return q.print(a)
}

// args are the command's, nil where there are none.
func (q *Question) args() (json.RawMessage, error) {
	type reason struct {
		Reason string `json:"reason,omitempty"`
	}
	switch r := (reason{q.Reason}); {
	case q.Try != nil:
		return json.Marshal(struct {
			reason
			*control.Try
		}{r, q.Try})
	case q.Edit != nil:
		return json.Marshal(struct {
			reason
			*control.Edit
		}{r, q.Edit})
	case q.Reason != "":
		return json.Marshal(r)
	}
	return nil, nil
}

// askHere asks by the run's socket.
func (q *Question) askHere(ctx context.Context, args json.RawMessage) (remote.Answer, error) {
	a, err := q.Run.Command(ctx, q.Command, web.Order{Transaction: rand.Text(), Args: args})
	if err != nil {
		return remote.Answer{}, fault.WithHint(fmt.Errorf("%w: %w: %w", drivers.ErrUnavailable, remote.ErrNoAnswer, err), "whether it has acted is in the journal, "+q.Run.Identity.Journal)
	}
	state := ""
	if a.Status != nil {
		state = a.Status.State
	}
	return remote.Answer{Answer: a.Answer, State: state, At: q.Env.Now().Round(0).UTC()}, nil
}

// askElsewhere asks through the broker of the file.
func (q *Question) askElsewhere(ctx context.Context, args json.RawMessage) (a remote.Answer, err error) {
	c := remote.NewCaller(remote.NewTopics(q.cfg.Site, q.cfg.Name))
	if c.Key, err = q.signer(); err != nil {
		return a, err
	}
	client, p, err := q.reach(ctx, c)
	if err != nil {
		return a, err
	}
	defer client.Close()
	if !p.Commands {
		return a, fault.WithHint(refusedError{remote.Answer{Answer: control.Answer{Command: q.Command, Code: "off", Message: "the running tuner takes no commands"}}},
			"write commands = true under [mqtt], and start it again")
	}
	a, err = c.Ask(ctx, session.Link{Client: client}, p, q.Command, args)
	if errors.Is(err, remote.ErrNoAnswer) {
		return a, fault.WithHint(fmt.Errorf("%w: %w", drivers.ErrUnavailable, err), "look at the broker's access rules, and at tuner status "+q.cfg.File)
	}
	return a, err
}

// OfRecord puts the question to a journal that no process writes: its steps are struck there.
func (q *Question) OfRecord(path string) error {
	a, err := session.StrikeRecord(q.Env, path, "", loop.EditRequest{Command: q.Command, Edit: *q.Edit}, q.Reason)
	if err != nil {
		return err
	}
	return q.print(remote.Answer{Answer: a, At: q.Env.Now().Round(0).UTC()})
}

// print tells the answer.
func (q *Question) print(a remote.Answer) error {
	if q.JSON {
		line, err := show.EncodeLine(struct {
			Type string `json:"type"`
			remote.Answer
		}{"answer", a})
		if err != nil {
			return err
		}
		if _, err := q.Env.Stdout.Write(line); err != nil {
			return err
		}
	} else if a.OK {
		fmt.Fprintf(q.Env.Stdout, "%s: %s\n", a.Command, a.Message)
	}
	if !a.OK {
		return refusedError{a}
	}
	return nil
}

// refusedError is a command that the running tuner has refused.
type refusedError struct{ remote.Answer }

func (e refusedError) Error() string {
	return fmt.Sprintf("%s was refused (%s): %s", e.Command, e.Code, e.Message)
}

// IsFile says that an argument names a file, and not a run.
func IsFile(argument string) bool {
	_, err := os.Stat(argument)
	return err == nil || strings.ContainsRune(argument, filepath.Separator) || filepath.Ext(argument) == ".toml"
}

// ResetRunning resets the tuner that keeps the control state.
func ResetRunning(ctx context.Context, e *host.Env, cfg *configs.Config, locked error) error {
	if cfg.MQTT == nil {
		return fault.WithHint(locked, "a running tuner is reset by its socket or through a broker: ask as its user, or end it first")
	}
	q := Question{Env: e, cfg: cfg, Command: control.CommandReset}
	return q.Ask(ctx)
}
