package journal

import (
	"bytes"
	"io"
	"os"

	"github.com/labtuner/tuner/loop/journal/disk"
)

// A journal can be overwritten in place, by a shell's > or by cp: then the name and the
// inode number stay, and SQLite goes on in what is a file of other bytes. Two things that
// only grow tell: the length of the file, and the run's id, which stands in its page once
// the log has been moved into the file.

// content is what is known of the bytes of the open file.
type content struct {
	// file is open as long as the connection is: to close any descriptor of a file takes the
	// locks of all others of the process away.
	file *os.File
	id   disk.FileID
	size int64
	// at is where the run's id was seen, -1 before it was.
	at int64
}

// headBytes is how far the run's id is looked for: the tables are made before any step is
// recorded, so their first pages are the file's first.
const headBytes = 1 << 20

// watch begins to look at the open file id at path.
func (c *content) watch(path string, id disk.FileID) error {
	if c.file != nil && c.id == id {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	c.end() // with a file to which no connection is open any more
	*c = content{file: f, id: id, at: -1}
	return nil
}

// end ends it, once the connection is closed.
func (c *content) end() {
	if c.file != nil {
		_ = c.file.Close() // it was only read
	}
	*c = content{}
}

// overwritten says that the open file is not what was written to it: it has become shorter,
// or the id of the run has gone from it.
func (c *content) overwritten(run string) (bool, error) {
	if c.file == nil {
		return false, nil
	}
	info, err := c.file.Stat()
	if err != nil {
		return false, err
	}
	if info.Size() < c.size {
		return true, nil
	}
	c.size = info.Size()
	if c.at >= 0 {
		there := make([]byte, len(run))
		if _, err := c.file.ReadAt(there, c.at); err == nil && string(there) == run {
			return false, nil
		}
	}
	// Where its row was written anew, the id stands elsewhere in its page.
	head := make([]byte, min(c.size, headBytes))
	if _, err := c.file.ReadAt(head, 0); err != nil && err != io.EOF {
		return false, err
	}
	at := int64(bytes.Index(head, []byte(run)))
	gone := at < 0 && c.at >= 0
	if !gone {
		c.at = at
	}
	return gone, nil
}
