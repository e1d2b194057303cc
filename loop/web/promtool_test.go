package web

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// alertsTested is where promtool finds what each alert fires on.
const alertsTested = "testdata/alerts_test.yaml"

// TestEveryAlertIsTried: each alert has a case in which it fires and one in which it does
// not.
func TestEveryAlertIsTried(t *testing.T) {
	rules, err := os.ReadFile(filepath.Join("..", "..", "docs", "monitoring", "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	cases, err := os.ReadFile(alertsTested)
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`(?m)^ +- alert: (\w+)$`).FindAllStringSubmatch(string(rules), -1)
	if len(names) == 0 {
		t.Fatal("there are no alerts")
	}
	for _, n := range names {
		fires := regexp.MustCompile(`(?m)alertname: ` + n[1] + `\n +exp_alerts:\n +- exp_labels`).Match(cases)
		quiet := strings.Contains(string(cases), "alertname: "+n[1]+", exp_alerts: [] }")
		if !fires || !quiet {
			t.Errorf("%s: fires in a case: %t, is quiet in one: %t", n[1], fires, quiet)
		}
	}
}

// TestPromtool has Prometheus' own tool look at the alert rules, try what they fire on, and
// read the metrics as they are served.
func TestPromtool(t *testing.T) {
	tool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("NOT RUN: there is no promtool (Debian's package prometheus has it)")
	}
	metrics := scrape(t, metered(t, busy))
	for _, args := range [][]string{
		{"check", "rules", filepath.Join("..", "..", "docs", "monitoring", "alerts.yaml")},
		{"test", "rules", alertsTested},
		{"check", "metrics"},
	} {
		cmd := exec.Command(tool, args...)
		cmd.Stdin = strings.NewReader(metrics)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}
