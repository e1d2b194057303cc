package web

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

// The same journal gives the same bytes, whatever order maps have.
func TestReportIsByteIdentical(t *testing.T) {
	r := labJournal(t, 30)
	var first []byte
	for range 20 {
		d, err := Collect(Source{Reader: r, Options: labOptions(), Picture: labPicture()})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := WriteReport(&b, d); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = b.Bytes()
		}
		if !bytes.Equal(first, b.Bytes()) {
			t.Fatal("two reports of one journal differ")
		}
	}
}

// The document comes through whole, whatever texts are in it, and nothing in the file
// points outside.
func TestReportHoldsItsDocument(t *testing.T) {
	d := labDocument(t, 30)
	var b bytes.Buffer
	if err := WriteReport(&b, d); err != nil {
		t.Fatal(err)
	}
	html := b.String()
	_, rest, _ := strings.Cut(html, `id="document">`)
	text, _, ok := strings.Cut(rest, "</script>")
	want, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	if !ok || text != string(want) {
		t.Errorf("the document in the file is %.200q", text)
	}
	if n := strings.Count(html, "<script"); n != 2 {
		t.Errorf("%d script elements, want 2", n)
	}
	if bad := regexp.MustCompile(`(?i)(src|href)\s*=\s*["']?(https?:)?//`).FindString(html); bad != "" {
		t.Errorf("the file loads from elsewhere: %q", bad)
	}
}
