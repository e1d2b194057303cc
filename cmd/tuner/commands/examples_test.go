package commands_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/commands"
	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
)

// TestEveryCommandHasExamples: help of every command shows three lines at least, each of which the
// program takes: its command is there, with its flags and as many arguments. Each line is of the
// command that it is shown for, but for that of the root and of those that only have others below.
func TestEveryCommandHasExamples(t *testing.T) {
	e, _, _, _ := hosttest.Env()
	seen := 0
	for c := range walk(commands.Root(e)) {
		seen++
		lines := exampleLines(c.Example)
		if len(lines) < 3 {
			t.Errorf("%s: %d examples", c.CommandPath(), len(lines))
		}
		for i, line := range lines {
			if slices.Contains(lines[:i], line) {
				t.Errorf("%s: %q is there twice", c.CommandPath(), line)
			}
			words := split(line)
			if words[0] != "tuner" {
				t.Errorf("%s: %q does not begin with tuner", c.CommandPath(), line)
				continue
			}
			fresh, _, _, _ := hosttest.Env()
			root := commands.Root(fresh)
			found, rest, err := root.Find(words[1:])
			switch {
			case err != nil:
				t.Errorf("%s: %q: %v", c.CommandPath(), line, err)
				continue
			case c.Runnable() && !c.HasSubCommands() && found.CommandPath() != c.CommandPath() && line != "tuner --version":
				t.Errorf("%s: %q is of %s", c.CommandPath(), line, found.CommandPath())
			}
			found.InitDefaultHelpFlag()
			found.InitDefaultVersionFlag()
			if err := found.ParseFlags(rest); err != nil {
				t.Errorf("%s: %q: %v", c.CommandPath(), line, err)
				continue
			}
			if err := found.ValidateArgs(found.Flags().Args()); err != nil && found.Runnable() && found.HasParent() {
				t.Errorf("%s: %q: %v", c.CommandPath(), line, err)
			}
		}
	}
	if seen < 40 {
		t.Errorf("only %d commands were seen", seen)
	}
}

// walk gives a command and those below it that help lists.
func walk(c *cobra.Command) func(yield func(*cobra.Command) bool) {
	return func(yield func(*cobra.Command) bool) {
		if !yield(c) {
			return
		}
		for _, sub := range c.Commands() {
			if sub.Hidden {
				continue
			}
			for below := range walk(sub) {
				if !yield(below) {
					return
				}
			}
		}
	}
}

// exampleLines are the command lines of examples, without what stands behind them.
func exampleLines(text string) (lines []string) {
	for line := range strings.Lines(text) {
		command, _, _ := strings.Cut(line, " # ")
		if command = strings.TrimSpace(command); command != "" {
			lines = append(lines, command)
		}
	}
	return lines
}

// split takes a line apart as a shell would, up to a pipe or a redirection.
func split(line string) (words []string) {
	quoted, word, some := false, "", false
	for _, r := range line + " " {
		switch {
		case r == '"':
			quoted, some = !quoted, true
		case r == ' ' && !quoted:
			if word == "|" || word == ">" {
				return words
			}
			if some || word != "" {
				words = append(words, word)
			}
			word, some = "", false
		default:
			word += string(r)
		}
	}
	return words
}
