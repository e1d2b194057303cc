package wire

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestQuoteEnds: of a long text the beginning and the end are shown.
func TestQuoteEnds(t *testing.T) {
	long := strings.Repeat("in a frame of a call, ", 50) + "ValueError: the shutter is closed"
	if got := QuoteEnds([]byte(long)); !strings.Contains(got, "the shutter is closed") || !strings.HasPrefix(got, `"in a frame`) || len(got) > 400 {
		t.Errorf("%s", got)
	}
	if got := QuoteEnds([]byte("short")); got != `"short"` {
		t.Errorf("%s", got)
	}
}

func TestLines(t *testing.T) {
	full := strings.Repeat("x", MaxLine-1) // with its line feed, just not too long
	for name, c := range map[string]struct {
		in   string
		want []string
		end  error
	}{
		"none":              {"", nil, io.EOF},
		"two":               {"a\nbc\n", []string{"a", "bc"}, io.EOF},
		"empty":             {"\n\n", []string{"", ""}, io.EOF},
		"cut":               {"a\nbc", []string{"a"}, io.ErrUnexpectedEOF},
		"longest":           {full + "\n" + full + "\n", []string{full, full}, io.EOF},
		"one byte too long": {"a\n" + full + "x\n", []string{"a"}, ErrTooLong},
	} {
		for how, r := range map[string]io.Reader{"at once": strings.NewReader(c.in), "byte by byte": iotest.OneByteReader(strings.NewReader(c.in))} {
			lines := NewLines(r)
			for i, want := range c.want {
				got, err := lines.Next()
				if err != nil || string(got) != want {
					t.Errorf("%s, %s: line %d is %s, %v", name, how, i+1, Quote(got), err)
				}
			}
			if got, err := lines.Next(); !errors.Is(err, c.end) {
				t.Errorf("%s, %s: the end is %s, %v; want %v", name, how, Quote(got), err, c.end)
			}
		}
	}
}

// A line without end must be refused after MaxLine bytes of it, not stored.
func TestLinesHoldLittle(t *testing.T) {
	r := &endless{}
	if _, err := NewLines(r).Next(); !errors.Is(err, ErrTooLong) {
		t.Fatalf("an endless line: %v", err)
	}
	if r.given > 2*MaxLine {
		t.Errorf("%d bytes were taken before a line was refused that may have %d", r.given, MaxLine)
	}
}

// endless gives one line for ever.
type endless struct{ given int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	e.given += len(p)
	return len(p), nil
}

// FuzzLines compares with a plain split, whatever pieces the bytes come in.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nbc\n\nd"), 1)
	f.Add([]byte("\n"), 3)
	f.Add([]byte(strings.Repeat("x", 300)+"\r\n"), 7)
	f.Fuzz(func(t *testing.T, data []byte, piece int) {
		if len(data) >= MaxLine || piece < 1 {
			return
		}
		want := strings.Split(string(data), "\n")
		rest := want[len(want)-1]
		lines := NewLines(&pieces{data, piece})
		for i, line := range want[:len(want)-1] {
			if got, err := lines.Next(); err != nil || string(got) != line {
				t.Fatalf("line %d is %q, %v; want %q", i+1, got, err, line)
			}
		}
		got, err := lines.Next()
		if string(got) != rest || (rest == "" && !errors.Is(err, io.EOF)) || (rest != "" && !errors.Is(err, io.ErrUnexpectedEOF)) {
			t.Fatalf("the rest is %q, %v; want %q", got, err, rest)
		}
	})
}

// pieces gives data a few bytes at a time.
type pieces struct {
	data []byte
	size int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.data) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.data[:min(p.size, len(p.data))])
	p.data = p.data[n:]
	return n, nil
}

func TestQuote(t *testing.T) {
	if got := Quote([]byte("a\x00\"b\n")); got != `"a\x00\"b\n"` {
		t.Errorf("Quote gives %s", got)
	}
	if got := Quote([]byte(strings.Repeat("a", 1000))); len(got) > 110 || !strings.HasSuffix(got, "... (1000 bytes)") {
		t.Errorf("Quote of a long text gives %s", got)
	}
}
