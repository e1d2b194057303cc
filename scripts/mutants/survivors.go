package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// survivorsFile holds the mutants that may survive: one a line, with why.
const survivorsFile = "scripts/mutants/survivors.txt"

// kinds are the reasons: nothing can notice it, it only changes a message, or the test is
// still to be written.
var kinds = []string{"equivalent", "telemetry", "open"}

// readSurvivors reads which mutants may survive. An entry of a mutant that there is not, or
// without a reason, is an error: the text that it was about has changed.
func readSurvivors(text string, c *catalogue) (map[string]string, error) {
	known := map[string]bool{}
	for _, x := range c.changes {
		known[x.key()] = true
	}
	out := map[string]string{}
	var stale []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, why, _ := strings.Cut(line, " => ")
		kind, _, reasoned := strings.Cut(why, ": ")
		switch {
		case !reasoned || !slices.Contains(kinds, kind):
			stale = append(stale, "no reason, which begins with equivalent:, telemetry: or open: "+line)
		case kind == "open" && strings.HasPrefix(key, "safety/"):
			stale = append(stale, "safety leaves nothing open: "+key)
		case !known[key]:
			stale = append(stale, "no such mutant any more: "+key)
		case out[key] != "":
			stale = append(stale, "twice: "+key)
		}
		out[key] = why
	}
	if len(stale) > 0 {
		return nil, fmt.Errorf("%s:\n%s", survivorsFile, strings.Join(stale, "\n"))
	}
	return out, nil
}

func loadSurvivors(c *catalogue) (map[string]string, error) {
	text, err := os.ReadFile(survivorsFile)
	if err != nil {
		return nil, err
	}
	return readSurvivors(string(text), c)
}
