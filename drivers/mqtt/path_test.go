package mqtt

import (
	"encoding/json"
	"testing"

	"github.com/labtuner/tuner/drivers/exec/wire"
)

func TestPathFinds(t *testing.T) {
	const doc = `{"value":1,"a":{"b":[10,[20,{"c":30}]],"":4},"list":[{"x":5}],"text":"6.5","ok":true}`
	root, err := wire.Value([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]float64{
		"value": 1, "a.b[0]": 10, "a.b[1][0]": 20, "a.b[1][1].c": 30, "list[0].x": 5, "text": 6.5,
	} {
		p, err := parsePath(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		v, there := p.find(root)
		if number, err := numberOf(v); !there || err != nil || number != want {
			t.Errorf("%s: %v, %v, %v; want %v", text, v, there, err, want)
		}
	}
	for _, text := range []string{"missing", "value.x", "a.b[2]", "a[0]", "list.x", "list[0][0]", "Value"} {
		p, err := parsePath(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if v, there := p.find(root); there {
			t.Errorf("%s: found %v where there is nothing", text, v)
		}
	}
	for _, text := range []string{"a", "ok", "list"} {
		p, _ := parsePath(text)
		v, _ := p.find(root)
		if _, err := numberOf(v); err == nil {
			t.Errorf("%s: %v passes as a number", text, v)
		}
	}
	// What is no number is shown as it was sent.
	for _, text := range []string{"null", "true", "[1,2]"} {
		v, err := wire.Value([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := numberOf(v); err == nil || err.Error() != `"`+text+`" is not a number` {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestPathRefuses(t *testing.T) {
	for _, text := range []string{".", "a.", ".a", "a..b", "a[", "a[]", "a[x]", "a[-1]", "a[0", "a[0]b", "a[0]]", "a[10000]", "a.[0]", "a[0][", "a[ 1]"} {
		if p, err := parsePath(text); err == nil {
			t.Errorf("%q passes as %v", text, p)
		}
	}
	if p, err := parsePath(""); err != nil || p != nil {
		t.Errorf("the empty path is %v, %v", p, err)
	}
	if p, err := parsePath("[2].x"); err != nil || len(p) != 2 {
		t.Errorf("an index at first: %v, %v", p, err)
	}
}

func TestPathPuts(t *testing.T) {
	var root any
	for _, put := range []struct {
		path string
		v    float64
	}{{"a.b[2]", 1}, {"a.b[0].c", 2}, {"d", 3}} {
		p, err := parsePath(put.path)
		if err != nil {
			t.Fatal(err)
		}
		root = p.put(root, put.v)
	}
	got, err := json.Marshal(root)
	if err != nil || string(got) != `{"a":{"b":[{"c":2},null,1]},"d":3}` {
		t.Errorf("%s, %v", got, err)
	}
}

// FuzzPath checks that a number put at any path is found there again.
func FuzzPath(f *testing.F) {
	for _, text := range []string{"value", "a.b[2].c", "[0][1]", "", "a[9999]", "a.[0]", "ä.ö"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parsePath(text)
		if err != nil {
			return
		}
		v, there := p.find(p.put(nil, 7.0))
		if !there || v != 7.0 {
			t.Errorf("%q: put and not found: %v, %v", text, v, there)
		}
	})
}
