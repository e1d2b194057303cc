package services

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/commands"
	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/cmd/tuner/show"
)

func TestJSONLogInTheJournal(t *testing.T) {
	var b bytes.Buffer
	j := show.NewJSONLog(&show.PriorityWriter{W: &b}, time.Now)
	if _, err := j.Write([]byte("tuner: warning: x\n")); err != nil {
		t.Error(err)
	}
	if want := "<4>{\"level\":\"warn\",\"msg\":\"x\",\"run\":\"\",\"step\":0}\n"; b.String() != want {
		t.Errorf("got %s", b.String())
	}
}

// TestLogFormat: every line of a run's narration is JSON, with the run and its step.
func TestLogFormat(t *testing.T) {
	t.Parallel()
	file, _ := writeService(t)
	var l hosttest.Listener
	e, _, errOut, signals := hosttest.Env("run", "--log-format", "json", file)
	e.Manager, e.Now = l.Manager(0), time.Now
	done := make(chan int)
	go func() { done <- commands.Execute(t.Context(), e) }()
	waitUntil(t, func() bool { return stepOf(t, lastStatus(&l)) >= 2 })
	signals <- stopSignal
	if code := <-done; code != fault.ExitInterrupted {
		t.Fatalf("exit code %d\n%s", code, errOut)
	}
	var last show.JSONLine
	for line := range strings.Lines(errOut.String()) {
		if err := json.Unmarshal([]byte(line), &last); err != nil {
			t.Errorf("%q: %v", line, err)
		}
	}
	if last.Msg != "interrupted" || last.Run == "" || last.Step < 2 {
		t.Errorf("the last line is %+v", last)
	}
	e, _, errOut, _ = hosttest.Env("run", "--log-format", "xml", file)
	if code := commands.Execute(t.Context(), e); code != fault.ExitUsage || !strings.Contains(errOut.String(), `no log format "xml"`) {
		t.Errorf("exit code %d\n%s", code, errOut)
	}
}
