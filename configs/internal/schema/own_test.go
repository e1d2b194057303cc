package schema

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// oven is a section with a section of its own in it; heat and shelf have the keys of it that
// another package acts on.
type oven struct {
	Name  string           `toml:"name" required:"true" doc:"its name"`
	Shelf map[string]shelf `toml:"shelf" doc:"one shelf"`
}

type shelf struct {
	Depth float64 `toml:"depth" default:"2.5" unit:"cm" bound:"> 0" doc:"how deep"`
}

type heat struct {
	Wait  time.Duration `toml:"wait" default:"3s" bound:"> 0s" reload:"smaller" doc:"how long"`
	Limit float64       `toml:"limit" zero:"absent" unit:"degC" bound:"> 0" doc:"how hot; absent: any"`
	other int           // no key
}

type load struct {
	Most int `toml:"most" default:"4" reload:"larger" doc:"how many"`
}

type top struct {
	Oven oven `toml:"oven" doc:"the oven"`
}

// owners gives the structs of a test, which it also returns.
func owners() (*heat, map[string]*load, Owner) {
	h, loads := &heat{other: 7}, map[string]*load{}
	return h, loads, func(section any, name string) []any {
		switch section.(type) {
		case *oven:
			return []any{h}
		case *shelf:
			loads[name] = &load{}
			return []any{loads[name]}
		}
		return nil
	}
}

// read walks a text over a top.
func read(t *testing.T, text string, own Owner) (*top, *Walker) {
	t.Helper()
	tree, keys, problem := Decode(text)
	if problem != nil {
		t.Fatal(problem)
	}
	c := &top{}
	SetDefaults(c)
	w := NewWalker(NewLocator("f.toml", text, tree, keys), nil, own)
	w.Section(reflect.ValueOf(c).Elem(), tree, "")
	return c, w
}

// TestOwnersAreFilled: keys that others act on go into their structs, with defaults where the
// file has none, and are listed with their line before the sections within.
func TestOwnersAreFilled(t *testing.T) {
	h, loads, own := owners()
	c, w := read(t, "[oven]\nname = \"a\"\nlimit = 200\n[oven.shelf.\"the top\"]\nmost = 9\n[oven.shelf.low]\n", own)
	if len(w.Problems) > 0 {
		t.Fatal(w.Problems)
	}
	if *h != (heat{Wait: 3 * time.Second, Limit: 200, other: 7}) || loads["the top"].Most != 9 || loads["low"].Most != 4 {
		t.Errorf("filled: %+v, %+v, %+v", *h, loads["the top"], loads["low"])
	}
	owned := w.Snapshot()
	h.Limit = 1 // what the owner does with it later is not what the file says
	var got []string
	for _, s := range Effective(c, owned, w.Loc) {
		got = append(got, s.Key+" = "+s.Value+" "+strings.TrimPrefix(s.Origin, "f.toml"))
	}
	want := []string{`oven.name = "a" :2`, `oven.wait = "3s" default`, `oven.limit = 200.0 :3`, "oven.shelf.low.depth = 2.5 default", "oven.shelf.low.most = 4 default",
		`oven.shelf."the top".depth = 2.5 default`, `oven.shelf."the top".most = 9 :5`}
	slices.Sort(got[3:])
	slices.Sort(want[3:])
	if !slices.Equal(got, want) {
		t.Errorf("effective:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestOwnersWithoutTheFile: a key that the file does not have has its default, and one whose
// zero value stands for none is not listed.
func TestOwnersWithoutTheFile(t *testing.T) {
	h, _, own := owners()
	c, w := read(t, "", own)
	if h.Wait != 3*time.Second {
		t.Errorf("wait is %v", h.Wait)
	}
	for _, s := range Effective(c, w.Snapshot(), w.Loc) {
		if s.Key == "oven.limit" {
			t.Errorf("listed: %+v", s)
		}
	}
}

// TestOwnersProblems: a key of an owner is held to its tags, and serves the did-you-mean.
func TestOwnersProblems(t *testing.T) {
	_, _, own := owners()
	_, w := read(t, "[oven]\nname = \"a\"\nwait = \"0s\"\nlimt = 3\n[oven.shelf.low]\nmots = 1\n", own)
	var got []string
	for _, p := range Sorted(w.Problems) {
		got = append(got, p.String()+" | "+p.Hint)
	}
	want := []string{"f.toml:3: oven.wait: must be > 0s, got 0s | ", `f.toml:4: oven.limt: unknown key | did you mean "limit"?`,
		`f.toml:6: oven.shelf.low.mots: unknown key | did you mean "most"?`}
	if !slices.Equal(got, want) {
		t.Errorf("problems:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestOwnersAreDocumented: their keys are in the reference, and found by a tag.
func TestOwnersAreDocumented(t *testing.T) {
	_, _, own := owners()
	var keys []string
	for _, d := range ReferenceOf("", &top{}, nil, own) {
		keys = append(keys, d.Section+" "+d.Key+" "+d.Default)
	}
	if want := []string{"[oven] name required", `[oven] wait "3s"`, "[oven] limit ", "[oven.shelf.NAME] depth 2.5", "[oven.shelf.NAME] most 4"}; !slices.Equal(keys, want) {
		t.Errorf("documented: %q, want %q", keys, want)
	}
	if got, want := Tagged(&top{}, "reload", own), [][2]string{{"oven.wait", "smaller"}, {"oven.shelf.*.most", "larger"}}; len(got) != 2 || !slices.Contains(got, want[0]) || !slices.Contains(got, want[1]) {
		t.Errorf("tagged: %q, want %q", got, want)
	}
}

// TestDefaultsOfTags: a default that its field cannot have is a slip in this program, and is
// not passed over.
func TestDefaultsOfTags(t *testing.T) {
	var all struct {
		Text  string        `toml:"text" default:"a b"`
		Flag  bool          `toml:"flag" default:"true"`
		Count uint16        `toml:"count"`
		Whole int64         `toml:"whole" default:"-3"`
		Time  time.Duration `toml:"time" default:"250ms"`
		List  []string      `toml:"list" default:"[]"`
	}
	SetDefaults(&all)
	if all.Text != "a b" || !all.Flag || all.Whole != -3 || all.Time != 250*time.Millisecond || all.List == nil {
		t.Errorf("defaults: %+v", all)
	}
	defer func() {
		if recover() == nil {
			t.Error("a default that cannot be read was passed over")
		}
	}()
	SetDefaults(&struct {
		Time time.Duration `toml:"time" default:"soon"`
	}{})
}
