package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// tryList tries those made by hand, one after the other.
func tryList(list []mutant, o *options) bool {
	survivors, broken, tried := 0, 0, 0
	for i, m := range list {
		if o.n > 0 && i >= o.n || o.rule != 0 && m.rule != o.rule {
			continue
		}
		tried++
		began := time.Now()
		verdict, err := m.try(o.limit)
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
	return survivors+broken == 0
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
		return "", fmt.Errorf("the test fails with the rule in place: %s", ending(out))
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
		return "", errors.New("it does not compile: " + ending(out))
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

// ending is the end of a long text.
func ending(out string) string {
	out = strings.TrimSpace(out)
	return out[max(len(out)-300, 0):]
}
