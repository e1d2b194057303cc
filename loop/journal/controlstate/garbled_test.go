package controlstate

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/labtuner/tuner/loop/journal/journaltest"
	"github.com/labtuner/tuner/scripts/testsize"
)

// A control state of which one copy was damaged anywhere is the other copy's, latched and with
// nothing that allows more than that, and this is said; of which both were damaged is lost and
// said to be; of which none was is the newest. Nothing else ever comes of it.
func TestGarbledControl(t *testing.T) {
	r := journaltest.Seed(t)
	lost, older, newest := 0, 0, 0
	kinds := journaltest.Outcomes{}
	for range journaltest.Rounds(t, testsize.Of(500, 2000)) {
		m := &memory{files: map[string][]byte{}}
		c := &File{path: "x", files: m}
		writes := 1 + r.IntN(6)
		written := map[uint64]State{}
		for n := range writes {
			s := controlOf(r.IntN(1000))
			if r.IntN(2) == 0 {
				s.Latched, s.FirstOut, s.Mode = nil, nil, "RUN"
			}
			if err := c.Write(s); err != nil {
				t.Fatal(err)
			}
			written[uint64(n+1)] = c.State()
		}
		how, harmed := "", []string{}
		for _, name := range slices.Sorted(maps.Keys(m.files)) {
			if r.IntN(3) > 0 {
				bad, what := garble(r, m.files[name])
				m.files[name], how, harmed = bad, how+name+": "+what+"; ", append(harmed, what)
			}
		}
		outcome := "the newest state"
		again := &File{path: "x", files: m}
		err := again.load()
		got := again.State()
		switch {
		case errors.Is(err, ErrLost):
			lost++
			outcome = "lost, and said to be"
			if !reflect.DeepEqual(got, State{}) {
				t.Errorf("%s: lost, and yet %+v", how, got)
			}
		case err != nil:
			t.Errorf("%s: %v", how, err)
		case got.Generation == uint64(writes) && reflect.DeepEqual(got, written[got.Generation]):
			newest++
		default:
			older++
			outcome = "the other copy stands in, latched, and it is said"
			if bad := allowsMore(got, written[got.Generation]); bad != "" || len(got.Latched) == 0 || len(again.Notices()) != 1 {
				t.Errorf("%s: %+v stands in, %q, told %q", how, got, bad, again.Notices())
			}
		}
		for _, what := range harmed {
			kinds.Add(fmt.Sprintf("%s, in %s of %s", what, spell[len(harmed)], spell[len(m.files)]), outcome)
		}
	}
	kinds.Log(t)
	t.Logf("%d lost and said to be, %d by the other copy, %d newest", lost, older, newest)
	if lost == 0 || older == 0 || newest == 0 {
		t.Error("the damage was too strong or too weak to show anything")
	}
}

// allowsMore says what a state allows that another does not, "" if nothing.
func allowsMore(s, than State) string {
	for _, c := range than.Latched {
		if !slices.Contains(s.Latched, c) {
			return "what is not latched: " + c.String()
		}
	}
	for name, want := range than.Doses {
		d := s.Doses[name]
		if d.Total < want.Total || d.Used < want.Used || sum(d.Hour[:]) < sum(want.Hour[:]) || d.LastAt < want.LastAt || want.Open && !d.Open || want.Unknown && !d.Unknown {
			return fmt.Sprintf("a dose of %s: %+v, and %+v", name, d, want)
		}
	}
	if s.Run != "" && s.Run != than.Run {
		return "totals of another run"
	}
	if than.Underway && !s.Underway || len(s.Starts) < len(than.Starts) {
		return "a start"
	}
	return ""
}

func sum(x []float64) (total float64) {
	for _, v := range x {
		total += v
	}
	return total
}

// TestDamagedCopyStillCounts: of two states at random, the newer or the older with a checksum
// that does not hold any more, what comes back allows nothing that either does not, is latched,
// and is told; so it is after it was written anew, and where a copy is missing.
func TestDamagedCopyStillCounts(t *testing.T) {
	r := journaltest.Seed(t)
	random := func() State {
		s := controlOf(r.IntN(1000))
		if r.IntN(2) == 0 {
			s.Latched, s.FirstOut, s.Mode = nil, nil, "RUN"
		}
		if r.IntN(2) == 0 {
			d := s.Doses["calcium"]
			d.Open, d.Used, d.Number = true, r.Float64(), r.Int64N(5)
			s.Doses[[]string{"calcium", "iron"}[r.IntN(2)]] = d
		}
		s.Run, s.Underway = fmt.Sprint("run", r.IntN(2)), r.IntN(2) == 0
		s.At = time.Duration(r.Int64N(int64(30*time.Minute))) + time.Microsecond
		s.Starts = []time.Duration{s.At / 2, s.At}[:r.IntN(3)]
		return s
	}
	for n := range journaltest.Rounds(t, testsize.Of(500, 2000)) {
		m := &memory{files: map[string][]byte{}}
		c := &File{path: "x", files: m}
		var both []State
		for range 3 {
			if err := c.Write(random()); err != nil {
				t.Fatal(err)
			}
			both = append(both, c.State())
		}
		both = both[1:]
		hurt, missing := r.IntN(2), r.IntN(5) == 0
		name := c.copyName(both[hurt].Generation)
		m.files[name][len(m.files[name])-1] ^= 1
		if missing {
			delete(m.files, name)
		}
		again := &File{path: "x", files: m}
		if err := again.load(); err != nil {
			t.Fatal(err)
		}
		got := again.State()
		if len(again.Notices()) != 1 || len(got.Latched) == 0 || len(got.FirstOut) == 0 || got.Mode != "TRIPPED" {
			t.Fatalf("pair %d: %+v, told %q", n, got, again.Notices())
		}
		for i, s := range both {
			if bad := allowsMore(got, s); bad != "" && !(missing && i == hurt) {
				t.Fatalf("pair %d, copy %d damaged: it allows %s, which copy %d does not", n, hurt, bad, i)
			}
		}
		if err := again.Write(got); err != nil {
			t.Fatal(err)
		}
		healed := &File{path: "x", files: m}
		if err := healed.load(); err != nil || allowsMore(healed.State(), got) != "" || len(healed.Notices()) != 0 {
			t.Fatalf("pair %d, written anew: %+v, %v, %q", n, healed.State(), err, healed.Notices())
		}
	}
}

// garble damages a small file at random and says how.
func garble(r *rand.Rand, b []byte) (bad []byte, how string) {
	bad = bytes.Clone(b)
	at := r.IntN(len(b))
	if r.IntN(2) == 0 {
		at = r.IntN(min(len(b), 16)) // the frame, where a byte says most
	}
	switch r.IntN(5) {
	case 0:
		bad[at] ^= 1 << r.IntN(8)
		return bad, fmt.Sprintf("a bit of byte %d was flipped", at)
	case 1:
		return bad[:at], fmt.Sprintf("it was cut at %d", at)
	case 2:
		for i := at; i < len(bad) && i < at+1+r.IntN(200); i++ {
			bad[i] = byte(r.IntN(256))
		}
		return bad, fmt.Sprintf("noise from byte %d", at)
	case 3:
		return append(bad, bad[:at]...), fmt.Sprintf("%d bytes more", at)
	default:
		clear(bad[at:])
		return bad, fmt.Sprintf("zero from byte %d", at)
	}
}

// spell writes the numbers that are part of a kind of damage.
var spell = []string{"none", "one", "two"}
