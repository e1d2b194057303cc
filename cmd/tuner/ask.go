package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/mqtt"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/remote"

	"github.com/labtuner/tuner/loop/control"
)

// askPatience is how long a command may take altogether: to find the broker and the
// tuner, and to get the answer.
const askPatience = 20 * time.Second

// question is one command line that asks a running tuner.
type question struct {
	env     *env
	cfg     *configs.Config
	command string
	reason  string
	// key names the key to sign with, "" for the first of the file.
	key  string
	json bool
}

// newAskCommands returns pause, resume, stop and set-best.
func newAskCommands(e *env) []*cobra.Command {
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

The tuner is reached through the broker of the file's [mqtt], with the same login; the
command is signed where the file has command_keys_file.

Exit codes: 0 the tuner has done it, 1 it has refused, 3 the file, 5 no broker, no tuner
or no answer.`

func newAskCommand(e *env, name, short, long string) *cobra.Command {
	q := question{env: e, command: name}
	cmd := &cobra.Command{
		Use: name + " CONFIG", Short: short, Long: long + askWords,
		Args: oneFile("a configuration file"), ValidArgsFunction: completeFiles("toml"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if q.cfg, err = configs.Load(args[0]); err != nil {
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
		return nil, remote.Presence{}, configs.NewError(q.cfg.Problem("mqtt", errNoBroker.Error(), "write [mqtt] with broker = \"tcp://127.0.0.1:1883\""))
	}
	o := q.env.brokerOptions(q.cfg)
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
	p, err := c.Find(ctx, q.env.now)
	if err != nil {
		client.Close()
		return nil, p, fmt.Errorf("%w: %w", drivers.ErrUnavailable, err)
	}
	return client, p, nil
}

// signer is the key that commands are signed with, nil where none is.
func (q *question) signer() (*remote.Key, error) {
	keys, err := commandKeys(q.cfg)
	if err != nil || keys == nil {
		return nil, err
	}
	for i := range keys {
		if q.key == "" || keys[i].Name == q.key {
			return &keys[i], nil
		}
	}
	return nil, usageError{fmt.Errorf("--key %q: the file of keys has no key of this name", q.key)}
}

// ask sends the command, waits for its answer and prints it.
func (q *question) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, q.env.patience(askPatience))
	defer cancel()
	c := remote.NewCaller(remote.NewTopics(q.cfg.Site, q.cfg.Name))
	var err error
	if c.Key, err = q.signer(); err != nil {
		return err
	}
	client, p, err := q.reach(ctx, c)
	if err != nil {
		return err
	}
	defer client.Close()
	if !p.Commands {
		return withHint(refusedError{remote.Answer{Command: q.command, Code: "off", Message: "the running tuner takes no commands"}},
			"write commands = true under [mqtt], and start it again")
	}
	var args json.RawMessage
	if q.reason != "" {
		if args, err = json.Marshal(map[string]string{"reason": q.reason}); err != nil {
			return err
		}
	}
	a, err := c.Ask(ctx, mqttLink{client}, p, q.command, args)
	switch {
	case errors.Is(err, remote.ErrNoAnswer):
		return withHint(fmt.Errorf("%w: %w", drivers.ErrUnavailable, err), "look at the broker's access rules, and at tuner status "+q.cfg.File)
	case err != nil:
		return err
	}
	return q.print(a)
}

// print tells the answer.
func (q *question) print(a remote.Answer) error {
	if q.json {
		line, err := encodeLine(struct {
			Type string `json:"type"`
			remote.Answer
		}{"answer", a})
		if err != nil {
			return err
		}
		if _, err := q.env.stdout.Write(line); err != nil {
			return err
		}
	} else if a.OK {
		fmt.Fprintf(q.env.stdout, "%s: %s\n", a.Command, a.Message)
	}
	if !a.OK {
		return refusedError{a}
	}
	return nil
}

// resetRunning resets the tuner that keeps the control state.
func (e *env) resetRunning(ctx context.Context, cfg *configs.Config, locked error) error {
	if cfg.MQTT == nil {
		return withHint(locked, "a running tuner is reset through a broker; without [mqtt], end it first")
	}
	q := question{env: e, cfg: cfg, command: control.CommandReset}
	return q.ask(ctx)
}

// isLocked says that another process has a file.
func isLocked(err error) bool { return errors.Is(err, journal.ErrLocked) }
