package remote

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/labtuner/tuner/loop/control"
)

// section cuts the part of the page below a heading.
func section(t *testing.T, page, heading string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, "\n"+heading+"\n")
	if !ok {
		t.Fatalf("the page has no %q", heading)
	}
	level, _, _ := strings.Cut(heading, " ")
	for _, end := range []string{"\n## ", "\n" + level + " "} {
		rest, _, _ = strings.Cut(rest, end)
	}
	return rest
}

var quoted = regexp.MustCompile("`([^`]+)`")

// firstColumn lists what stands in backquotes in the first column of a table.
func firstColumn(text string) (names []string) {
	for line := range strings.Lines(text) {
		if cells := strings.Split(line, "|"); len(cells) > 2 && strings.HasPrefix(line, "|") {
			for _, m := range quoted.FindAllStringSubmatch(cells[1], -1) {
				names = append(names, m[1])
			}
		}
	}
	return names
}

// tags lists the JSON members of a struct, or of what a pointer to one leads to.
func tags(v any) (names []string) {
	of := reflect.TypeOf(v)
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	for f := range of.Fields() {
		if f.Anonymous {
			names = append(names, tags(reflect.Zero(f.Type).Interface())...)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

func same(t *testing.T, what string, page, code []string) {
	t.Helper()
	for _, name := range page {
		if !slices.Contains(code, name) {
			t.Errorf("%s: the page has %q, the code has not", what, name)
		}
	}
	for _, name := range code {
		if !slices.Contains(page, name) {
			t.Errorf("%s: the page lacks %q", what, name)
		}
	}
}

// TestPage holds docs/mqtt.md against the code: topics, commands, codes and members.
func TestPage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "mqtt.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	top := NewTopics("S", "N")
	var topics []string
	for _, name := range []string{top.Status(), top.State(), top.Telemetry(), top.Event(), top.Command("COMMAND"), top.Response("COMMAND")} {
		topics = append(topics, strings.TrimPrefix(name, "tuner/S/N/"))
	}
	listed, _, _ := strings.Cut(section(t, page, "## Topics"), "\n### ")
	same(t, "topics", firstColumn(listed), topics)
	same(t, "status", firstColumn(section(t, page, "### status")), tags(Presence{}))
	same(t, "state", firstColumn(section(t, page, "### state")), tags(control.Status{}))

	commands := strings.Split(strings.TrimSpace(section(t, page, "## Commands")), "\n\n")
	tables := slices.DeleteFunc(commands, func(s string) bool { return !strings.HasPrefix(s, "|") })
	if len(tables) != 3 {
		t.Fatalf("%d tables of commands, members and codes", len(tables))
	}
	same(t, "commands", firstColumn(tables[0]), control.Commands())
	same(t, "members of a command", firstColumn(tables[1]), members)
	same(t, "codes", firstColumn(tables[2]), slices.Concat(control.Codes(), codesHere()))

	for what, v := range map[string]any{"telemetry": control.Telemetry{}, "event": event{}, "answer": Answer{}, "command": wireCommand{},
		"decision": control.DecisionStatus{}, "variables": control.VariableStatus{}, "sensors": control.SensorStatus{}, "recommended": control.RecommendedStatus{},
		"constraints": control.ConstraintStatus{}, "doses": control.DoseStatus{}, "causes": control.Cause{}} {
		for _, name := range tags(v) {
			if !strings.Contains(page, "`"+name+"`") {
				t.Errorf("%s: the page lacks `%s`", what, name)
			}
		}
	}
	same(t, "members", tags(wireCommand{}), members)
}
