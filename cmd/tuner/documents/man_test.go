package documents

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/labtuner/tuner/cmd/tuner/commands"
	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/configs"
)

// manualFolder is where scripts/dist wants the manual pages. They are made here and not by
// the program, which would carry what makes them.
var manualFolder = flag.String("manual", "", "write the manual pages into this folder, dated SOURCE_DATE_EPOCH")

// TestManual: every command that help lists has a page with every flag that it takes, and
// the schema's page has every key.
func TestManual(t *testing.T) {
	folder, date := *manualFolder, time.Unix(1795288651, 0).UTC()
	if folder == "" {
		folder = t.TempDir()
	} else {
		seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
		if err != nil {
			t.Fatalf("SOURCE_DATE_EPOCH: %v", err)
		}
		date = time.Unix(seconds, 0).UTC()
	}
	e, _, _, _ := hosttest.Env()
	root := commands.Root(e)
	root.InitDefaultCompletionCmd()
	for c := range everyCommand(root) {
		c.Long = asMarkdown(c.Long)
	}
	root.DisableAutoGenTag = true
	root.Long += "\n\n" + environmentMarkdown()
	header := &doc.GenManHeader{Source: "tuner", Manual: "tuner manual", Date: &date}
	if err := doc.GenManTree(root, header, folder); err != nil {
		t.Fatal(err)
	}
	toml := md2man.Render([]byte(tomlMarkdown(date)))
	if err := os.WriteFile(filepath.Join(folder, "tuner.toml.5"), toml, 0o644); err != nil {
		t.Fatal(err)
	}

	for c := range everyCommand(root) {
		page := shown(t, filepath.Join(folder, strings.ReplaceAll(c.CommandPath(), " ", "-")+".1"))
		if !strings.HasPrefix(page, ".nh\n.TH ") || !strings.Contains(page, c.Short) {
			t.Errorf("%s: the page begins with %.80q", c.CommandPath(), page)
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(page, "--"+f.Name+"\\fP") {
				t.Errorf("%s: no flag --%s", c.CommandPath(), f.Name)
			}
		})
	}
	page := shown(t, filepath.Join(folder, "tuner.toml.5"))
	for _, d := range schemaDocs() {
		if !strings.Contains(page, d.Key+" = ") {
			t.Errorf("no key %s %s", d.Section, d.Key)
		}
	}
}

// shown is a page's text with its minus signs and dots as they are shown.
func shown(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(`\-`, "-", `\&`, "", `\_`, "_").Replace(string(text))
}

// everyCommand gives a command and those below it that help lists.
func everyCommand(c *cobra.Command) func(yield func(*cobra.Command) bool) {
	return func(yield func(*cobra.Command) bool) {
		if !yield(c) {
			return
		}
		for _, sub := range listed(c) {
			for below := range everyCommand(sub) {
				if !yield(below) {
					return
				}
			}
		}
	}
}

// asMarkdown makes examples, which help indents by two blanks, blocks of code.
func asMarkdown(long string) string {
	blocks := strings.Split(long, "\n\n")
	for i, block := range blocks {
		switch {
		case strings.HasPrefix(block, "\t"): // cobra's own, which is one as it is
		case strings.HasPrefix(block, "  "):
			blocks[i] = "```\n" + strings.ReplaceAll(block[2:], "\n  ", "\n") + "\n```"
		default:
			blocks[i] = plainText(block)
		}
	}
	return strings.Join(blocks, "\n\n")
}

// plainText keeps text from being taken for markup.
func plainText(text string) string {
	return strings.NewReplacer("*", `\*`, "_", `\_`, "`", "\\`", "<", `\<`, "[", `\[`).Replace(text)
}

func environmentMarkdown() string {
	var b strings.Builder
	b.WriteString("# EXIT STATUS\n")
	for _, s := range exitStatuses() {
		fmt.Fprintf(&b, "**%d**\n: %s\n\n", s.code, plainText(s.means))
	}
	b.WriteString("# FILES\n**tuner.toml(5)** describes the configuration.\n\n# ENVIRONMENT\n")
	for _, v := range environmentVariables() {
		fmt.Fprintf(&b, "**%s**\n: %s\n\n", plainText(v[0]), plainText(v[1]))
	}
	return b.String()
}

// tomlMarkdown is tuner.toml(5) in the schema's own words.
func tomlMarkdown(date time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%% \"TUNER.TOML\" \"5\" %q \"tuner\" \"tuner manual\"\n", date.Format("Jan 2006"))
	b.WriteString("# NAME\ntuner.toml \\- what tuner tunes, and within which limits\n\n# DESCRIPTION\n")
	b.WriteString(plainText(`One TOML file describes one instrument: what is measured, what may be set, what is
sought, what it costs and what must never happen. An unknown key is an error with its
line. Durations are texts with a unit such as "250ms"; every other quantity is in the
unit that its key names. Relative paths and commands start at the file's folder. A secret
is a file, a credential or an environment variable and never stands in the file.

tuner check FILE looks at a file without touching the instrument, tuner check --effective
FILE lists every value and where it comes from. tuner config --sample NAME prints a
commented file to start from.`))
	section := "-"
	for _, d := range schemaDocs() {
		if d.Section != section {
			section = d.Section
			title := section
			if title == "" {
				title = "TOP OF THE FILE"
			}
			fmt.Fprintf(&b, "\n\n# %s\n", plainText(title))
		}
		fmt.Fprintf(&b, "**%s = %s**\n: %s\n\n", plainText(d.Key), plainText(d.Type), plainText(keyWords(d)))
	}
	b.WriteString("# RELOADING\n")
	b.WriteString(plainText(`SIGHUP from a service manager has a running tuner read its file again. It takes over what
is narrower than before, all of it or nothing: a change of any other key, or a wider
value, is refused with its line and the run goes on unchanged. The keys, with what the
new value must be:`) + "\n\n")
	for _, r := range configs.Reloadable(setup.Known()) {
		fmt.Fprintf(&b, "**%s**\n: must %s\n\n", plainText(r[0]), plainText(r[1]))
	}
	b.WriteString("# SEE ALSO\n**tuner(1)**, **tuner-check(1)**, **tuner-config(1)**, **tuner-run(1)**\n")
	return b.String()
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
