package examine

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/labtuner/tuner/cmd/tuner/fault"
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

// Computer looks at everything; w may be nil.
func Computer(ctx context.Context, w *setup.Setup, folder string) []finding {
	found := portFindings(w)
	if w != nil {
		found = append(found, networkFindings(ctx, w)...)
	}
	return append(append(found, diskFindings(folder)...), clockFinding())
}

// Print prints what was found; the error says how much of it is bad.
func Print(out io.Writer, found []finding, asJSON bool) error {
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
