package controlstate

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/labtuner/tuner/loop/journal/disk"
)

// TestControlOfAnother: what root writes into the folder of a service's user is that
// user's, who must be able to read it at the next start.
func TestControlOfAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root writes for others")
	}
	const user = 61234
	dir := t.TempDir()
	if err := os.Chown(dir, user, user); err != nil {
		t.Fatal(err)
	}
	c, err := Open(filepath.Join(dir, "x.control"), disk.Holder{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Write(State{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"x.control-a", "x.control-b"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if os.IsNotExist(err) {
			continue // the first generation is in one of them
		}
		if err != nil {
			t.Fatal(err)
		}
		if st := info.Sys().(*syscall.Stat_t); st.Uid != user || st.Gid != user {
			t.Errorf("%s belongs to %d:%d", name, st.Uid, st.Gid)
		}
	}
}
