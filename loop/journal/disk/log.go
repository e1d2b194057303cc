package disk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
)

// Log is what is known of the bytes of a database's log, which can be emptied or overwritten in
// place as the database can (see Content). Its index, the -shm, says what SQLite has written:
// how many frames, under which salt, and the checksum of the last. A frame is written before
// the index counts it, and the index is emptied before the log is, so that a log which has less
// is not what was written.
type Log struct {
	// log and index are open as long as the connection is, because of its locks.
	log, index     *os.File
	logID, indexID FileID
	// seen is the last frame that there was.
	seen tail
}

// The layout of the log and of the two copies of the index's header
// (https://www.sqlite.org/walformat.html).
const (
	logHeader, frameHeader, indexHeader        = 32, 24, 48
	indexIsInit, indexPage, indexFrames        = 12, 14, 16
	indexSum, indexSalt                        = 24, 32
	logSalt, frameSalt, frameSum, twoWordBytes = 16, 8, 16, 8
)

// Watch begins to look at the log and the index of the database at path, which must be those
// that SQLite has open; no connection to those that were watched before may be.
func (l *Log) Watch(path string, log, index FileID) error {
	if l.log != nil && l.logID == log && l.indexID == index {
		return nil
	}
	l.End()
	f, err := os.Open(path + "-wal")
	if err != nil {
		return err
	}
	g, err := os.Open(path + "-shm")
	if err != nil {
		return errors.Join(err, f.Close())
	}
	*l = Log{log: f, index: g, logID: log, indexID: index}
	return nil
}

// End ends it, once the connection is closed.
func (l *Log) End() {
	if l.log != nil {
		_, _ = l.log.Close(), l.index.Close() // they were only read
	}
	*l = Log{}
}

// Overwritten says that the open log is not what was written to it.
func (l *Log) Overwritten() (bool, error) {
	if l.log == nil {
		return false, nil
	}
	var before, after [2 * indexHeader]byte
	if err := readAt(l.index, before[:], 0); err != nil {
		return false, err
	}
	t := tailOf(before[:])
	if t.frames == 0 {
		l.seen = t
		return false, nil
	}
	holds, err := l.holds(t)
	if holds && err == nil && l.seen.frames > 0 && l.seen.salt == t.salt { // what was last then may have been cut off since, and more written behind it
		holds, err = l.holds(l.seen)
	}
	if holds {
		l.seen = t
	}
	if holds || err != nil {
		return false, err
	}
	err = readAt(l.index, after[:], 0)
	return err == nil && before == after, err // else another process has written meanwhile
}

// tail is the last of a number of frames in a log.
type tail struct {
	frames, page int64
	salt, sum    [twoWordBytes]byte
}

// tailOf is what a header of the index tells of; one without frames where it is being written,
// or nothing is in the log.
func tailOf(h []byte) (t tail) {
	if !bytes.Equal(h[:indexHeader], h[indexHeader:]) || h[indexIsInit] == 0 {
		return t
	}
	t.frames, t.page = int64(binary.NativeEndian.Uint32(h[indexFrames:])), int64(binary.NativeEndian.Uint16(h[indexPage:]))
	if t.page == 1 {
		t.page = 1 << 16
	}
	copy(t.salt[:], h[indexSalt:])
	for i := 0; i < len(t.sum); i += 4 {
		binary.BigEndian.PutUint32(t.sum[i:], binary.NativeEndian.Uint32(h[indexSum+i:]))
	}
	return t
}

// holds says that the log has the frame.
func (l *Log) holds(t tail) (bool, error) {
	var head [logHeader]byte
	var last [frameHeader]byte
	err := errors.Join(readAt(l.log, head[:], 0), readAt(l.log, last[:], logHeader+(t.frames-1)*(frameHeader+t.page)))
	return [twoWordBytes]byte(head[logSalt:]) == t.salt && [twoWordBytes]byte(last[frameSalt:]) == t.salt && [twoWordBytes]byte(last[frameSum:]) == t.sum, err
}

// readAt reads b at an offset; what lies beyond the file's end is zero.
func readAt(f *os.File, b []byte, at int64) error {
	if _, err := f.ReadAt(b, at); err != nil && err != io.EOF {
		return err
	}
	return nil
}
