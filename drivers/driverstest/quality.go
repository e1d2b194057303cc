package driverstest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Step is how far a driver has come on the scale of quality. Each asks what those before it ask, and more;
// docs/reference/driver-quality.md has them in words.
type Step int

// The steps.
const (
	Conforming Step = iota + 1
	Robust
	Foreign
	InLabs
)

// String names a step.
func (s Step) String() string {
	return [...]string{"none", "1 conforming", "2 robust", "3 foreign", "4 in labs"}[s]
}

// Demand is what a step asks for.
type Demand struct {
	Step Step
	Name string
	// Mark is what stands in the file of the evidence, "" for anything.
	Mark string
}

// Demands are all of the scale.
var Demands = []Demand{
	{Conforming, "contract", "driverstest.Conform(t,"},
	{Conforming, "sample", `"sample.toml"`},
	{Conforming, "identification", ""},
	{Conforming, "units", ""},
	{Robust, "reconnection", ""},
	{Robust, "fault injection", ""},
	{Robust, "safe value", ""},
	{Foreign, "instrument by others", ""},
	{Foreign, "outages", ""},
	{InLabs, "reports of two users", ""},
}

// Claim is what a driver, or one way of it, says of itself: its step, and by demand the test that shows it,
// PATH:TEST below the repository, with what part of it where one of several is meant: PATH:TEST/PART.
type Claim struct {
	Name string
	Step Step
	By   map[string]string
}

// Problems are what a claim lacks, by what is in the repository at root.
func (c Claim) Problems(root string) (problems []string) {
	for _, d := range Demands {
		evidence := c.By[d.Name]
		if d.Step > c.Step && evidence == "" {
			continue
		}
		if why := missing(root, evidence, d.Mark); why != "" {
			problems = append(problems, fmt.Sprintf("%s claims step %v, which asks for %s: %s", c.Name, c.Step, d.Name, why))
		}
	}
	return problems
}

// missing says why a test is no evidence, "" where it is.
func missing(root, evidence, mark string) string {
	path, test, ok := strings.Cut(evidence, ":")
	if !ok {
		return "no test is named"
	}
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		return err.Error()
	}
	test, part, _ := strings.Cut(test, "/")
	body := regexp.MustCompile(`(?ms)^func ` + regexp.QuoteMeta(test) + `\(t \*testing\.T\) \{$.*?^\}$`).Find(text)
	switch {
	case body == nil:
		return fmt.Sprintf("%s has no %s", path, test)
	case !strings.Contains(string(text), mark):
		return fmt.Sprintf("%s has no %s", path, mark)
	case part != "" && !strings.Contains(string(text), `"`+part+`"`):
		return fmt.Sprintf("%s has no part %q", path, part)
	}
	for _, line := range strings.Split(string(body), "\n")[1:] {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "t.Skip") {
			return fmt.Sprintf("%s in %s is skipped", test, path)
		} else if line != "" && !strings.HasPrefix(line, "//") {
			break
		}
	}
	return ""
}
