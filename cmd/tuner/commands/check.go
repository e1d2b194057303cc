package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/describe"
	"github.com/labtuner/tuner/cmd/tuner/examine"
	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/configs"
)

func newCheckCommand(e *host.Env) *cobra.Command {
	var probe, effective, asJSON bool
	cmd := &cobra.Command{
		Use:   "check CONFIG",
		Short: "Check a configuration and say what it will do",
		Long: `Check a configuration, with everything that its drivers, policy and plant have to
say against it, and print what it will do. No device is opened. About a second goes
into decisions on made-up data, to see what one takes on this computer and whether
the deadline in [policy] cuts it.

With --probe the devices are opened and each sensor and variable is read once.
Nothing is moved and nothing is written; an exec child is killed afterwards, because
the end of its input would ask it to go safe.

A file may leave units, limits, resolution and safe values to a device that says itself
what it is, such as a program: --probe asks it, as run does. Without --probe those
keys are listed, and nothing is started.

With --effective every key is printed with its value and where that comes from.`,
		Args:              oneFile("a configuration file"),
		ValidArgsFunction: completeFiles("toml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			tell := show.NewNarrator(e.Stderr, show.Style{Level: e.Level})
			defer tell.Close()
			w, done, err := loadToCheck(cmd.Context(), args[0], e, probe, show.NewLog(tell))
			defer done()
			if asks, left := errors.AsType[*setup.Unasked](err); left {
				return describe.Unasked(asks, e.Stdout, asJSON)
			}
			if err == nil {
				err = w.TryWarm()
			}
			if err != nil {
				if asJSON {
					err = errors.Join(err, problemsJSON(e.Stdout, err))
				}
				return err
			}
			timed, err := examine.Decision(w, e.Now)
			if err != nil {
				return fmt.Errorf("time a decision: %w", err)
			}
			var readings []describe.Probed
			var probeErr error
			if probe {
				readings, probeErr = examine.Instrument(cmd.Context(), w, e, show.NewLog(tell))
			}
			told := describe.NewCheck(w, readings, &timed, effective)
			if asJSON {
				err = told.WriteJSON(e.Stdout)
			} else {
				err = e.Print(told.WriteText)
			}
			if probeErr != nil {
				if errors.Is(probeErr, syscall.ECONNREFUSED) {
					return probeErr // which has a hint of its own
				}
				return fault.WithHint(probeErr, "tuner doctor "+args[0]+" looks at its ports and brokers; the driver's README lists what else may be wrong")
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&probe, "probe", false, "open the devices and read everything once")
	cmd.Flags().BoolVar(&effective, "effective", false, "print every key with its value and its origin")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

// loadToCheck loads a file; devices are asked what they are only where they may be opened, and stay
// open until they are read. done closes what is left of them.
func loadToCheck(ctx context.Context, path string, e *host.Env, probe bool, log *slog.Logger) (w *setup.Setup, done func() error, err error) {
	if probe {
		return setup.LoadProbed(ctx, path, e, log)
	}
	w, err = setup.Load(path, e)
	return w, func() error { return nil }, err
}

// problemsJSON prints a file's problems as one document.
func problemsJSON(out io.Writer, err error) error {
	type problem struct {
		File string `json:"file"`
		Line int    `json:"line"`
		Key  string `json:"key"`
		What string `json:"what"`
		Hint string `json:"hint,omitempty"`
	}
	doc := struct {
		Type     string    `json:"type"`
		OK       bool      `json:"ok"`
		Problems []problem `json:"problems"`
	}{Type: "check"}
	if file, ok := errors.AsType[*configs.Error](err); ok {
		for _, p := range file.Problems {
			doc.Problems = append(doc.Problems, problem(p))
		}
	}
	return json.NewEncoder(out).Encode(doc)
}
