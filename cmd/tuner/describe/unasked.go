package describe

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/labtuner/tuner/cmd/tuner/setup"
)

// Unasked prints what a file that is in order leaves to its devices.
func Unasked(u *setup.Unasked, out io.Writer, asJSON bool) error {
	if asJSON {
		type left struct {
			Device string `json:"device"`
			Key    string `json:"key"`
		}
		doc := struct {
			Type string `json:"type"`
			OK   bool   `json:"ok"`
			File string `json:"file"`
			Name string `json:"name"`
			Left []left `json:"left_to_devices"`
		}{Type: "check", OK: true, File: u.Config.File, Name: u.Config.Name}
		for _, a := range u.Config.Asks {
			doc.Left = append(doc.Left, left(a))
		}
		return json.NewEncoder(out).Encode(doc)
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s: %s at %s, in order as far as the file goes\n\nleft to\tkey\n", u.Config.File, u.Config.Name, u.Config.Site)
	for _, a := range u.Config.Asks {
		fmt.Fprintf(t, "%s\t%s\n", a.Device, a.Key)
	}
	fmt.Fprintf(t, "\ntuner check --probe %s asks the devices, and says what the run will do; tuner run asks them too\n", u.Config.File)
	return t.Flush()
}
