package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/drivers/exec"
	"github.com/labtuner/tuner/drivers/mqtt"
	"github.com/labtuner/tuner/drivers/serial"
)

// newManCommand is for those who make packages; help does not list it.
func newManCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use:    "man FOLDER",
		Short:  "Write the manual pages into a folder",
		Hidden: true,
		Args:   oneFile("a folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			m := manual{date: manualDate(e.lookup), pages: map[string]string{}}
			m.commands(cmd.Root())
			m.configuration()
			for _, name := range slices.Sorted(keysOf(m.pages)) {
				if err := os.WriteFile(filepath.Join(args[0], name), []byte(m.pages[name]), 0o644); err != nil {
					return err
				}
				fmt.Fprintln(e.stdout, name)
			}
			return nil
		},
	}
}

// manualDate is the date that the pages bear: SOURCE_DATE_EPOCH's, so that the same
// source makes the same pages; none otherwise.
func manualDate(lookup func(string) (string, bool)) string {
	text, _ := lookup("SOURCE_DATE_EPOCH")
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return ""
	}
	return time.Unix(seconds, 0).UTC().Format(time.DateOnly)
}

// manual makes pages in the man(7) language, by file name.
type manual struct {
	date  string
	pages map[string]string
}

// commands writes a page for every command that help lists.
func (m *manual) commands(root *cobra.Command) {
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		name := strings.ReplaceAll(c.CommandPath(), " ", "-")
		m.pages[name+".1"] = m.command(c, name)
		for _, sub := range listed(c) {
			visit(sub)
		}
	}
	visit(root)
}

// listed are the subcommands that help shows, without cobra's own help.
func listed(c *cobra.Command) []*cobra.Command {
	return slices.DeleteFunc(slices.Clone(c.Commands()), func(s *cobra.Command) bool { return !s.IsAvailableCommand() })
}

func (m *manual) command(c *cobra.Command, name string) string {
	p := m.page(name, "1")
	p.section("NAME")
	p.text(name + " - " + c.Short)
	p.section("SYNOPSIS")
	p.bold(c.UseLine())
	p.section("DESCRIPTION")
	p.paragraphs(c.Long)
	if c.Long == "" {
		p.text(c.Short + ".")
	}
	if subs := listed(c); len(subs) > 0 {
		p.section("COMMANDS")
		for _, s := range subs {
			p.item(strings.ReplaceAll(s.CommandPath(), " ", "-")+"(1)", s.Short+".")
		}
	}
	c.InitDefaultHelpFlag()
	p.section("OPTIONS")
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		kind, usage := pflag.UnquoteUsage(f)
		term := "--" + f.Name
		if f.Shorthand != "" {
			term = "-" + f.Shorthand + ", " + term
		}
		if kind != "" {
			term += " " + kind
		}
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" {
			usage += " (default " + f.DefValue + ")"
		}
		p.item(term, sentence(usage))
	})
	p.section("EXIT STATUS")
	for _, code := range exitStatuses() {
		p.item(strconv.Itoa(code.code), code.means)
	}
	p.section("ENVIRONMENT")
	for _, v := range environmentVariables() {
		p.item(v[0], v[1])
	}
	p.section("SEE ALSO")
	also := []string{"tuner.toml(5)"}
	if name != "tuner" {
		also = []string{"tuner(1)", "tuner.toml(5)"}
	}
	p.text(strings.Join(also, ", "))
	return p.String()
}

// environmentVariables are the variables that the program looks at, with what they say.
func environmentVariables() [][2]string {
	return [][2]string{
		{"STATE_DIRECTORY", "where the journal and the control state are kept if the file does not say; set by StateDirectory= of systemd."},
		{"CREDENTIALS_DIRECTORY", "where keys that end in _credential look; set by LoadCredential= of systemd."},
		{"NOTIFY_SOCKET, WATCHDOG_USEC", "how tuner run tells systemd that it is ready and alive."},
		{"INVOCATION_ID", "set by systemd: where it or NOTIFY_SOCKET is set and no terminal is there, nobody typed the command, and --resume decides."},
		{"SERVICE_RESULT, EXIT_CODE, EXIT_STATUS", "set by systemd for ExecStopPost=: how the service ended, for tuner make-safe --after-service."},
		{"GOGC", "by how many percent the heap grows before it is collected; tuner run takes 25 where it is not set."},
		{"JOURNAL_STREAM", "set by systemd: where it names stderr, lines bear a priority for the journal."},
		{"NO_COLOR", "no colors on a terminal."},
		{"TERM", "where it is dumb, no line is written over itself, and none in colors."},
		{"XDG_STATE_HOME", "under it, in tuner/instruments, tuner run notes where it keeps the control state of which instrument, so that a trip is known under another name too; where it is not set, under ~/.local/state."},
		{"HOME", "its folder is written as ~ in what tuner dump gives; see XDG_STATE_HOME."},
		{"SOURCE_DATE_EPOCH", "the date that manual pages bear, in seconds since 1970."},
	}
}

// exitStatus is an exit code with what it means.
type exitStatus struct {
	code  int
	means string
}

func exitStatuses() []exitStatus {
	return []exitStatus{
		{exitOK, "Ok."},
		{exitFailure, "Failure."},
		{exitUsage, "Usage or configuration."},
		{exitStopped, "Stopped by the safety layer, safe state reached."},
		{exitInstrument, "Instrument unavailable."},
		{exitJournal, "Journal locked or corrupt."},
		{exitUnsafe, "Safe state not confirmed."},
		{exitInterrupted, "Interrupted, safe state reached."},
	}
}

// configuration writes tuner.toml(5) from the schema's own words.
func (m *manual) configuration() {
	p := m.page("tuner.toml", "5")
	p.section("NAME")
	p.text("tuner.toml - what tuner tunes, and within which limits")
	p.section("DESCRIPTION")
	p.paragraphs(`One TOML file describes one instrument: what is measured, what may be set, what is
sought, what it costs and what must never happen. An unknown key is an error with its
line. Durations are texts with a unit such as "250ms"; every other quantity is in the
unit that its key names. Relative paths and commands start at the file's folder. A secret
is a file, a credential or an environment variable and never stands in the file.

tuner check FILE looks at a file without touching the instrument, tuner check --effective
FILE lists every value and where it comes from. tuner config --sample NAME prints a
commented file to start from.`)
	section := "-"
	for _, d := range schemaDocs() {
		if d.Section != section {
			section = d.Section
			p.section(map[bool]string{true: "TOP OF THE FILE", false: section}[section == ""])
		}
		p.item(d.Key+" = "+d.Type, keyWords(d))
	}
	p.section("RELOADING")
	p.paragraphs(`SIGHUP from a service manager has a running tuner read its file again. It takes over what
is narrower than before, all of it or nothing: a change of any other key, or a wider
value, is refused with its line and the run goes on unchanged. The keys, with what the
new value must be:`)
	for _, r := range configs.Reloadable() {
		p.item(r[0], "must "+r[1])
	}
	p.section("SEE ALSO")
	p.text("tuner(1), tuner-check(1), tuner-config(1), tuner-run(1)")
	m.pages["tuner.toml.5"] = p.String()
}

// schemaDocs document every key that a file may have, those of the drivers last.
func schemaDocs() []configs.KeyDoc {
	docs := configs.Reference()
	for _, d := range []struct {
		name    string
		options any
		channel any
	}{
		{"exec", new(exec.Default()), new(exec.ChannelOptions)},
		{"mqtt", new(mqtt.Default()), new(mqtt.ChannelOptions)},
		{"serial", new(serial.Default()), new(serial.ChannelOptions)},
	} {
		docs = append(docs, configs.ReferenceOf(`[[device]] with driver = "`+d.name+`"`, d.options)...)
		docs = append(docs, configs.ReferenceOf(`[device.channel.NAME] with driver = "`+d.name+`"`, d.channel)...)
	}
	return docs
}

// keyWords says what a key means, and its bounds and default.
func keyWords(d configs.KeyDoc) string {
	var more []string
	if d.Unit != "" && d.Unit != "1" {
		more = append(more, "in "+d.Unit)
	}
	if d.Bound != "" {
		more = append(more, d.Bound)
	}
	switch d.Default {
	case "":
	case "required":
		more = append(more, "required")
	default:
		more = append(more, "default "+d.Default)
	}
	if len(more) == 0 {
		return sentence(d.What)
	}
	return sentence(d.What + " (" + strings.Join(more, "; ") + ")")
}

// sentence begins with a capital letter, unless a name stands first, and ends with a
// full stop.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
