// Package commands has one file for each command: its flags, its texts and its call.
//
// [Root] puts them together; [Execute] runs one command line and returns the exit code of the
// process. A command reads its arguments, calls the package that does the work (session, ask,
// examine, dump, makesafe, reset, serve, bench) and returns an error; how errors are worded and
// which exit code they have is said by package fault.
package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/ask"
	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/show"
)

// Execute runs one command line and returns the process's exit code.
func Execute(ctx context.Context, e *host.Env) int {
	ctx, stop := e.Interruptible(ctx)
	defer stop()
	root := Root(e)
	root.SetArgs(e.Args)
	err := root.ExecuteContext(ctx)
	said := show.NewPaper(e.Stderr, e.Style())
	fault.Report(said, err)
	if lost := said.Close(); err == nil {
		err = lost
	}
	return fault.ExitCode(err)
}

func Root(e *host.Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "tuner",
		Short: "An embedded optimizer for instrument control loops",
		Long: `tuner reads sensors, decides which actuators to set and where, passes every
proposal through a safety layer, writes setpoints and keeps a durable record.

A result is printed to stdout, all else to stderr: a progress line on a terminal, a line a
step elsewhere; -v tells more, -q warnings and errors only. NO_COLOR=1 leaves colours out.`,
		Args:          cobra.ArbitraryArgs,
		Version:       host.Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, args[0])
		},
	}
	var verbose, quiet bool
	root.PersistentFlags().BoolVarP(&verbose, "verbose", "v", false, "print details on stderr: every step, what drivers report")
	root.PersistentFlags().BoolVarP(&quiet, "quiet", "q", false, "tell only warnings and errors on stderr")
	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		switch {
		case verbose && quiet:
			return fault.Usage(errors.New("--verbose and --quiet exclude each other"))
		case verbose:
			e.Level = show.Verbose
		case quiet:
			e.Level = show.Quiet
		}
		return nil
	}
	root.SetVersionTemplate(versionLine() + "\n")
	root.SetIn(e.Stdin)
	root.SetOut(e.Stdout)
	root.SetErr(e.Stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fault.Usage(fault.WithHint(err, fmt.Sprintf("%s --help lists the flags", cmd.CommandPath())))
	})
	root.SuggestionsMinimumDistance = 2
	root.AddCommand(
		newSimulateCommand(e),
		newRunCommand(e),
		newPlantCommand(e),
		newExecTestCommand(e),
		newDoctorCommand(e),
		newCheckCommand(e),
		newSafetyCommand(e),
		newResetCommand(e),
		newStatusCommand(e),
		newBestCommand(e),
		newMakeSafeCommand(e),
		newInitCommand(e),
		newConfigCommand(e),
		newExportCommand(e),
		newReplayCommand(e),
		newDumpCommand(e),
		newReportCommand(e),
		newPlotCommand(e),
		newBenchCommand(e),
		newVersionCommand(e),
		newThisComputerCommand(e),
	)
	root.AddCommand(append(append(newAskCommands(e), newTryCommand(e)), newEditCommands(e)...)...)
	addExamples(root)
	return root
}

// unknownCommand names the nearest commands.
func unknownCommand(root *cobra.Command, name string) error {
	hint := "tuner --help lists the commands"
	if near := root.SuggestionsFor(name); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return fault.Usage(fault.WithHint(fmt.Errorf("no such command: %q", name), hint))
}

// oneFile accepts exactly one argument, which what describes.
func oneFile(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			return nil
		}
		return fault.Usage(fault.WithHint(
			fmt.Errorf("%s takes one argument, %s, and got %d", cmd.CommandPath(), what, len(args)),
			cmd.UseLine()))
	}
}

// optionalRun accepts what names a run, or nothing.
func optionalRun(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return oneFile(askArgument)(cmd, args)
}

// completeRuns completes the name of a run of this computer; the shell completes a file
// where no name fits.
func completeRuns(e *host.Env) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) (out []string, _ cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		for _, name := range ask.Names(cmd.Context(), e) {
			if strings.HasPrefix(name, begun) {
				out = append(out, name)
			}
		}
		return out, cobra.ShellCompDirectiveDefault
	}
}

// noArguments accepts flags only.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fault.Usage(fault.WithHint(fmt.Errorf("%s takes no argument, and got %q", cmd.CommandPath(), args[0]), cmd.UseLine()))
}

// completeFiles completes a file argument by its extension.
func completeFiles(extension string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{extension}, cobra.ShellCompDirectiveFilterFileExt
	}
}
