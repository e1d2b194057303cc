package exec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// readFaults is what a Read must say of a child that misbehaves.
var readFaults = map[string]struct {
	kind error
	want string
}{
	"wrong id":          {drivers.ErrProtocol, `has "id" "99" where 2 was due`},
	"old id":            {drivers.ErrProtocol, `has "id" "1" where 2 was due`},
	"no id":             {drivers.ErrProtocol, `has "id" missing or null where 2 was due`},
	"text as id":        {drivers.ErrProtocol, `where 2 was due`},
	"text":              {drivers.ErrProtocol, `"temperature is 20" is not strict JSON: invalid character 'e'`},
	"empty line":        {drivers.ErrProtocol, "it is empty"},
	"array":             {drivers.ErrProtocol, "is not strict JSON object"},
	"no ok":             {drivers.ErrProtocol, `has no "ok" that is true or false`},
	"NaN":               {drivers.ErrProtocol, "NaN is not a number in JSON"},
	"Infinity":          {drivers.ErrProtocol, "Infinity is not a number in JSON"},
	"1e400":             {drivers.ErrProtocol, "beyond 1.8e308"},
	"null":              {drivers.ErrProtocol, `the value of "temp" is missing or null and must be a number`},
	"text value":        {drivers.ErrProtocol, `the value of "temp" is "20" and must be a number`},
	"list of values":    {drivers.ErrProtocol, "must be an object of numbers"},
	"same key":          {drivers.ErrProtocol, `the key "temp" comes twice`},
	"unknown channel":   {drivers.ErrProtocol, `a value for "tmep", which the hello does not offer`},
	"bad refusal":       {drivers.ErrProtocol, `"ok" is false, and "error" is not an object`},
	"1 MB":              {drivers.ErrProtocol, "line longer than 65536 bytes"},
	"hangs":             {drivers.ErrProtocol, "no answer to read (request 2) in time"},
	"unasked":           {drivers.ErrProtocol, `\"id\":8`},
	"dies":              {drivers.ErrUnavailable, `exit status 3; the last line of its standard error is "the sensor is unplugged"`},
	"half a line":       {drivers.ErrUnavailable, `ended with exit status 0, in the middle of a line: "{\"id\":2,\"ok\":tr"`},
	"closes its output": {drivers.ErrProtocol, "closed its standard output and does not exit"},
}

func TestReadFaults(t *testing.T) {
	t.Parallel()
	for behaviour, c := range readFaults {
		t.Run(behaviour, func(t *testing.T) {
			d, _ := device(t, impatient(options(behaviour)))
			if _, err := d.Open(context.Background()); err != nil {
				t.Fatal(err)
			}
			tire(d)
			pid := d.child.cmd.Process.Pid
			_, err := d.Read(context.Background(), []string{"temp"})
			expect(t, err, c.kind, c.want, "tuner child "+behaviour)

			// The device stays dead, and says of what.
			_, again := d.Read(context.Background(), []string{"temp"})
			expect(t, again, c.kind, "must be opened again", c.want)
			expect(t, d.Halt(context.Background()), c.kind, "safe state not confirmed")

			if !groupEnds(pid) {
				t.Errorf("process group %d still lives", pid)
			}
			if err := d.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
			d.options = options("good")
			if _, err := d.Open(context.Background()); err != nil {
				t.Errorf("Open after the fault: %v", err)
			}
			if r, err := d.Read(context.Background(), []string{"temp"}); err != nil || r.Values["temp"] != 20 {
				t.Errorf("after another Open: %v, %v", r.Values, err)
			}
			if err := d.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
}

func TestTwoAnswers(t *testing.T) {
	d, _ := device(t, impatient(options("twice")))
	if _, err := d.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Read(context.Background(), []string{"temp"}); err != nil {
		t.Fatalf("the first answer is good, but: %v", err)
	}
	_, err := d.Read(context.Background(), []string{"temp"})
	expect(t, err, drivers.ErrProtocol)
}

// An answer with the right id that came before its request is no answer to it.
func TestAnswerBeforeRequest(t *testing.T) {
	d, _ := device(t, options("good"))
	if _, err := d.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	now := time.Now()
	_, _, err := d.accept(d.child, &pendingReply{id: 2, op: opRead, sent: now}, outputLine{text: []byte(`{"id":2,"ok":true}`), at: now.Add(-time.Nanosecond)})
	expect(t, err, drivers.ErrProtocol, "before it was asked")
}

func TestRefusal(t *testing.T) {
	d, _ := device(t, options("refuses"))
	if _, err := d.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for range 2 { // a refusal is no fault: the child lives on
		_, err := d.Read(context.Background(), []string{"temp"})
		expect(t, err, drivers.ErrRefused, `read refused by the instrument: "busy": "still \"homing\"" (it may be tried again)`)
		var refusal *RefusedError
		if !errors.As(err, &refusal) || refusal.Code != "busy" || refusal.Message != `still "homing"` || !refusal.Retry || refusal.Op != "read" {
			t.Errorf("the refusal is %+v", refusal)
		}
	}
	expect(t, d.Halt(context.Background()), drivers.ErrRefused, "safe state not confirmed")
}

func TestNothingNew(t *testing.T) {
	d, _ := device(t, options("nothing new"))
	if _, err := d.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	r, err := d.Read(context.Background(), []string{"temp", "power"})
	if err != nil || len(r.Values) != 0 || r.At.IsZero() {
		t.Errorf("an answer without values is %+v, %v", r, err)
	}
}

// A child that minds neither the end of its input nor its parent's, and that has
// its own child: Close must end both.
func TestGrandchildIsKilled(t *testing.T) {
	d, said := device(t, impatient(options("grandchild")))
	if _, err := d.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	pid := d.child.cmd.Process.Pid
	match := regexp.MustCompile(`grandchild (\d+)`).FindStringSubmatch(waitFor(t, said, "grandchild "))
	grandchild, err := strconv.Atoi(match[1])
	if err != nil {
		t.Fatal(err)
	}
	if group, err := syscall.Getpgid(grandchild); err != nil || group != pid {
		t.Fatalf("the grandchild is in group %d (%v), not in %d", group, err, pid)
	}
	if err := d.Close(); err == nil || !strings.Contains(err.Error(), "was killed; whether it went safe is not known") {
		t.Errorf("Close: %v", err)
	}
	if !groupEnds(pid) {
		t.Errorf("process group %d still lives", pid)
	}
	if err := d.Close(); err != nil {
		t.Errorf("Close again: %v", err)
	}
}

// A leader that dies alone must take its group with it.
func TestGroupOfDeadChildIsKilled(t *testing.T) {
	o := options("unused")
	o.Command = []string{"sh", "-c", `sleep 1000 & echo '{"protocol":"tuner-exec/1","name":"x","channels":[{"name":"a","unit":"V","access":"r"}]}'; read line; exit 7`}
	d, _ := device(t, o)
	pids := childOf(d)
	_, err := d.Open(context.Background())
	expect(t, err, drivers.ErrUnavailable, "exit status 7")
	if pid := <-pids; !groupEnds(pid) {
		t.Errorf("process group %d still lives", pid)
	}
	if err := d.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// childOf gives the process of a device's child once it has begun, which is before its hello.
func childOf(d *Device) <-chan int {
	pids := make(chan int, 1)
	go func() {
		for ; ; time.Sleep(time.Millisecond) {
			d.mu.Lock()
			c := d.child
			d.mu.Unlock()
			if c != nil {
				pids <- c.cmd.Process.Pid
				return
			}
		}
	}()
	return pids
}

// waitFor waits until the log holds a text and gives the log.
func waitFor(t *testing.T, said *records, text string) string {
	t.Helper()
	for limit := time.Now().Add(patience); time.Now().Before(limit); time.Sleep(10 * time.Millisecond) {
		if log := said.String(); strings.Contains(log, text) {
			return log
		}
	}
	t.Fatalf("the log has no %q:\n%s", text, said.String())
	return ""
}

func TestNoLeaks(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which would close what was forgotten
	count := func() (int, int) {
		files, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return runtime.NumGoroutine(), len(files)
	}
	use := func(behaviour string) {
		d, _ := device(t, impatient(options(behaviour)))
		if _, err := d.Open(context.Background()); err == nil {
			tire(d)
			_, _ = d.Read(context.Background(), []string{"temp"})
		}
		_ = d.Close()
	}
	use("good")
	goroutines, files := count()
	for behaviour := range readFaults {
		use(behaviour)
	}
	for behaviour := range hellos {
		use(behaviour)
	}
	for _, behaviour := range []string{"mute", "deaf", "grandchild", "dies at start"} {
		use(behaviour)
	}
	var after string
	for limit := time.Now().Add(patience); time.Now().Before(limit); time.Sleep(10 * time.Millisecond) {
		g, f := count()
		if g <= goroutines && f <= files {
			return
		}
		after = fmt.Sprintf("%d goroutines and %d files where there were %d and %d", g, f, goroutines, files)
	}
	stacks := make([]byte, 1<<16)
	t.Errorf("%s\n%s", after, stacks[:runtime.Stack(stacks, true)])
}

// TestNoRoomForPipes: where the process may open nothing more, that is said, no child begins, and
// nothing is left open.
func TestNoRoomForPipes(t *testing.T) {
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	tight := before
	tight.Cur = 256
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &tight); err != nil {
		t.Fatal(err)
	}
	var fillers []*os.File
	defer func() {
		for _, f := range fillers {
			f.Close()
		}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
			t.Error(err)
		}
	}()
	fill := func() (n int) {
		for {
			f, err := os.Open(os.DevNull)
			if err != nil {
				return n
			}
			fillers, n = append(fillers, f), n+1
		}
	}
	fill()
	const spare = 3 // one pipe, and half of another
	for range spare {
		fillers[len(fillers)-1].Close()
		fillers = fillers[:len(fillers)-1]
	}
	d, _ := device(t, options("good"))
	if _, err := start(d.options, d.env); err == nil || !strings.Contains(err.Error(), "no pipe to the child") || !errors.Is(err, syscall.EMFILE) {
		t.Errorf("%v", err)
	}
	if n := fill(); n != spare {
		t.Errorf("%d files may be opened afterwards; %d could before", n, spare)
	}
}

// TestHintIsForText: who sends JSON with a mistake is not told to send JSON.
func TestHintIsForText(t *testing.T) {
	for line, want := range map[string]bool{"Heater ready": true, "": true, `{"id":1,"ok":true,"values":{"t":NaN}}`: false, ` {"id":1`: false} {
		_, err := parseAnswer([]byte(line), 1)
		if got := hintFor([]byte(line), err) != ""; got != want {
			t.Errorf("%q: %v, hint %v", line, err, got)
		}
	}
}
