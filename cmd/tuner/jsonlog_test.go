package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestJSONLog(t *testing.T) {
	var b bytes.Buffer
	j := newJSONLog(&b, func() time.Time { return time.Date(2026, 3, 1, 21, 4, 5, 0, time.UTC) })
	for _, text := range []string{"tuner: error: a \"b\" <c>\ntuner: hint: d\n", "tuner: warn", "ing: e\n\n", "no prefix\n"} {
		if n, err := j.Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("%q: %d, %v", text, n, err)
		}
	}
	j.at("r-1", 7)
	if _, err := j.Write([]byte("tuner: f\n")); err != nil {
		t.Error(err)
	}
	want := `{"time":"2026-03-01T21:04:05Z","level":"error","msg":"a \"b\" <c>","run":"","step":0}
{"time":"2026-03-01T21:04:05Z","level":"hint","msg":"d","run":"","step":0}
{"time":"2026-03-01T21:04:05Z","level":"warn","msg":"e","run":"","step":0}
{"time":"2026-03-01T21:04:05Z","level":"info","msg":"no prefix","run":"","step":0}
{"time":"2026-03-01T21:04:05Z","level":"info","msg":"f","run":"r-1","step":7}
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestJSONLogInTheJournal(t *testing.T) {
	var b bytes.Buffer
	j := newJSONLog(&priorityWriter{w: &b}, time.Now)
	if _, err := j.Write([]byte("tuner: warning: x\n")); err != nil {
		t.Error(err)
	}
	if want := "<4>{\"level\":\"warn\",\"msg\":\"x\",\"run\":\"\",\"step\":0}\n"; b.String() != want {
		t.Errorf("got %s", b.String())
	}
}

// TestLogFormat: every line of a run's narration is JSON, with the run and its step.
func TestLogFormat(t *testing.T) {
	t.Chdir(t.TempDir())
	writeService(t)
	var l listener
	e, _, errOut, signals := testEnv("run", "--log-format", "json", "service.toml")
	e.manager, e.now = l.manager(0), time.Now
	done := make(chan int)
	go func() { done <- execute(t.Context(), e) }()
	waitUntil(t, func() bool { return stepOf(t, lastStatus(&l)) >= 2 })
	signals <- stopSignal
	if code := <-done; code != exitInterrupted {
		t.Fatalf("exit code %d\n%s", code, errOut)
	}
	var last jsonLine
	for line := range strings.Lines(errOut.String()) {
		if err := json.Unmarshal([]byte(line), &last); err != nil {
			t.Errorf("%q: %v", line, err)
		}
	}
	if last.Msg != "interrupted" || last.Run == "" || last.Step < 2 {
		t.Errorf("the last line is %+v", last)
	}
	e, _, errOut, _ = testEnv("run", "--log-format", "xml", "service.toml")
	if code := execute(t.Context(), e); code != exitUsage || !strings.Contains(errOut.String(), `no log format "xml"`) {
		t.Errorf("exit code %d\n%s", code, errOut)
	}
}
