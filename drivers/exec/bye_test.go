package exec

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	osexec "os/exec"

	"github.com/labtuner/tuner/drivers"
)

// TestServeBye: after a bye that holds something the end of the input leaves the device as it is; a
// bye that holds nothing, and a write or a safe after it, do not.
func TestServeBye(t *testing.T) {
	const bye = `{"id":1,"op":"bye","hold":["power"]}` + "\n"
	for name, c := range map[string]struct {
		requests string
		answer   string
		halts    int
	}{
		"held":             {bye, `{"id":1,"ok":true}`, 0},
		"holds nothing":    {`{"id":1,"op":"bye","hold":[]}` + "\n", `{"id":1,"ok":true}`, 1},
		"a read after it":  {bye + `{"id":2,"op":"read","channels":["power"]}` + "\n", `{"id":1,"ok":true}`, 0},
		"a write after it": {bye + `{"id":2,"op":"write","values":{"power":2}}` + "\n", `{"id":1,"ok":true}`, 1},
		"safe after it":    {bye + `{"id":2,"op":"safe"}` + "\n", `{"id":1,"ok":true}`, 2},
		"a sensor":         {`{"id":1,"op":"bye","hold":["temp"]}` + "\n", `"code":"bad_request"`, 1},
		"no such channel":  {`{"id":1,"op":"bye","hold":["fan9"]}` + "\n", `"code":"bad_request"`, 1},
		"without a list":   {`{"id":1,"op":"bye","hold":"power"}` + "\n", `"code":"bad_request"`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			dev := &scripted{}
			answers, err := serveAll(t, dev, c.requests)
			if err != nil || len(answers) == 0 || !strings.Contains(answers[0], c.answer) {
				t.Errorf("answers %q, %v", answers, err)
			}
			if dev.halts != c.halts || !dev.closed {
				t.Errorf("halted %d times, want %d; closed %v", dev.halts, c.halts, dev.closed)
			}
		})
	}
}

// TestKeepWithExamples: a child of the helper, and one in shell, keep what a bye names when their
// host is gone, and go safe where no bye was said; a child that does not know it refuses it and
// goes safe as ever.
func TestKeepWithExamples(t *testing.T) {
	for name, c := range map[string]struct {
		command []string
		output  string
		bye     bool
		held    bool
	}{
		"Python, bye":    {[]string{"python3", "heater.py"}, "power", true, true},
		"Python, none":   {[]string{"python3", "heater.py"}, "power", false, false},
		"Python, older":  {[]string{"python3", "-c", "import heater, tuner_exec; heater.Heater.holds = False; tuner_exec.serve(heater.Heater(), 'old')"}, "power", true, false},
		"the shell, bye": {[]string{"sh", "dial.sh"}, "dial", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := osexec.LookPath(c.command[0]); err != nil {
				t.Skip(err)
			}
			o := patient()
			o.Command, o.Base = c.command, "examples"
			d, said := device(t, o)
			ctx := context.Background()
			if _, err := d.Open(ctx); err != nil {
				t.Fatal(err)
			}
			if _, err := d.Write(ctx, drivers.Setpoints{Values: map[string]float64{c.output: 3}}); err != nil {
				t.Fatal(err)
			}
			if d.SafeOnClose() == (c.held || name == "Python, none") {
				t.Errorf("SafeOnClose is %v", d.SafeOnClose())
			}
			if c.bye {
				err := d.Keep(ctx, []string{c.output})
				if c.held && err != nil || !c.held && !errors.Is(err, drivers.ErrRefused) {
					t.Errorf("Keep: %v", err)
				}
			}
			d.child.in.Close() // as when the host dies
			select {
			case <-d.child.exited:
			case <-time.After(time.Minute):
				t.Fatal("the child does not end")
			}
			if safe := strings.Contains(said.String(), "msg=safe"); safe == c.held {
				t.Errorf("went safe: %v", safe)
			}
			d.Close()
		})
	}
}
