package journal_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	. "github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/journal/journaltest"
	"github.com/labtuner/tuner/loop/journal/store"
	"github.com/labtuner/tuner/scripts/testsize"
)

// garble damages b at random and says how.
func garble(r *rand.Rand, b []byte) (bad []byte, how string) {
	bad = bytes.Clone(b)
	at := r.IntN(len(b))
	if r.IntN(3) == 0 {
		at = r.IntN(100) // the header, where a byte says most
	}
	end := min(len(b), at+1+r.IntN(2000))
	switch r.IntN(6) {
	case 0:
		bad[at] ^= 1 << r.IntN(8)
		return bad, fmt.Sprintf("a bit of byte %d was flipped", at)
	case 1:
		bad[at] = byte(r.IntN(256))
		return bad, fmt.Sprintf("byte %d became %#x", at, bad[at])
	case 2:
		clear(bad[at:end])
		return bad, fmt.Sprintf("bytes %d to %d became zero", at, end)
	case 3:
		for i := at; i < end; i++ {
			bad[i] = byte(r.IntN(256))
		}
		return bad, fmt.Sprintf("bytes %d to %d became noise", at, end)
	case 4:
		return bad[:at], fmt.Sprintf("the file was cut at %d", at)
	default:
		const page = 4096
		p, q := r.IntN(len(b)/page)*page, r.IntN(len(b)/page)*page
		copy(bad[p:p+page], b[q:q+page])
		copy(bad[q:q+page], b[p:p+page])
		return bad, fmt.Sprintf("pages at %d and %d were exchanged", p, q)
	}
}

// A file that was damaged anywhere is refused, or Verify reports damage, or what it
// says is still all true. Reading alone may miss that the last rows of a table are
// gone, which the log of this test shows.
func TestGarbledFile(t *testing.T) {
	r := journaltest.Seed(t)
	const records = 60
	sound := closedDemo(t, records)
	path := filepath.Join(t.TempDir(), "x.db")
	write := func(b []byte) {
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(sound)
	want := mustDump(t, path)
	found, harmless, missed := 0, 0, 0
	kinds := journaltest.Outcomes{}
	rounds := journaltest.Rounds(t, testsize.Of(80, 250))
	for range rounds {
		bad, how := garble(r, sound)
		write(bad)
		reader, err := OpenReader(path)
		if err != nil {
			if _, ok := errors.AsType[*disk.Error](err); !ok {
				t.Errorf("%s: no words for %v", how, err)
			}
			found++
			kinds.Add(how, "refused")
			continue
		}
		got, derr := dump(reader)
		damage := reader.Verify()
		reader.Close()
		if derr == nil && got != want && damage == nil {
			t.Errorf("%s: nobody noticed: %s", how, journaltest.FirstDifference(got, want))
		}
		switch {
		case damage == nil && derr == nil:
			harmless++
			kinds.Add(how, "all still true")
		case derr == nil && got != want:
			missed++
			t.Logf("%s: only Verify noticed: %v; %s", how, damage[0], journaltest.FirstDifference(got, want))
			found++
			kinds.Add(how, "damage named by Verify alone")
		default:
			found++
			kinds.Add(how, "damage named")
		}
		if damage == nil && derr != nil {
			t.Errorf("%s: Verify found nothing, but reading failed: %v", how, derr)
		}
	}
	kinds.Log(t)
	t.Logf("%d found, %d of them by Verify alone; %d harmless", found, missed, harmless)
	if found < rounds/5 || harmless == 0 {
		t.Errorf("the damage was too strong or too weak to show anything: %d found, %d harmless", found, harmless)
	}
}

// A log that was damaged anywhere gives exactly the records before the damage.
func TestGarbledLog(t *testing.T) {
	r := journaltest.Seed(t)
	const records = 40
	dir := t.TempDir()
	source := filepath.Join(dir, "source.db")
	j, err := Create(source, journaltest.DemoRun(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	ends := []int64{} // where each record ends in the log
	dumps := []string{mustDump(t, source)}
	for i := range records {
		journaltest.PerformFrom(t, j, i, i+1)
		info, err := os.Stat(source + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		ends, dumps = append(ends, info.Size()), append(dumps, mustDump(t, source))
	}
	path := filepath.Join(dir, "x.db")
	journaltest.CopyFile(t, source, path)
	log := journaltest.CopyFile(t, source+"-wal", path+"-wal")
	kinds := journaltest.Outcomes{}
	for range journaltest.Rounds(t, testsize.Of(40, 120)) {
		bad, how := garble(r, log)
		first := firstChange(bad, log)
		n := 0 // records that end before the damage
		for n < records && ends[n] <= first {
			n++
		}
		if err := os.WriteFile(path+"-wal", bad, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(path + "-shm"); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		reader, err := OpenReader(path)
		if err != nil {
			t.Fatalf("%s: %v", how, err)
		}
		damage := reader.Verify()
		got, err := dump(reader)
		reader.Close()
		if damage != nil || err != nil || got != dumps[n] {
			t.Errorf("%s: %d records should be left; damage %v, %v, %s", how, n, damage, err, journaltest.FirstDifference(got, dumps[n]))
		}
		switch n {
		case 0:
			kinds.Add(how, "exact prefix, which is empty")
		case records:
			kinds.Add(how, "all records")
		default:
			kinds.Add(how, "exact prefix")
		}
	}
	kinds.Log(t)
}

// firstChange is where two files differ first, len(b) if they do not.
func firstChange(a, b []byte) int64 {
	for i := range b {
		if i >= len(a) || a[i] != b[i] {
			return int64(i)
		}
	}
	return int64(len(b))
}

// After a log was cut the run continues from the last record that is whole.
func TestResumeAfterCutLog(t *testing.T) {
	const records = 40
	source, j := journaltest.Demo(t, records)
	path := filepath.Join(t.TempDir(), "x.db")
	journaltest.CopyFile(t, source, path)
	log := journaltest.CopyFile(t, source+"-wal", path+"-wal")
	if err := os.Truncate(path+"-wal", int64(len(log))/2); err != nil {
		t.Fatal(err)
	}
	k, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	n, err := performed(journaltest.MustRead(t, path))
	if err != nil || n == 0 || n >= records {
		t.Fatalf("%d records of %d are left: %v", n, records, err)
	}
	journaltest.PerformFrom(t, k, n, records)
	if got, want := mustDump(t, path), mustDump(t, source); got != want {
		t.Errorf("continued and undisturbed differ: %s", journaltest.FirstDifference(got, want))
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// A length that was garbled asks for a value larger than SQLite gives: that is damage, and
// said to be. The query stands for such a row.
func TestGarbledLength(t *testing.T) {
	path, _ := journaltest.Demo(t, 3)
	err := journaltest.MustRead(t, path).Query(func(tx *sql.Tx) error {
		var huge []byte
		return tx.QueryRow("SELECT zeroblob(2000000000)").Scan(&huge)
	})
	if !errors.Is(err, store.ErrCorrupt) || !TooBig(err) {
		t.Errorf("got %v", err)
	}
}
