package documents

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A page of the documentation is Markdown. What the test of its commands does with a
// fenced block is said by an HTML comment right above it, which no reader sees:
//
//	<!-- test: file NAME -->        the block is written to NAME, for the commands below
//	<!-- test: background -->       its command goes on running once its output is there
//	<!-- test: interrupt at TEXT --> its command gets Ctrl-C once TEXT is there
//	<!-- test: exit N -->           its last command ends with that code, not with 0
//	<!-- test: not run, REASON -->  it needs what a test has not
//
// and anywhere on the page
//
//	<!-- test: port N -->           the page's port N is another, free one in the test
//	<!-- test: needs TOOL -->       where TOOL is not installed, the page is not run
//
// A console block without a comment is run. Its lines that begin with "$ " are commands,
// "> " goes on with one; what follows is the output, of stdout and stderr together. A line
// "..." stands for any lines, "..." in a line for any text. Where nothing is shown, anything
// may have come.
type docsPage struct {
	path   string // from the top of the repository
	lines  []string
	blocks []docsBlock
	ports  []string
	tools  []string
	prose  []string // what stands outside blocks, empty lines in the place of the rest
}

// docsBlock is a fenced block of a page.
type docsBlock struct {
	language   string
	first, end int // of its content, in lines
	directive  string
	argument   string
}

var (
	docsFence     = regexp.MustCompile("^ *```+ *([a-z0-9+-]*)$")
	docsDirective = regexp.MustCompile(`^<!-- test: (file|background|interrupt at|exit|not run,|port|needs) ?(.*?) -->$`)
)

// docsPages are the pages: README.md, ARCHITECTURE.md, CHANGELOG.md, what is under docs,
// and the READMEs of folders.
func docsPages(t *testing.T) []*docsPage {
	t.Helper()
	var pages []*docsPage
	err := filepath.WalkDir("../../..", func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel("../../..", path)
		if d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(name) != ".md" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		p, err := parseDocsPage(name, string(text))
		if err != nil {
			return err
		}
		pages = append(pages, p)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) < 10 {
		t.Fatalf("%d pages", len(pages))
	}
	return pages
}

func parseDocsPage(path, text string) (*docsPage, error) {
	p := &docsPage{path: path, lines: strings.Split(text, "\n")}
	p.prose = make([]string, len(p.lines))
	open := -1
	for i, line := range p.lines {
		fence := docsFence.FindStringSubmatch(line)
		switch {
		case open >= 0 && strings.TrimSpace(line) == "```":
			p.blocks[open].end = i
			open = -1
		case open >= 0:
		case fence != nil:
			b := docsBlock{language: fence[1], first: i + 1}
			if m := docsDirective.FindStringSubmatch(p.lines[max(i-1, 0)]); m != nil && m[1] != "port" && m[1] != "needs" {
				b.directive, b.argument = m[1], m[2]
			}
			open = len(p.blocks)
			p.blocks = append(p.blocks, b)
		default:
			p.prose[i] = line
			if err := p.comment(i); err != nil {
				return nil, err
			}
		}
	}
	if open >= 0 {
		return nil, fmt.Errorf("%s:%d: the block does not end", path, p.blocks[open].first)
	}
	return p, nil
}

// comment looks at a line that may be a comment for the test.
func (p *docsPage) comment(i int) error {
	line := p.lines[i]
	if !strings.HasPrefix(line, "<!-- test:") {
		return nil
	}
	m := docsDirective.FindStringSubmatch(line)
	switch {
	case m == nil:
		return fmt.Errorf("%s:%d: unknown comment %q", p.path, i+1, line)
	case m[1] == "port":
		p.ports = append(p.ports, m[2])
	case m[1] == "needs":
		p.tools = append(p.tools, m[2])
	case i+1 >= len(p.lines) || docsFence.FindString(p.lines[i+1]) == "":
		return fmt.Errorf("%s:%d: no block follows %q", p.path, i+1, line)
	}
	return nil
}

// docsCommand is a command of a console block with what the page shows of it.
type docsCommand struct {
	text     string
	line     int // of the page, from 0
	expected []string
	from     int // the first line of expected
}

func (p *docsPage) commands(b docsBlock) ([]docsCommand, error) {
	var all []docsCommand
	for i := b.first; i < b.end; i++ {
		line := p.lines[i]
		last := len(all) - 1
		switch text, isCommand := strings.CutPrefix(line, "$ "); {
		case isCommand:
			all = append(all, docsCommand{text: text, line: i, from: i + 1})
		case last < 0:
			return nil, fmt.Errorf("%s:%d: a console block begins with \"$ \"", p.path, i+1)
		case strings.HasPrefix(line, "> ") && len(all[last].expected) == 0:
			all[last].text += "\n" + line[2:]
			all[last].from = i + 1
		default:
			all[last].expected = append(all[last].expected, line)
		}
	}
	return all, nil
}

// hasPrompt: is there a line that looks like a command?
func (b docsBlock) hasPrompt(p *docsPage) bool {
	return slices.ContainsFunc(p.lines[b.first:b.end], func(line string) bool { return strings.HasPrefix(line, "$ ") })
}

func (b docsBlock) isRun() bool { return b.language == "console" && b.directive != "not run," }

// isRun: is there a command on the page that a test runs?
func (p *docsPage) isRun() bool { return slices.ContainsFunc(p.blocks, docsBlock.isRun) }
