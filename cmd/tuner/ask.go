package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

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
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/local"
	"github.com/labtuner/tuner/loop/remote"
	"github.com/labtuner/tuner/loop/web"
)

// askPatience is how long a command may take altogether: to find the broker and the
// tuner, and to get the answer.
const askPatience = 20 * time.Second

// question is one command line that asks a running tuner.
type question struct {
	env *host.Env
	// run is the one on this computer that is asked, nil where there is none; cfg is the file
	// whose broker is asked then, nil where the run was named or its file is broken now.
	run     *local.Run
	cfg     *configs.Config
	command string
	reason  string
	// key names the key to sign with, "" for the first of the file.
	key  string
	json bool
}

// newAskCommands returns pause, resume, stop and set-best.
func newAskCommands(e *host.Env) []*cobra.Command {
	texts := [][3]string{
		{control.CommandPause, "Hold a running tuner where it is",
			"Every actuator stays where it is until tuner resume."},
		{control.CommandResume, "Let a running tuner go on",
			"Go on after a pause, a hold, a fallback or a reset, when conditions are good. Where they are\nnot, it says which interlock or sensor is the reason, and nothing changes."},
		{control.CommandStop, "Stop a running tuner at once",
			"Actuators go to their on_fault states at once, before anything that waits, and the run\nends. It stays latched: tuner reset CONFIG comes before the next run."},
		{control.CommandSetBest, "End the search at the best setting",
			"End the search of a running tuner as a stop condition does: at the best setting that it\ncan defend."},
	}
	var list []*cobra.Command
	for _, t := range texts {
		list = append(list, newAskCommand(e, t[0], t[1], t[2]))
	}
	return list
}

const askWords = `

A run on this computer is reached by its socket, which takes commands from its user and
root, and from whom [socket] of its file names; it may also be named by its name, without
a file. A run elsewhere is reached through the broker of the file's [mqtt], with the same
login; the command is signed where the file has command_keys_file.

Exit codes: 0 the tuner has done it, 1 it has refused, 3 the file, 5 no tuner, no broker
or no answer.`

// askArgument is what names a run on the command line.
const askArgument = "a configuration file or the name of a run"

func newAskCommand(e *host.Env, name, short, long string) *cobra.Command {
	q := question{env: e, command: name}
	cmd := &cobra.Command{
		Use: name + " CONFIG|NAME", Short: short, Long: long + askWords,
		Args: oneFile(askArgument), ValidArgsFunction: completeFiles("toml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := q.find(cmd.Context(), args[0]); err != nil {
				return err
			}
			return q.ask(cmd.Context())
		},
	}
	q.flags(cmd)
	cmd.Flags().StringVar(&q.reason, "reason", "", "why, for the record")
	return cmd
}

func (q *question) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&q.key, "key", "", "name of the key to sign with (default: the first of the file)")
	cmd.Flags().BoolVar(&q.json, "json", false, "print the answer as one JSON document")
}

// reach connects to the broker and finds the tuner there.
func (q *question) reach(ctx context.Context, c *remote.Caller) (*mqtt.Client, remote.Presence, error) {
	if q.cfg.MQTT == nil {
		return nil, remote.Presence{}, fault.WithHint(fmt.Errorf("%w: %w: no run of %s that you may reach is on this computer, and it names no broker to look elsewhere", drivers.ErrUnavailable, remote.ErrNobody, q.cfg.File),
			"tuner run "+q.cfg.File+" begins one")
	}
	o := setup.BrokerOptions(q.env, q.cfg)
	o.ClientID = "" // that is the running tuner's
	client, err := mqtt.NewClient(mqtt.ClientSpec{Options: o, Env: drivers.Env{Clock: loop.RealClock{}, Log: slog.New(slog.DiscardHandler)},
		Subscribe: c.Subscriptions(q.command), Handle: func(m mqtt.Message) { c.Handle(remote.Message(m)) }})
	if err != nil {
		return nil, remote.Presence{}, err
	}
	if err := client.Connect(ctx); err != nil {
		client.Close()
		return nil, remote.Presence{}, err
	}
	p, err := c.Find(ctx, q.env.Now)
	if err != nil {
		client.Close()
		return nil, p, fmt.Errorf("%w: %w", drivers.ErrUnavailable, err)
	}
	return client, p, nil
}

// signer is the key that commands are signed with, nil where none is.
func (q *question) signer() (*remote.Key, error) {
	keys, err := session.CommandKeys(q.cfg)
	if err != nil || keys == nil {
		return nil, err
	}
	for i := range keys {
		if q.key == "" || keys[i].Name == q.key {
			return &keys[i], nil
		}
	}
	return nil, fault.Usage(fmt.Errorf("--key %q: the file of keys has no key of this name", q.key))
}

// ask sends the command, waits for its answer and prints it.
func (q *question) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, q.env.Patience(askPatience))
	defer cancel()
	var args json.RawMessage
	var err error
	if q.reason != "" {
		if args, err = json.Marshal(map[string]string{"reason": q.reason}); err != nil {
			return err
		}
	}
	var a remote.Answer
	if q.run != nil {
		a, err = q.askHere(ctx, args)
	} else {
		a, err = q.askElsewhere(ctx, args)
	}
	if err != nil {
		return err
	}
	return q.print(a)
}

// askHere asks by the run's socket.
func (q *question) askHere(ctx context.Context, args json.RawMessage) (remote.Answer, error) {
	a, err := q.run.Command(ctx, q.command, web.Order{Transaction: rand.Text(), Args: args})
	if err != nil {
		return remote.Answer{}, fault.WithHint(fmt.Errorf("%w: %w: %w", drivers.ErrUnavailable, remote.ErrNoAnswer, err), "whether it has acted is in the journal, "+q.run.Identity.Journal)
	}
	state := ""
	if a.Status != nil {
		state = a.Status.State
	}
	return remote.Answer{Transaction: a.Transaction, Session: a.Session, Command: a.Command, OK: a.OK, Code: a.Code, Message: a.Message,
		State: state, At: q.env.Now().Round(0).UTC()}, nil
}

// askElsewhere asks through the broker of the file.
func (q *question) askElsewhere(ctx context.Context, args json.RawMessage) (a remote.Answer, err error) {
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
		return a, fault.WithHint(refusedError{remote.Answer{Command: q.command, Code: "off", Message: "the running tuner takes no commands"}},
			"write commands = true under [mqtt], and start it again")
	}
	a, err = c.Ask(ctx, session.Link{Client: client}, p, q.command, args)
	if errors.Is(err, remote.ErrNoAnswer) {
		return a, fault.WithHint(fmt.Errorf("%w: %w", drivers.ErrUnavailable, err), "look at the broker's access rules, and at tuner status "+q.cfg.File)
	}
	return a, err
}

// print tells the answer.
func (q *question) print(a remote.Answer) error {
	if q.json {
		line, err := show.EncodeLine(struct {
			Type string `json:"type"`
			remote.Answer
		}{"answer", a})
		if err != nil {
			return err
		}
		if _, err := q.env.Stdout.Write(line); err != nil {
			return err
		}
	} else if a.OK {
		fmt.Fprintf(q.env.Stdout, "%s: %s\n", a.Command, a.Message)
	}
	if !a.OK {
		return refusedError{a}
	}
	return nil
}

// resetRunning resets the tuner that keeps the control state.
func resetRunning(e *host.Env, ctx context.Context, cfg *configs.Config, locked error) error {
	if cfg.MQTT == nil {
		return fault.WithHint(locked, "a running tuner is reset by its socket or through a broker: ask as its user, or end it first")
	}
	q := question{env: e, cfg: cfg, command: control.CommandReset}
	return q.ask(ctx)
}

// isLocked says that another process has a file.
func isLocked(err error) bool { return errors.Is(err, disk.ErrLocked) }

// refusedError is a command that the running tuner has refused.
type refusedError struct{ remote.Answer }

func (e refusedError) Error() string {
	return fmt.Sprintf("%s was refused (%s): %s", e.Command, e.Code, e.Message)
}
