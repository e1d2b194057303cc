package disk

import (
	"bytes"
	"io"
	"os"
)

// Content is what is known of the bytes of a database file that SQLite has open. A file can
// be overwritten in place, by a shell's > or by cp: then its name and inode number stay, and
// SQLite goes on in what is a file of other bytes. Two things tell: the file becomes shorter,
// which it never does by itself, or a mark that stays in one of its first pages, once the log
// has been moved into the file, has gone from it.
type Content struct {
	// file is open as long as the connection is: to close any descriptor of a file takes the
	// locks of all others of the process away.
	file *os.File
	id   FileID
	size int64
	// at is where the mark was seen, -1 before it was.
	at int64
}

// headBytes is how far the mark is looked for: a table that is made first has its first page
// near the beginning.
const headBytes = 1 << 20

// Watch begins to look at the file id at path. It must be the one that SQLite has open, and
// no connection to one that was watched before may be.
func (c *Content) Watch(path string, id FileID) error {
	if c.file != nil && c.id == id {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	c.End() // with a file to which no connection is open any more
	*c = Content{file: f, id: id, at: -1}
	return nil
}

// End ends it, once the connection is closed.
func (c *Content) End() {
	if c.file != nil {
		_ = c.file.Close() // it was only read
	}
	*c = Content{}
}

// Overwritten says that the open file is not what was written to it: it has become shorter,
// or mark has gone from it.
func (c *Content) Overwritten(mark string) (bool, error) {
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
		there := make([]byte, len(mark))
		if _, err := c.file.ReadAt(there, c.at); err == nil && string(there) == mark {
			return false, nil
		}
	}
	// Where its row was written anew, it stands elsewhere in its page.
	head := make([]byte, min(c.size, headBytes))
	if _, err := c.file.ReadAt(head, 0); err != nil && err != io.EOF {
		return false, err
	}
	at := int64(bytes.Index(head, []byte(mark)))
	gone := at < 0 && c.at >= 0
	if !gone {
		c.at = at
	}
	return gone, nil
}
