package commands

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/host"
)

func newVersionCommand(e *host.Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			v := host.Version()
			if asJSON {
				return json.NewEncoder(e.Stdout).Encode(map[string]string{
					"type": "version", "version": v, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
				})
			}
			_, err := io.WriteString(e.Stdout, versionLine()+"\n")
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

// versionLine is the version, and what it was built for.
func versionLine() string {
	return fmt.Sprintf("tuner %s (%s, %s/%s)", host.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
