package services

import (
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/commands"
	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
)

// TestServiceSaysHowItEnds runs as a service in real time, on a plant in this process.
func TestServiceSaysHowItEnds(t *testing.T) {
	t.Parallel()
	file, _ := writeService(t)
	var l hosttest.Listener
	e, _, errOut, signals := hosttest.Env("run", file)
	e.Manager, e.Now = l.Manager(time.Second), time.Now
	done := make(chan int)
	go func() { done <- commands.Execute(t.Context(), e) }()
	waitUntil(t, func() bool {
		return slices.Contains(l.Lines(), "WATCHDOG=1") && strings.Contains(strings.Join(l.Messages(), " "), "STATUS=step 2")
	})
	signals <- stopSignal
	if code := <-done; code != fault.ExitInterrupted {
		t.Fatalf("exit code %d\n%s", code, errOut)
	}
	lines := l.Lines()
	if lines[0] != "READY=1" || !slices.Contains(lines, "STOPPING=1") {
		t.Errorf("heard %q", lines)
	}
	all := l.Messages()
	if want := "STATUS=ended: interrupted; actuator x: at its safe value, 0.25 V; actuator y"; !strings.HasPrefix(all[len(all)-1], want) {
		t.Errorf("the last words were %q, want %q", all[len(all)-1], want)
	}
	if !strings.Contains(errOut.String(), "tuner: actuator x: at its safe value, 0.25 V\n") {
		t.Errorf("stderr:\n%s", errOut)
	}
}

// TestServiceServesMetrics asks a running service as Prometheus does, and as a page of
// another site would.
func TestServiceServesMetrics(t *testing.T) {
	t.Parallel()
	file, text := writeService(t)
	if err := os.WriteFile(file, []byte(text+"\n[web]\nlisten = \"127.0.0.1:0\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var l hosttest.Listener
	e, _, errOut, signals := hosttest.Env("run", file)
	e.Manager, e.Now = l.Manager(0), time.Now
	done := make(chan int)
	go func() { done <- commands.Execute(t.Context(), e) }()
	errOut.WaitFor(t, "http://127.0.0.1:")
	waitUntil(t, func() bool { return stepOf(t, lastStatus(&l)) >= 3 })
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+/`).FindString(errOut.String())
	get := func(path, host string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if host != "" {
			r.Host = host
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(body)
	}
	if code, body := get("healthz", ""); code != http.StatusOK || body != "running\n" {
		t.Errorf("healthz: %d %q", code, body)
	}
	code, body := get("metrics", "")
	for _, want := range []string{`tuner_state{state="running"} 1`, `tuner_variable_setpoint{unit="V",variable="x"} `, "tuner_tick_duration_seconds_count ",
		"tuner_journal_write_duration_seconds_count ", "tuner_disk_free_bytes ", `tuner_steps_total{result="valid"} `, "tuner_gp_capacity "} {
		if !strings.Contains(body, want) {
			t.Errorf("metrics: %d, no %s", code, want)
		}
	}
	for _, never := range []string{"tuner_tick_duration_seconds_count 0", "tuner_journal_write_duration_seconds_count 0", "tuner_gp_observations 0", `tuner_steps_total{result="valid"} 0`} {
		if strings.Contains(body, never+"\n") {
			t.Errorf("metrics: %s in a run that goes on", never)
		}
	}
	if code, body := get("metrics", "evil.example"); code != http.StatusMisdirectedRequest || strings.Contains(body, "tuner_state") {
		t.Errorf("another site's name: %d", code)
	}
	signals <- stopSignal
	if code := <-done; code != fault.ExitInterrupted {
		t.Fatalf("exit code %d\n%s", code, errOut)
	}
}
