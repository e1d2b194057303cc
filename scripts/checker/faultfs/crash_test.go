package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// Each row does something and says what is seen before and after a power cut.
func TestCrashForgetsWhatWasNotSynced(t *testing.T) {
	for _, c := range []struct {
		name          string
		do            func(*rig)
		before, after string
	}{
		{"nothing", func(*rig) {}, "a=one d/ d/b=two", "a=one d/ d/b=two"},
		{"written over", func(r *rig) { r.write("a", "ONE") }, "a=ONE d/ d/b=two", "a=one d/ d/b=two"},
		{"written over and synced", func(r *rig) { r.write("a", "ONE!"); r.sync("a") }, "a=ONE! d/ d/b=two", "a=ONE! d/ d/b=two"},
		{"cut off", func(r *rig) { r.must(os.Truncate(r.path("a"), 1)) }, "a=o d/ d/b=two", "a=one d/ d/b=two"},
		{"cut off, longer again", func(r *rig) {
			r.must(os.Truncate(r.path("a"), 1))
			r.must(os.Truncate(r.path("a"), 3))
			r.sync("a")
		}, "a=o\x00\x00 d/ d/b=two", "a=o\x00\x00 d/ d/b=two"},
		{"new", func(r *rig) { r.write("c", "three") }, "a=one c=three d/ d/b=two", "a=one d/ d/b=two"},
		{"new and synced, its folder not", func(r *rig) { r.write("c", "three"); r.sync("c") }, "a=one c=three d/ d/b=two", "a=one d/ d/b=two"},
		{"new, only its folder synced", func(r *rig) { r.write("c", "three"); r.sync(".") }, "a=one c=three d/ d/b=two", "a=one c= d/ d/b=two"},
		{"new, both synced", func(r *rig) { r.durable("c", "three") }, "a=one c=three d/ d/b=two", "a=one c=three d/ d/b=two"},
		{"removed", func(r *rig) { r.must(os.Remove(r.path("a"))) }, "d/ d/b=two", "a=one d/ d/b=two"},
		{"removed and synced", func(r *rig) { r.must(os.Remove(r.path("a"))); r.sync(".") }, "d/ d/b=two", "d/ d/b=two"},
		{"removed in one folder, another synced", func(r *rig) { r.must(os.Remove(r.path("a"))); r.sync("d") }, "d/ d/b=two", "a=one d/ d/b=two"},
		{"renamed", func(r *rig) { r.must(os.Rename(r.path("a"), r.path("d/b"))) }, "d/ d/b=one", "a=one d/ d/b=two"},
		{"renamed, the new folder synced", func(r *rig) { r.must(os.Rename(r.path("a"), r.path("d/b"))); r.sync("d") }, "d/ d/b=one", "d/ d/b=one"},
		{"renamed, the old folder synced", func(r *rig) { r.must(os.Rename(r.path("a"), r.path("d/b"))); r.sync(".") }, "d/ d/b=one", "d/ d/b=one"},
		{"written anew beside and renamed, not synced before", func(r *rig) {
			r.write("c", "new")
			r.must(os.Rename(r.path("c"), r.path("a")))
			r.sync(".")
		}, "a=new d/ d/b=two", "a= d/ d/b=two"},
		{"linked", func(r *rig) { r.must(os.Link(r.path("a"), r.path("c"))); r.sync(".") }, "a=one c=one d/ d/b=two", "a=one c=one d/ d/b=two"},
		{"linked, not synced", func(r *rig) { r.must(os.Link(r.path("a"), r.path("c"))) }, "a=one c=one d/ d/b=two", "a=one d/ d/b=two"},
		{"written by another name", func(r *rig) {
			r.must(os.Link(r.path("a"), r.path("c")))
			r.sync(".")
			r.write("c", "ONE")
			r.sync("a")
		}, "a=ONE c=ONE d/ d/b=two", "a=ONE c=ONE d/ d/b=two"},
		{"a folder in a folder, the inner synced alone", func(r *rig) {
			r.must(os.Mkdir(r.path("e"), 0o755))
			r.durable("e/f", "in")
		}, "a=one d/ d/b=two e/ e/f=in", "a=one d/ d/b=two"},
		{"a folder in a folder, the outer synced later", func(r *rig) {
			r.must(os.Mkdir(r.path("e"), 0o755))
			r.durable("e/f", "in")
			r.sync(".")
		}, "a=one d/ d/b=two e/ e/f=in", "a=one d/ d/b=two e/ e/f=in"},
		{"a folder moved", func(r *rig) {
			r.must(os.Mkdir(r.path("e"), 0o755))
			r.must(os.Rename(r.path("d"), r.path("e/d")))
			r.sync("e")
		}, "a=one e/ e/d/ e/d/b=two", "a=one e/ e/d/ e/d/b=two"},
		{"a folder removed", func(r *rig) {
			r.must(os.Remove(r.path("d/b")))
			r.must(os.Remove(r.path("d")))
		}, "a=one", "a=one d/ d/b=two"},
		{"a symbolic link", func(r *rig) { r.must(os.Symlink("a", r.path("s"))); r.sync(".") }, "a=one d/ d/b=two s->a", "a=one d/ d/b=two s->a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := mount(t)
			r.must(os.Mkdir(r.path("d"), 0o755))
			r.durable("a", "one")
			r.durable("d/b", "two")
			r.sync(".")
			c.do(r)
			r.want(c.before)
			r.tell("crash")
			r.want(c.after)
			if s := r.tell("stats"); !strings.Contains(s, "unsynced: files=0 pages=0 names=0") || !strings.Contains(s, "crashes=1") {
				t.Errorf("after the crash: %s", s)
			}
			r.end() // and the backing folder holds just that
			r.dir = r.backing
			r.want(c.after)
		})
	}
}

func TestEndKeepsEverything(t *testing.T) {
	r := mount(t)
	r.must(os.Mkdir(r.path("d"), 0o750))
	r.write("d/a", "unsynced")
	r.must(os.Chmod(r.path("d/a"), 0o604))
	r.end()
	r.start()
	r.want("d/ d/a=unsynced")
	for name, mode := range map[string]os.FileMode{"d": 0o750, "d/a": 0o604} {
		info, err := os.Stat(r.path(name))
		r.must(err)
		if info.Mode().Perm() != mode {
			t.Errorf("%s has mode %s, wanted %s", name, info.Mode(), mode)
		}
	}
}

// A handle from before the power cut serves nothing.
func TestHandlesFromBeforeACrash(t *testing.T) {
	r := mount(t)
	r.durable("a", "one")
	f, err := os.OpenFile(r.path("a"), os.O_RDWR, 0)
	r.must(err)
	defer f.Close()
	folder, err := os.Open(r.dir)
	r.must(err)
	defer folder.Close()
	r.tell("crash")
	if _, err := f.WriteAt([]byte("ONE"), 0); err == nil {
		t.Error("it writes")
	}
	if err := f.Sync(); err == nil {
		t.Error("it syncs")
	}
	if err := folder.Sync(); err == nil {
		t.Error("the folder syncs")
	}
	r.want("a=one")
	r.write("a", "new")
	r.want("a=new")
}

// What survives by chance is decided by the seed alone, differs from seed to seed,
// and is never anything but old or new sectors.
func TestSeedsTear(t *testing.T) {
	const length = 40 * sectorSize
	seen := map[string]bool{}
	again := map[uint64]string{}
	r := mount(t)
	for i := range 60 {
		seed := uint64(i % 30)
		r.durable("a", strings.Repeat("o", length))
		f, err := os.OpenFile(r.path("a"), os.O_RDWR, 0)
		r.must(err)
		for at := int64(0); at < length; at += length / 2 {
			_, err := f.WriteAt([]byte(strings.Repeat("n", length/2)), at)
			r.must(err)
		}
		r.must(f.Close())
		said := r.tell(fmt.Sprint("crash ", seed))
		data, err := os.ReadFile(r.path("a"))
		r.must(err)
		var pattern strings.Builder
		for at := 0; at < len(data); at += sectorSize {
			sector := string(data[at : at+sectorSize])
			if strings.Trim(sector, "o") != "" && strings.Trim(sector, "n") != "" {
				t.Fatalf("seed %d: a sector of both at %d", seed, at)
			}
			pattern.WriteString(sector[:1])
		}
		if len(data) != length {
			t.Fatalf("seed %d: %d bytes: %s", seed, len(data), said)
		}
		if was, ok := again[seed]; ok && was != pattern.String() {
			t.Errorf("seed %d left %s, then %s", seed, was, pattern.String())
		}
		again[seed] = pattern.String()
		seen[pattern.String()] = true
	}
	if len(seen) < 10 || !seen[strings.Repeat("o", 40)] {
		t.Errorf("%d outcomes of 30 seeds, all lost among them: %t", len(seen), seen[strings.Repeat("o", 40)])
	}
}

func TestFull(t *testing.T) {
	r := mount(t)
	r.durable("a", "one")
	r.tell("full on")
	for what, err := range map[string]error{
		"a new file":   os.WriteFile(r.path("b"), nil, 0o644),
		"a new folder": os.Mkdir(r.path("d"), 0o755),
		"a link":       os.Link(r.path("a"), r.path("c")),
		"at the end":   appendTo(r.path("a"), "more"),
		"lengthened":   os.Truncate(r.path("a"), 10),
	} {
		if !isErrno(err, syscall.ENOSPC) {
			t.Errorf("%s: %v", what, err)
		}
	}
	f, err := os.OpenFile(r.path("a"), os.O_RDWR, 0)
	r.must(err)
	_, err = f.WriteAt([]byte("ONE"), 0) // in place
	r.must(err)
	r.must(f.Sync())
	r.must(f.Close())
	r.must(os.Rename(r.path("a"), r.path("b")))
	var st syscall.Statfs_t
	r.must(syscall.Statfs(r.dir, &st))
	if st.Bavail != 0 || st.Bfree != 0 || st.Blocks == 0 {
		t.Errorf("statfs: %+v", st)
	}
	r.tell("full off")
	r.must(appendTo(r.path("b"), "more"))
	r.want("b=ONEmore")
	r.must(syscall.Statfs(r.dir, &st))
	if st.Bavail == 0 {
		t.Error("statfs still says full")
	}
}

func appendTo(path, data string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(data)
	return err
}

func isErrno(err error, no syscall.Errno) bool {
	return err != nil && strings.HasSuffix(err.Error(), no.Error())
}

// A sync that failed has put nothing on the disk; one that succeeds later has.
func TestErrors(t *testing.T) {
	r := mount(t)
	r.durable("a", "one")
	r.must(appendTo(r.path("a"), "+"))
	r.write("b", "")
	r.tell("errors on")
	for what, err := range map[string]error{"write": appendTo(r.path("a"), "more"), "fsync": syncPath(r.path("a")), "fsync of the folder": syncPath(r.dir)} {
		if !isErrno(err, syscall.EIO) {
			t.Errorf("%s: %v", what, err)
		}
	}
	r.tell("errors off")
	r.want("a=one+ b=")
	r.sync("a")
	r.tell("crash")
	r.want("a=one+")
}

func TestSlow(t *testing.T) {
	r := mount(t)
	r.tell("slow 100")
	r.timed(300, 5000, func() { r.durable("a", "one") }) // a write and two syncs
	r.tell("slow 0")
	r.timed(0, 250, func() { r.durable("a", "one") }) // a hundredth of it is usual
}

func TestControlRefuses(t *testing.T) {
	r := mount(t)
	for _, command := range []string{"", "full", "full yes", "slow -1", "slow 60001", "crash x", "stats now", "mend"} {
		fmt.Fprintln(r.conn, command)
		line, err := r.said.ReadString('\n')
		r.must(err)
		if !strings.HasPrefix(line, "error ") {
			t.Errorf("%q: %s", command, line)
		}
	}
}

// One that was killed leaves a dead mount, which the next one replaces.
func TestStartOverADeadMount(t *testing.T) {
	r := mount(t)
	r.durable("a", "one")
	r.write("a", "unsynced")
	r.must(r.cmd.Process.Kill())
	r.cmd.Wait()
	r.start()
	r.want("a=one")
}
