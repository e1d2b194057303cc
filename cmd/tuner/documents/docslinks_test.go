package documents

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

var (
	docsLink   = regexp.MustCompile(`\]\(([^()\s]+)(?: "[^"]*")?\)|<(?:img|a)[^>]* (?:src|href)="([^"]+)"`)
	docsCode   = regexp.MustCompile("`[^`]*`")
	docsHead   = regexp.MustCompile(`^#{1,6} +(.+?) *#*$`)
	docsPath   = regexp.MustCompile("`((?:cmd/tuner|configs|drivers|gpcore|loop|safety|scripts|docs)/[a-zA-Z0-9_./*-]+)`")
	docsTarget = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// TestDocsLinks: every relative link of a page leads to a file of the repository, and its
// anchor to a heading there; files that are named like `this/one` exist. Every page under docs is reached from docs/README.md.
func TestDocsLinks(t *testing.T) {
	pages := map[string]*docsPage{}
	for _, p := range docsPages(t) {
		pages[p.path] = p
	}
	leadsTo := map[string][]string{}
	for name, p := range pages {
		for i, line := range p.prose {
			for _, m := range docsPath.FindAllStringSubmatch(line, -1) {
				if found, err := filepath.Glob(filepath.Join("../../..", m[1])); err != nil || len(found) == 0 {
					t.Errorf("%s:%d: there is no %s", name, i+1, m[1])
				}
			}
			for _, m := range docsLink.FindAllStringSubmatch(docsCode.ReplaceAllString(line, ""), -1) {
				target := m[1] + m[2]
				to, problem := followLink(pages, name, target)
				if problem != "" {
					t.Errorf("%s:%d: link to %s: %s", name, i+1, target, problem)
				}
				leadsTo[name] = append(leadsTo[name], to)
			}
		}
	}
	reached := map[string]bool{}
	var walk func(name string)
	walk = func(name string) {
		if reached[name] {
			return
		}
		reached[name] = true
		for _, to := range leadsTo[name] {
			walk(to)
		}
	}
	walk("docs/README.md")
	for name := range pages {
		if strings.HasPrefix(name, "docs/") && !reached[name] {
			t.Errorf("%s is not reached from docs/README.md", name)
		}
	}
	if !hasLink(leadsTo["README.md"], "docs/README.md") {
		t.Error("README.md does not lead to docs/README.md")
	}
}

func hasLink(links []string, to string) bool {
	for _, l := range links {
		if l == to {
			return true
		}
	}
	return false
}

// followLink returns the file that a link of a page leads to, "" outside the repository.
func followLink(pages map[string]*docsPage, from, target string) (to, problem string) {
	u, err := url.Parse(target)
	if err != nil {
		return "", err.Error()
	}
	if u.Scheme != "" {
		if u.Scheme != "https" && u.Scheme != "http" && u.Scheme != "mailto" {
			return "", "scheme " + u.Scheme
		}
		return "", ""
	}
	to = from
	if u.Path != "" {
		to = path.Join(path.Dir(from), u.Path)
	}
	info, err := os.Stat(filepath.Join("../../..", filepath.FromSlash(to)))
	switch {
	case strings.HasPrefix(to, ".."):
		return "", "outside the repository"
	case err != nil:
		return "", "there is no such file"
	case info.IsDir() && pages[path.Join(to, "README.md")] != nil:
		to = path.Join(to, "README.md")
	}
	if u.Fragment == "" {
		return to, ""
	}
	p := pages[to]
	if p == nil {
		return to, "an anchor in what is no page"
	}
	if !p.anchors()[u.Fragment] {
		return to, "there is no such heading"
	}
	return to, ""
}

// anchors are the names that GitHub gives to the headings of a page.
func (p *docsPage) anchors() map[string]bool {
	names := map[string]bool{}
	for _, line := range p.prose {
		m := docsHead.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name := anchorOf(m[1])
		for i := 1; names[name]; i++ {
			name = anchorOf(m[1]) + "-" + strconv.Itoa(i)
		}
		names[name] = true
	}
	return names
}

func anchorOf(heading string) string {
	heading = docsTarget.ReplaceAllString(heading, "$1")
	var b strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			b.WriteRune(r)
		}
	}
	return b.String()
}

// TestAnchors: after github.com's own pages.
func TestAnchors(t *testing.T) {
	for heading, want := range map[string]string{
		"Which one to take":                 "which-one-to-take",
		"What happens if ...":               "what-happens-if-",
		"`tuner run`: the job":              "tuner-run-the-job",
		"[[safety.interlock]]":              "safetyinterlock",
		"RAHBO, UCB-CVS & co.":              "rahbo-ucb-cvs--co",
		"See [the page](x.md) for_it":       "see-the-page-for_it",
		"A step's clock; 100 ms, not 0.1 s": "a-steps-clock-100-ms-not-01-s",
	} {
		if got := anchorOf(heading); got != want {
			t.Errorf("%q: %q, want %q", heading, got, want)
		}
	}
}
