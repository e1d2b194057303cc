package commands

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/dump"
	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
)

func newDumpCommand(e *host.Env) *cobra.Command {
	var output, folder string
	last, derive := dump.LastDefault, true
	cmd := &cobra.Command{
		Use:   "dump JOURNAL",
		Short: "Write one file for a bug report, without secrets",
		Long: `Write one JSON document that says what is needed first to find a fault in a run: versions, platform, the configuration of each session, what the journal
holds and whether it is sound, the newest steps, events and actions, and whether every
decision comes out as it was recorded. The same journal gives the same document on the
same computer.

Secrets are taken out: values of keys that say so, what follows such a word in a text,
passwords in addresses, and the secrets that the configuration names the places of,
wherever they turn up. The texts of the configuration files are not in it. Read it
before you send it all the same: what an instrument said is in it.`,
		Args:              oneFile("a journal"),
		ValidArgsFunction: completeFiles("db"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if last < 0 {
				return fault.Usage(fmt.Errorf("--last is %d; it is a number of steps", last))
			}
			d := dump.Collector{Env: e, Last: last, Doc: dump.NewDocument(), Folders: []string{folder, filepath.Dir(args[0])}}
			if err := d.Read(args[0]); err != nil {
				return err
			}
			if derive && d.Reader != nil {
				d.Derive(cmd.Context(), folder)
			}
			if err := d.Close(); err != nil {
				return err
			}
			if output == "" || output == "-" {
				return d.Write(e.Stdout)
			}
			return host.WriteFile(output, d.Write)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write (default stdout)")
	cmd.Flags().IntVar(&last, "last", dump.LastDefault, "how many of the newest steps, events and actions")
	cmd.Flags().BoolVar(&derive, "replay", true, "derive every decision again")
	cmd.Flags().StringVar(&folder, "folder", "", "where the files are that the configuration names (default the configuration's own folder)")
	return cmd
}
