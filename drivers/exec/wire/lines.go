package wire

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// MaxLine is the longest line of a protocol, its line feed included, in bytes.
const MaxLine = 64 << 10

// ErrTooLong says that a line is longer than MaxLine.
var ErrTooLong = fmt.Errorf("line longer than %d bytes", MaxLine)

// Lines splits a stream into lines and holds at most MaxLine bytes of it.
type Lines struct {
	r *bufio.Reader
}

// NewLines reads lines from r.
func NewLines(r io.Reader) *Lines {
	return &Lines{r: bufio.NewReaderSize(r, MaxLine)}
}

// Next returns the next line without its line feed. The slice is valid until
// the next call. At the end of the stream the error is io.EOF, or
// io.ErrUnexpectedEOF with the bytes of a line that has no line feed. A line
// longer than MaxLine gives its beginning and ErrTooLong as soon as MaxLine
// bytes of it have come; the reader is of no use after it.
func (l *Lines) Next() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	switch {
	case err == nil:
		return line[:len(line)-1], nil
	case errors.Is(err, bufio.ErrBufferFull):
		return line, ErrTooLong
	case errors.Is(err, io.EOF) && len(line) > 0:
		return line, io.ErrUnexpectedEOF
	}
	return nil, err
}

// Excerpt is the number of bytes of foreign text that an error message shows.
const Excerpt = 80

// Ends of a long text that QuoteEnds shows, in bytes: what went wrong stands at the end of what
// programs say.
const startShown, endShown = Excerpt, 3 * Excerpt

// QuoteEnds shows a foreign text in a message: quoted, its middle left out where it is long.
func QuoteEnds(b []byte) string {
	if len(b) <= startShown+endShown {
		return fmt.Sprintf("%q", b)
	}
	return fmt.Sprintf("%q ... %q (%d bytes)", b[:startShown], b[len(b)-endShown:], len(b))
}

// Quote shows foreign bytes in a message: quoted, and cut after Excerpt bytes.
func Quote(b []byte) string {
	if len(b) <= Excerpt {
		return fmt.Sprintf("%q", b)
	}
	return fmt.Sprintf("%q... (%d bytes)", b[:Excerpt], len(b))
}
