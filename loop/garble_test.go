package loop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/replay"
	"github.com/labtuner/tuner/scripts/testsize"
)

// rounds is JOURNAL_ROUNDS, or a few.
func rounds(t *testing.T, few int) int {
	if s := os.Getenv("JOURNAL_ROUNDS"); s != "" {
		if _, err := fmt.Sscan(s, &few); err != nil {
			t.Fatalf("JOURNAL_ROUNDS: %v", err)
		}
	}
	return few
}

// prefix is how far a journal has come, and what follows from that.
type prefix struct{ steps, concluded int }

type consequence struct {
	past replay.Past
	next policy.Proposal
}

// consequenceOf is what a process makes of a journal.
func consequenceOf(path string, o plan.Options) (c consequence, err error) {
	r, err := journal.OpenReader(path)
	if err != nil {
		return c, err
	}
	defer r.Close()
	if c.past, err = replay.Recall(&o, r); err != nil {
		return c, err
	}
	p, err := policy.New(oneKnobSpec())
	if err != nil {
		return c, err
	}
	replay := replay.Decisions{Options: o, Policy: p}
	if done, err := replay.Run(context.Background(), r); err != nil || done.First != nil {
		return c, fmt.Errorf("it does not derive: %+v, %w", done.First, err)
	}
	c.next, err = p.Propose(context.Background())
	c.next.Fit, c.next.FailedFits = nil, nil // pointers are not compared
	return c, err
}

// files are a journal and its log.
type files struct{ main, log []byte }

func (f files) write(t *testing.T, path string) {
	t.Helper()
	for suffix, content := range map[string][]byte{"": f.main, "-wal": f.log} {
		if err := os.WriteFile(path+suffix, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, suffix := range []string{"-shm", ".lock"} {
		if err := os.Remove(path + suffix); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
}

// recordPrefixes runs to the end and gives the files as they were after each record of
// a step's beginning and end, and what follows from each.
func recordPrefixes(t *testing.T) (whole files, folded files, o plan.Options, truth map[prefix]consequence) {
	tr := newTrial(t)
	tr.opt.Stop = plan.Stop{Steps: 10}
	p, err := policy.New(oneKnobSpec())
	if err != nil {
		t.Fatal(err)
	}
	tr.deps.Policy = p
	j, path := book(t, &tr.opt)
	tr.deps.Journal = j
	copied := filepath.Join(t.TempDir(), "copy.db")
	truth = map[prefix]consequence{}
	read := func(name string) []byte {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	tr.deps.Failpoint = func(name string) {
		if name != "decision-durable" && name != "outcome-durable" {
			return
		}
		whole = files{read(path), read(path + "-wal")}
		whole.write(t, copied)
		c, err := consequenceOf(copied, tr.opt)
		if err != nil {
			t.Fatal(err)
		}
		truth[prefix{c.past.Steps, c.past.Concluded}] = c
	}
	if _, err := Run(context.Background(), tr.opt, tr.deps); err != nil {
		t.Fatal(err)
	}
	whole.write(t, copied)
	k, err := journal.Open(copied, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	return whole, files{main: read(copied)}, tr.opt, truth
}

// TestResumeFromGarbledJournal damages a journal or its log anywhere and has a process
// resume from it: it refuses, or it is where some process truly was, and decides what
// that would have decided. The journal before its first decision has no next step.
func TestResumeFromGarbledJournal(t *testing.T) {
	seed := rand.Uint64()
	if s := os.Getenv("JOURNAL_SEED"); s != "" {
		if _, err := fmt.Sscan(s, &seed); err != nil {
			t.Fatalf("JOURNAL_SEED: %v", err)
		}
	}
	t.Logf("JOURNAL_SEED=%d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	whole, folded, o, truth := recordPrefixes(t)
	path := filepath.Join(t.TempDir(), "garbled.db")
	refused, same, shorter := 0, 0, 0
	kinds := map[string]map[string]int{}
	count := func(how, outcome string) { // the damage's place is no part of its kind
		kind := digits.ReplaceAllString(how, "N")
		if kinds[kind] == nil {
			kinds[kind] = map[string]int{}
		}
		kinds[kind][outcome]++
	}
	for range rounds(t, testsize.Of(20, 60)) {
		var f files
		how := ""
		if r.IntN(2) == 0 {
			f = whole
			f.log, how = garbled(r, whole.log)
			how = "log: " + how
		} else {
			f = folded
			f.main, how = garbled(r, folded.main)
		}
		f.write(t, path)
		j, err := journal.Open(path, journal.Options{})
		if err != nil {
			if _, ok := errors.AsType[*disk.Error](err); !ok {
				t.Errorf("%s: no words for %v", how, err)
			}
			if bytes.HasPrefix([]byte(how), []byte("log")) {
				t.Errorf("%s: refused: %v", how, err)
			}
			refused++
			count(how, "refused")
			continue
		}
		c, err := consequenceOf(path, o)
		if cerr := j.Close(); cerr != nil {
			t.Errorf("%s: %v", how, cerr)
		}
		at := prefix{c.past.Steps, c.past.Concluded}
		want, known := truth[at]
		switch {
		case at == prefix{}:
			shorter++ // it holds no step: the run begins anew
			count(how, "no step: begins anew")
		case err != nil:
			t.Errorf("%s: %v", how, err)
		case !known || !reflect.DeepEqual(c.past, want.past) || fmt.Sprint(c.next) != fmt.Sprint(want.next):
			t.Errorf("%s: at %+v it goes on with %+v, want %+v", how, at, c, want)
		case at == prefix{10, 10}:
			same++
			count(how, "unharmed")
		default:
			shorter++
			count(how, "goes on from an earlier record")
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		t.Logf("%s: %v", kind, kinds[kind])
	}
	t.Logf("%d refused, %d unharmed, %d resumed from an earlier record", refused, same, shorter)
	if refused == 0 || same == 0 || shorter == 0 {
		t.Error("the damage was too strong or too weak to show anything")
	}
}

var digits = regexp.MustCompile(`0x[0-9a-f]+|[0-9]+`)

// garbled damages a file at random and says how.
func garbled(r *rand.Rand, b []byte) ([]byte, string) {
	bad := bytes.Clone(b)
	at := r.IntN(len(b))
	if r.IntN(4) == 0 {
		at = r.IntN(min(100, len(b)))
	}
	end := min(len(b), at+1+r.IntN(3000))
	switch r.IntN(4) {
	case 0:
		bad[at] ^= 1 << r.IntN(8)
		return bad, fmt.Sprintf("a bit of byte %d was flipped", at)
	case 1:
		return bad[:at], fmt.Sprintf("cut at %d", at)
	case 2:
		clear(bad[at:end])
		return bad, fmt.Sprintf("bytes %d to %d became zero", at, end)
	default:
		for i := at; i < end; i++ {
			bad[i] = byte(r.IntN(256))
		}
		return bad, fmt.Sprintf("bytes %d to %d became noise", at, end)
	}
}
