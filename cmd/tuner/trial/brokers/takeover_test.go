package brokers

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/host/hosttest"
	"github.com/labtuner/tuner/cmd/tuner/trial"
	"github.com/labtuner/tuner/drivers/driverstest/broker"
	"github.com/labtuner/tuner/loop/journal"
)

// A client that takes the connection for commands over is an event of the run.
func TestTakeOverIsRecorded(t *testing.T) {
	t.Parallel()
	b := broker.Start(t)
	dir := oven(t, fmt.Sprintf("broker = %q\ncommands = true\nclient_id = \"fixed\"\n", b.URL))
	run := startTuner(t, dir, "run", "oven.toml")
	awaitState(t, elsewhere(t, dir), "running")
	conn, err := net.Dial("tcp", strings.TrimPrefix(b.URL, "tcp://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("\x10\x11\x00\x04MQTT\x04\x02\x00\x3c\x00\x05fixed")); err != nil {
		t.Fatal(err)
	}
	for limit := time.Now().Add(hosttest.Patience); !strings.Contains(run.says.String(), "the connection for commands: "); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("the take-over is not told")
		}
	}
	if err := run.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	run.exits(t)
	r, err := journal.OpenReader(filepath.Join(dir, "oven.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for e := range r.Events() {
		if e.Level == "warn" && strings.Contains(e.Message, "takes the connection over") {
			return
		}
	}
	t.Error("the take-over is not recorded")
}

// Who has read enough of a status closes the pipe, and nothing is wrong.
func TestStatusIntoAClosedPipe(t *testing.T) {
	t.Parallel()
	dir := alone(t, "oven-pipe", "")
	run := startTuner(t, dir, "run", "oven.toml")
	await(t, dir, "oven-pipe", "running")
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	reader.Close()
	defer writer.Close()
	var errs hosttest.Buffer
	cmd := trial.Command(t, dir, "status", "oven-pipe")
	cmd.Stdout, cmd.Stderr = writer, &errs
	if err := cmd.Run(); err != nil || errs.String() != "" {
		t.Errorf("%v: %s", err, errs.String())
	}
	if err := run.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	run.exits(t)
}
