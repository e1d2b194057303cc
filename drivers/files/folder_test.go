package files

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// coarse is longer than the kernel's clock of files takes from one tick to the next.
const coarse = 30 * time.Millisecond

// TestAnswerToAnEarlierRun: an earlier tuner was ended while the experiment ran; its
// answer comes after the start of the next one, and is of other parameters.
func TestAnswerToAnEarlierRun(t *testing.T) {
	for name, late := range map[string]func(r *rig){
		"the input is still there": func(r *rig) { // which is seen, and then the input is taken
			r.settleOutput()
			r.silent()
			r.take()
		},
		"the input is gone by the next look": func(r *rig) {
			time.Sleep(coarse)
			r.take()
			r.settleOutput()
		},
	} {
		r := newRig(t).open()
		r.write(1, 0)
		r.silent()
		r.answer("cost = 99")
		late(r)
		r.silent()
		if !strings.Contains(r.log.String(), "an answer to an earlier run was moved aside") {
			t.Errorf("%s: the log is silent: %s", name, r.log)
		}
		time.Sleep(coarse)
		r.answer("cost = 1")
		r.settleOutput()
		if v, err := r.read(); err != nil || v != 1 {
			t.Errorf("%s: %v, %v", name, v, err)
		}
		// That it deletes its input is known now: no answer is waited over.
		r.silent()
		r.answer("cost = 98")
		r.settleOutput()
		r.silent()
		if n := strings.Count(r.log.String(), "earlier run"); n != 2 {
			t.Errorf("%s: told %d times: %s", name, n, r.log)
		}
		if left, _ := filepath.Glob(filepath.Join(r.dir, "*")); r.dev.Close() != nil || len(left) != 3 {
			t.Errorf("%s: left are %v", name, left) // input, its second name, what was moved aside
		}
	}
}

// TestExperimentThatKeepsItsInput: one that looks whether the text has changed, and
// deletes nothing, works too.
func TestExperimentThatKeepsItsInput(t *testing.T) {
	r := newRig(t).open()
	for i, current := range []float64{1, 1.5} {
		r.write(current, 0)
		r.silent()
		if i == 0 {
			r.answer("cost = 1")
			r.settleOutput()
			r.silent() // its input may be taken yet
			r.clock.now = r.clock.now.Add(takeGrace)
		} else {
			r.answer("cost = 1")
			r.settleOutput()
		}
		if v, err := r.read(); err != nil || v != 1 {
			t.Fatalf("run %d: %v, %v", i, v, err)
		}
	}
	// Whether it runs cannot be known of its input.
	r.silent()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := r.dev.Halt(ctx); err == nil || !strings.Contains(err.Error(), "a run of the experiment goes on") {
		t.Errorf("Halt: %v", err)
	}
}

// TestWhatIsNoFile: pipes, folders and links to nowhere in the places of the files
// neither block nor count.
func TestWhatIsNoFile(t *testing.T) {
	pipe := func(path string) error { return syscall.Mkfifo(path, 0o600) }
	folder := func(path string) error { return os.Mkdir(path, 0o700) }
	zero := func(path string) error { return os.Symlink("/dev/zero", path) }
	loop := func(path string) error { return os.Symlink(filepath.Base(path), path) }
	for _, c := range []struct {
		name string
		put  func(string) error
		as   string
		want string // "": it is put right
	}{
		{"pipe", pipe, "exp_output.txt", "no plain file"}, {"folder", folder, "exp_output.txt", "no plain file"},
		{"device", zero, "exp_output.txt", "no plain file"}, {"loop", loop, "exp_output.txt", "too many levels"},
		{"pipe", pipe, "exp_input.txt.new", ""}, {"loop", loop, "exp_input.txt.new", ""}, {"pipe", pipe, "exp_input.txt.sent", ""},
		{"folder", folder, "exp_input.txt", "file exists"}, {"pipe", pipe, "exp_input.txt", ""},
	} {
		r := newRig(t).open()
		if err := c.put(filepath.Join(r.dir, c.as)); err != nil {
			t.Fatal(err)
		}
		r.write(1, 0)
		_, err := r.read()
		r.clock.now = r.clock.now.Add(time.Minute)
		v, again := r.read()
		err = errors.Join(err, again)
		switch {
		case !math.IsNaN(v):
			t.Errorf("%s as %s: a value, %v", c.name, c.as, v)
		case c.want == "" && (err != nil || !strings.Contains(r.take(), "[1., 0.]")):
			t.Errorf("%s as %s: %v", c.name, c.as, err)
		case c.want != "" && (!errors.Is(err, drivers.ErrUnavailable) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s as %s: %v, want %q", c.name, c.as, err, c.want)
		}
	}
}

// TestOutputThatIsReplaced: what was looked at long enough is not what is read.
func TestOutputThatIsReplaced(t *testing.T) {
	r := newRig(t).open()
	r.write(1, 0)
	r.silent()
	r.take()
	path := filepath.Join(r.dir, "exp_output.txt")
	put := func(text string) {
		same := time.Unix(1.7e9, 0) // of the same size and time, it is told by its inode
		if err := errors.Join(os.WriteFile(path+".x", []byte(text), 0o600), os.Chtimes(path+".x", same, same), os.Rename(path+".x", path)); err != nil {
			t.Fatal(err)
		}
	}
	put("cost = 0.5")
	r.settleOutput()
	put("cost = 0.7")
	r.settleOutput()
	if v, err := r.read(); err != nil || v != 0.7 {
		t.Errorf("%v, %v", v, err)
	}
}

func TestInputThatNobodyTakesIsTold(t *testing.T) {
	r := newRig(t).open()
	r.write(1, 0)
	for range 3 {
		r.silent()
		r.clock.now = r.clock.now.Add(slowTake)
	}
	if n := strings.Count(r.log.String(), "has not taken its input"); n != 1 {
		t.Errorf("told %d times: %s", n, r.log)
	}
}

func TestByteOrderMark(t *testing.T) {
	if r, err := parseResult("\ufeffcost = 2\r\n"); err != nil || r.cost != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}
