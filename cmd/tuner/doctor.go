package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/setup"
)

// finding is one thing that doctor looked at.
type finding struct {
	Type string `json:"type"`
	// Subject is what was looked at, What what was found.
	Subject string `json:"subject"`
	What    string `json:"what"`
	// Bad says that something is wrong, Hint what to do about it.
	Bad  bool   `json:"bad"`
	Hint string `json:"hint,omitempty"`
}

func newDoctorCommand(e *host.Env) *cobra.Command {
	var folder string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor [CONFIG]",
		Short: "Look at this computer: ports, brokers, disk, clock",
		Long: `Say what a run would meet on this computer: the serial ports and whether this user
may use them, the folder of the journal (does it survive a power cut, how long does a
durable write take, is there room), the clock, and, for a configuration, whether its
brokers are reached and its serial ports are there.

Nothing is moved and no port is opened: opening a port resets some instruments.
tuner check --probe CONFIG reads the instruments themselves. Exit code 1 says that
something is wrong.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) <= 1 {
				return nil
			}
			return oneFile("a configuration file")(cmd, args)
		},
		ValidArgsFunction: completeFiles("toml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var w *setup.Setup
			if len(args) == 1 {
				var err error
				if w, err = setup.Load(args[0], e); err != nil {
					return err
				}
			}
			return tellFindings(e.Stdout, examine(cmd.Context(), w, folder), asJSON)
		},
	}
	cmd.Flags().StringVar(&folder, "journal", ".", "folder of the journal")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document a line")
	return cmd
}

// examine looks at everything; w may be nil.
func examine(ctx context.Context, w *setup.Setup, folder string) []finding {
	found := portFindings(w)
	if w != nil {
		found = append(found, brokerFindings(ctx, w)...)
	}
	return append(append(found, diskFindings(folder)...), clockFinding())
}

// tellFindings prints what was found; the error says how much of it is bad.
func tellFindings(out io.Writer, found []finding, asJSON bool) error {
	bad := 0
	for _, f := range found {
		if f.Bad {
			bad++
		}
		if asJSON {
			f.Type = "finding"
			if err := json.NewEncoder(out).Encode(f); err != nil {
				return err
			}
			continue
		}
		mark := "ok  "
		if f.Bad {
			mark = "BAD "
		}
		text := mark + f.Subject + ": " + f.What
		if f.Hint != "" {
			text += "\n    hint: " + f.Hint
		}
		if _, err := fmt.Fprintln(out, text); err != nil {
			return err
		}
	}
	if bad > 0 {
		return fault.WithHint(fmt.Errorf("%d of %d findings are bad", bad, len(found)), "each has a hint above")
	}
	return nil
}
