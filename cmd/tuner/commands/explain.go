package commands

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/describe"
	"github.com/labtuner/tuner/cmd/tuner/host"
)

func newSafetyCommand(e *host.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "safety",
		Short: "Say what the safety layer does",
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newExplainCommand(e))
	return cmd
}

func newExplainCommand(e *host.Env) *cobra.Command {
	var why, markdown, probe bool
	cmd := &cobra.Command{
		Use:   "explain [CONFIG]",
		Short: "States, rules and transitions; or what they mean for a file",
		Long: `Say what the safety layer does: its states, how it goes from one to another, and
every rule with its reaction and how that is cleared. With a configuration, say what
that means for each actuator and sensor of the file.

With --why each rule says why its default is not smaller or larger, who taught it and
which test shows it.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return oneFile("at most a configuration file")(cmd, args)
		},
		ValidArgsFunction: completeFiles("toml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			t := tabwriter.NewWriter(e.Stdout, 0, 0, 2, ' ', 0)
			switch {
			case len(args) == 1:
				w, err := loadProbed(cmd.Context(), args[0], e, probe)
				if err != nil {
					return err
				}
				fmt.Fprintf(t, "%s: what the safety layer does\n", w.Config.File)
				describe.Variables(w, t)
				describe.Safety(w, t)
			case markdown:
				describe.RulesMarkdown(e.Stdout)
			default:
				describe.StatesText(t)
				describe.Rules(t, why)
			}
			return t.Flush()
		},
	}
	probeFlag(cmd, &probe)
	cmd.Flags().BoolVar(&why, "why", false, "say why each rule's default is what it is")
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print the rule table as the documentation has it")
	return cmd
}
