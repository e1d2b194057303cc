package exec

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// Verdict is how one check of a child ended.
type Verdict string

// The verdicts. A child with a Failed check cannot be relied on; Warning marks
// what the protocol allows and an instrument should not do; Skipped of what could
// not be asked.
const (
	Passed  Verdict = "ok"
	Warning Verdict = "warning"
	Failed  Verdict = "FAIL"
	Skipped Verdict = "skipped"
)

// Check is one thing that was asked of a child.
type Check struct {
	// Name says what was asked, in a few words.
	Name    string
	Verdict Verdict
	// Detail is what came, Hint what to do about it; both may be empty.
	Detail, Hint string
}

// Examine runs a command several times as tuner would and checks that it speaks
// tuner-exec/1: hello, unknown operations and channels, readings and their
// latency, safe twice, the end of the input between and inside lines, a line that
// is too long, a line that is no JSON, and the signal TERM. It reports each check as it
// is done and reports whether none failed.
//
// The only thing it makes the instrument do is to go safe; with moving it also
// writes each channel's safe value, and releases what can be released.
func Examine(ctx context.Context, o Options, env drivers.Env, moving bool, tell func(Check)) (bool, error) {
	if _, err := New(o, nil, env); err != nil {
		return false, err
	}
	x := &examiner{ctx: ctx, options: o, env: env, report: tell}
	if x.conversation(moving) {
		for _, end := range []func(){x.longLine, x.noJSON, x.halfLine, x.term} {
			if ctx.Err() != nil {
				break
			}
			end()
		}
	}
	return !x.failed, ctx.Err()
}

// examiner is one examination.
type examiner struct {
	ctx     context.Context
	options Options
	env     drivers.Env
	report  func(Check)
	failed  bool
}

func (x *examiner) passed(name, format string, args ...any) {
	x.report(Check{Name: name, Verdict: Passed, Detail: fmt.Sprintf(format, args...)})
}

func (x *examiner) warning(name, hint, format string, args ...any) {
	x.report(Check{Name: name, Verdict: Warning, Detail: fmt.Sprintf(format, args...), Hint: hint})
}

func (x *examiner) skipped(name, why string) {
	x.report(Check{Name: name, Verdict: Skipped, Detail: why})
}

func (x *examiner) fails(name, hint string, err error) {
	x.failed = true
	x.report(Check{Name: name, Verdict: Failed, Detail: err.Error(), Hint: hint})
}

// begin starts a child and lets it say hello.
func (x *examiner) begin() (*Device, []drivers.Channel, error) {
	d, err := New(x.options, nil, x.env)
	if err != nil {
		return nil, nil, err
	}
	channels, err := d.Open(x.ctx)
	if err != nil {
		return nil, nil, errors.Join(err, d.Close())
	}
	return d, channels, nil
}

// restart is begin where the first child of the examination has passed it.
func (x *examiner) restart(name string) (*Device, *child, bool) {
	d, _, err := x.begin()
	if err != nil {
		x.fails(name, "a run starts the child again after a fault: it must be able to", err)
		return nil, nil, false
	}
	return d, d.child, true
}

// ends closes a child's input and waits for its end, with status 0.
func (x *examiner) ends(name string, c *child) {
	start := time.Now()
	if !x.leaves(name, c) {
		return
	}
	took := time.Since(start).Round(time.Millisecond)
	if c.status != nil {
		x.warning(name, "exit with status 0 when the outputs are safe, so that another status can tell that they are not",
			"ended after %v: %v%s", took, c.status, stderrTailOf(c))
		return
	}
	x.passed(name, "ended by itself after %v", took)
}

// leaves closes a child's input; one that does not exit then is killed, and fails.
func (x *examiner) leaves(name string, c *child) bool {
	c.ignore()
	c.in.Close()
	select {
	case <-c.exited:
		return true
	case <-time.After(x.options.ExitTimeout):
	}
	c.kill()
	<-c.exited
	x.fails(name, "read standard input until it ends, then bring every output to safe and exit",
		fmt.Errorf("the child did not exit within %v of the end of its input and was killed", x.options.ExitTimeout))
	return false
}

// stderrTailOf quotes the end of what the child said on its standard error.
func stderrTailOf(c *child) string {
	if last := c.stderr.last(); last != "" {
		return fmt.Sprintf("; its last words: %q", last)
	}
	return ""
}
