package documents

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/cmd/tuner/trial"
	"github.com/labtuner/tuner/scripts/testsize"
)

// TestDocs runs every command that README.md and the pages under docs show, in order, each
// page in a folder of its own that looks like the top of the repository, and compares what
// comes with what the page shows. With UPDATE_DOCS=1 it writes the numbers that came into
// the pages, to be read there.
func TestDocs(t *testing.T) {
	t.Parallel()
	var notRun []string
	var pages []*docsPage
	for _, p := range docsPages(t) {
		if p.path != "README.md" && !strings.HasPrefix(p.path, "docs/") {
			continue
		}
		for _, b := range p.blocks {
			if shell := b.language == "sh" || b.language == "bash"; shell && b.directive == "" {
				t.Errorf("%s:%d: commands are shown in console blocks, which are run", p.path, b.first)
			}
			if b.language != "console" && b.directive == "" && b.hasPrompt(p) {
				t.Errorf("%s:%d: commands with their prompt are shown in console blocks, which are run", p.path, b.first)
			}
			if b.directive == "not run," {
				notRun = append(notRun, fmt.Sprintf("%s:%d: %s", p.path, b.first, b.argument))
			}
		}
		if p.isRun() && p.hasTools(t) {
			pages = append(pages, p)
		}
	}
	t.Run("pages", func(t *testing.T) {
		for _, p := range pages {
			t.Run(p.path, func(t *testing.T) {
				t.Parallel()
				if p.path != "README.md" && os.Getenv("UPDATE_DOCS") == "" {
					testsize.Only(t)
				}
				runDocsPage(t, p)
			})
		}
	})
	t.Logf("not run are %d blocks:\n%s", len(notRun), strings.Join(notRun, "\n"))
	if len(notRun) > maxDocsNotRun {
		t.Errorf("%d blocks are not run, more than %d", len(notRun), maxDocsNotRun)
	}
}

// maxDocsNotRun keeps "not run" the exception.
const maxDocsNotRun = 13

// hasTools: is everything installed that the page needs? What is not is said.
func (p *docsPage) hasTools(t *testing.T) bool {
	for _, tool := range p.tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Logf("NOT RUN: %s, for it needs %s, which is not installed", p.path, tool)
			return false
		}
	}
	return true
}

// docsRun is a page being run.
type docsRun struct {
	t       *testing.T
	page    *docsPage
	dir     string
	ports   *strings.Replacer
	started []*docsProcess
	renewed map[int][]string // lines of the page by the first one's number
	lengths map[int]int
}

func runDocsPage(t *testing.T, p *docsPage) {
	r := &docsRun{t: t, page: p, dir: t.TempDir(), renewed: map[int][]string{}, lengths: map[int]int{}}
	r.ports = freePorts(t, p.ports)
	for _, name := range []string{"configs", "docs", "drivers", "scripts"} {
		target, err := filepath.Abs("../../../" + name)
		if err == nil {
			err = os.Symlink(target, filepath.Join(r.dir, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	defer r.end()
	for _, b := range p.blocks {
		switch {
		case b.directive == "file":
			r.write(b)
		case b.isRun():
			r.block(b)
		}
		if t.Failed() {
			return
		}
	}
	if os.Getenv("UPDATE_DOCS") != "" {
		r.rewrite()
	}
}

// freePorts replaces the ports of a page by some that are free now.
func freePorts(t *testing.T, ports []string) *strings.Replacer {
	t.Helper()
	var pairs []string
	for _, port := range ports {
		pairs = append(pairs, port, trial.FreePort(t))
	}
	return strings.NewReplacer(pairs...)
}

func (r *docsRun) at(line int) string { return fmt.Sprintf("%s:%d", r.page.path, line+1) }

func (r *docsRun) write(b docsBlock) {
	r.t.Helper()
	text := r.ports.Replace(strings.Join(r.page.lines[b.first:b.end], "\n") + "\n")
	if err := os.WriteFile(filepath.Join(r.dir, filepath.FromSlash(b.argument)), []byte(text), 0o700); err != nil {
		r.t.Fatal(err)
	}
}

func (r *docsRun) block(b docsBlock) {
	r.t.Helper()
	commands, err := r.page.commands(b)
	if err != nil || len(commands) == 0 {
		r.t.Fatalf("%s: %d commands, %v", r.at(b.first), len(commands), err)
	}
	for i, c := range commands {
		if r.t.Failed() {
			return
		}
		last := i == len(commands)-1
		if last && b.directive == "interrupt at" {
			c.text = "exec " + c.text // no shell in between, whose own end by Ctrl-C would be seen
		}
		p := r.start(c)
		if last && b.directive == "background" {
			r.started = append(r.started, p)
			r.waitShown(c, p)
			continue
		} else if last && b.directive == "interrupt at" {
			r.waitSaid(p, b.argument)
			p.signal(syscall.SIGINT)
		}
		want := 0
		if last && b.directive == "exit" {
			want, err = strconv.Atoi(b.argument)
		} else if last && b.directive == "interrupt at" {
			want = fault.ExitInterrupted
		}
		if code := p.wait(r.t); err != nil || code != want {
			r.t.Errorf("%s: exit code %d, want %d: %s\n%s", r.at(c.line), code, want, c.text, p.says.String())
			return
		}
		r.compare(c, p.says.String())
	}
}

// docsProcess is a command of a page.
type docsProcess struct {
	cmd  *exec.Cmd
	says hosttest.Buffer
	done chan struct{}
}

// start runs a command by the shell, as typed. "go run ./cmd/tuner" is this binary.
func (r *docsRun) start(c docsCommand) *docsProcess {
	r.t.Helper()
	text := r.ports.Replace(strings.ReplaceAll(c.text, "go run ./cmd/tuner", "tuner"))
	p := &docsProcess{cmd: exec.Command("sh", "-c", text), done: make(chan struct{})}
	p.cmd.Dir = r.dir
	p.cmd.Env = append(os.Environ(), "NO_COLOR=1", "INVOCATION_ID=", "NOTIFY_SOCKET=", "STATE_DIRECTORY=", "LC_ALL=C.UTF-8")
	p.cmd.Stdout, p.cmd.Stderr = &p.says, &p.says
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		r.t.Fatalf("%s: %v", r.at(c.line), err)
	}
	go func() {
		_ = p.cmd.Wait() // its exit code is asked for below
		close(p.done)
	}()
	return p
}

// signal goes to the whole group, as Ctrl-C on a terminal does.
func (p *docsProcess) signal(s syscall.Signal) { _ = syscall.Kill(-p.cmd.Process.Pid, s) }

func (p *docsProcess) wait(t *testing.T) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hosttest.Patience)
	defer cancel()
	select {
	case <-p.done:
	case <-ctx.Done():
		p.signal(syscall.SIGKILL)
		<-p.done
		t.Errorf("%s did not end", p.cmd.Args[2])
	}
	return p.cmd.ProcessState.ExitCode()
}

// waitSaid waits until a command has said something.
func (r *docsRun) waitSaid(p *docsProcess, text string) {
	r.t.Helper()
	for limit := time.Now().Add(hosttest.Patience); !strings.Contains(p.says.String(), text); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(limit) {
			r.t.Errorf("no %q in %v:\n%s", text, hosttest.Patience, p.says.String())
			return
		}
	}
}

// waitShown waits until a command in the background has said what the page shows.
func (r *docsRun) waitShown(c docsCommand, p *docsProcess) {
	r.t.Helper()
	for limit := time.Now().Add(hosttest.Patience); ; time.Sleep(20 * time.Millisecond) {
		if _, ok := docsAlign(r.shown(c), docsLines(p.says.String()), docsSame); ok {
			return
		}
		select {
		case <-p.done:
			r.t.Errorf("%s: it ended: %s\n%s", r.at(c.line), c.text, p.says.String())
			return
		default:
		}
		if time.Now().After(limit) {
			r.compare(c, p.says.String())
			return
		}
	}
}

// end stops what still runs; what was started last ends first.
func (r *docsRun) end() {
	for _, p := range slices.Backward(r.started) {
		p.signal(syscall.SIGTERM)
		select {
		case <-p.done:
		case <-time.After(hosttest.Patience):
			p.signal(syscall.SIGKILL)
			<-p.done
			r.t.Errorf("%s did not end after SIGTERM\n%s", p.cmd.Args[2], p.says.String())
		}
	}
}

// shown is what the page says that a command prints, with this test's ports.
func (r *docsRun) shown(c docsCommand) []string {
	return docsLines(r.ports.Replace(strings.Join(c.expected, "\n")))
}

func docsLines(text string) []string {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// compare looks at what a command printed. Where the page shows nothing, anything goes.
func (r *docsRun) compare(c docsCommand, said string) {
	r.t.Helper()
	shown, output := r.shown(c), docsLines(strings.ReplaceAll(said, r.dir, "/home/you"))
	if len(shown) == 0 {
		return
	}
	if _, ok := docsAlign(shown, output, docsSame); ok {
		return
	}
	if os.Getenv("UPDATE_DOCS") != "" && len(r.page.ports) == 0 {
		if renewed, ok := docsRenew(shown, output); ok {
			r.renewed[c.from], r.lengths[c.from] = renewed, len(c.expected)
			return
		}
	}
	r.t.Errorf("%s: $ %s\nthe page shows\n%s\nand this came (UPDATE_DOCS=1 go test ./cmd/tuner/documents -run TestDocs takes over numbers)\n%s",
		r.at(c.line), c.text, strings.Join(shown, "\n"), strings.Join(output, "\n"))
}

// rewrite puts what came into the page.
func (r *docsRun) rewrite() {
	if len(r.renewed) == 0 {
		return
	}
	var out bytes.Buffer
	for i := 0; i < len(r.page.lines); i++ {
		if lines, ok := r.renewed[i]; ok {
			out.WriteString(strings.Join(lines, "\n") + "\n")
			i += r.lengths[i] - 1
			continue
		}
		out.WriteString(r.page.lines[i] + "\n")
	}
	text := regexp.MustCompile(`\n+$`).ReplaceAllString(out.String(), "\n")
	if err := os.WriteFile(filepath.Join("../../..", r.page.path), []byte(text), 0o644); err != nil {
		r.t.Error(err)
	}
}
