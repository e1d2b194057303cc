package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/fault"
)

func TestDiskOf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	if free, size, err := diskOf(path); err != nil || free == 0 || size != 0 {
		t.Errorf("%d free, %d bytes, %v without a journal", free, size, err)
	}
	for name, n := range map[string]int{path: 1000, path + "-wal": 234} {
		if err := os.WriteFile(name, make([]byte, n), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, size, err := diskOf(path); err != nil || size != 1234 {
		t.Errorf("%d bytes, %v", size, err)
	}
	if _, _, err := diskOf(filepath.Join(path, "no", "folder")); err == nil {
		t.Error("no error for a folder that there is not")
	}
}

// TestServiceServesMetrics asks a running service as Prometheus does, and as a page of
// another site would.
func TestServiceServesMetrics(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("service.toml", []byte(serviceFile+"\n[web]\nlisten = \"127.0.0.1:0\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var l listener
	e, _, errOut, signals := testEnv("run", "service.toml")
	e.Manager, e.Now = l.manager(0), time.Now
	done := make(chan int)
	go func() { done <- execute(t.Context(), e) }()
	errOut.waitFor(t, "http://127.0.0.1:")
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
