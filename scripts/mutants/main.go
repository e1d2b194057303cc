// Command mutants removes each safety rule, or each defence against attacks, in turn and
// shows that a test fails.
//
//	go run ./scripts/mutants            every rule
//	go run ./scripts/mutants -n 5       five of them, for every change
//	go run ./scripts/mutants -rule 13   one
//	go run ./scripts/mutants -attacks   every defence against attacks, in place of the rules
//
// Run it at the top of the repository. Nothing in the working tree is changed: the
// compiler is given the changed file by an overlay. A rule whose removal no test
// notices survives, and makes the exit code 1.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	n := flag.Int("n", len(mutants)+len(attacks), "how many, from the first of the list")
	rule := flag.Int("rule", 0, "only the mutants of the rule with this number; 0: all")
	limit := flag.Duration("timeout", 2*time.Minute, "the longest test")
	defences := flag.Bool("attacks", false, "the defences against attacks, in place of the safety rules")
	flag.Parse()
	list := mutants
	if *defences {
		list = attacks
	}
	survivors, broken, tried := 0, 0, 0
	for i, m := range list {
		if i >= *n || *rule != 0 && m.rule != *rule {
			continue
		}
		tried++
		began := time.Now()
		verdict, err := m.try(*limit)
		switch {
		case err != nil:
			broken++
			verdict = "CANNOT BE TRIED: " + err.Error()
		case verdict == survived:
			survivors++
		}
		fmt.Printf("%2d %-13s %-52s %s (%.1fs)\n", m.rule, m.name, m.test, verdict, time.Since(began).Seconds())
	}
	fmt.Printf("%d of %d mutants killed\n", tried-survivors-broken, tried)
	if survivors+broken > 0 {
		os.Exit(1)
	}
}

// mutant is a rule taken out: in file, old (which occurs once) becomes new, and
// test, of pkg, must fail.
type mutant struct {
	rule      int
	name      string
	file      string
	old, new  string
	pkg, test string
}

const (
	killed   = "killed"
	survived = "SURVIVED"
)

// try runs the mutant's test with and without the rule: a test that fails anyway
// proves nothing.
func (m *mutant) try(limit time.Duration) (string, error) {
	text, err := os.ReadFile(m.file)
	if err != nil {
		return "", err
	}
	if k := strings.Count(string(text), m.old); k != 1 {
		return "", fmt.Errorf("%q stands %d times in %s, want once", m.old, k, m.file)
	}
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	if out, err := m.run("", limit); err != nil {
		return "", fmt.Errorf("the test fails with the rule in place: %s", last(out))
	}
	overlay, err := m.overlay(dir, strings.Replace(string(text), m.old, m.new, 1))
	if err != nil {
		return "", err
	}
	out, err := m.run(overlay, limit)
	switch {
	case err == nil:
		return survived, nil
	case strings.Contains(out, "[build failed]") || strings.Contains(out, "[setup failed]"):
		return "", errors.New("it does not compile: " + last(out))
	}
	return killed, nil
}

// overlay writes the changed file and the compiler's overlay list.
func (m *mutant) overlay(dir, text string) (string, error) {
	changed, list := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	original, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	doc, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err != nil {
		return "", err
	}
	return list, errors.Join(os.WriteFile(changed, []byte(text), 0o600), os.WriteFile(list, doc, 0o600))
}

func (m *mutant) run(overlay string, limit time.Duration) (string, error) {
	args := []string{"test", "-count=1", "-vet=off", "-timeout", limit.String(), "-run", "^(" + m.test + ")$"}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	out, err := exec.Command("go", append(args, m.pkg)...).CombinedOutput()
	if err == nil && strings.Contains(string(out), "no tests to run") {
		return string(out), errors.New("there is no such test")
	}
	return string(out), err
}

// last is the end of a long text.
func last(out string) string {
	out = strings.TrimSpace(out)
	return out[max(len(out)-300, 0):]
}
