package exec

import (
	"os"
	"path/filepath"
	"testing"
)

// TestIdentity: one program is the same by whatever name and from whatever folder, as far as
// nothing of it depends on that; other arguments, environments and folders make another.
func TestIdentity(t *testing.T) {
	here, far := t.TempDir(), t.TempDir()
	plant := filepath.Join(here, "plant.py")
	if err := os.WriteFile(plant, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(plant, filepath.Join(far, "link.py")); err != nil {
		t.Fatal(err)
	}
	of := func(base string, command ...string) Options { return Options{Command: command, Base: base} }
	with := func(o Options, dir string, env map[string]string) Options { o.Dir, o.Env = dir, env; return o }
	for _, c := range []struct {
		name string
		a, b Options
		same bool
	}{
		{"by a link", of(here, "./plant.py", "--port", "3"), of(far, "./link.py", "--port", "3"), true},
		{"a file as argument", of(here, "sh", "plant.py"), of(far, "/bin/sh", plant), true},
		{"another port", of(here, "./plant.py", "--port", "3"), of(here, "./plant.py", "--port", "4"), false},
		{"one argument or two", of(here, "sh", "-c", "a"), of(here, "sh", "-c a"), false},
		{"a word, in another folder", of(here, "sh", "new.log"), of(far, "sh", "new.log"), false},
		{"a word, in the same folder", of(here, "sh", "new.log"), of(here+"/.", "sh", "new.log"), true},
		{"a folder that is asked for", of(here, "./plant.py"), with(of(here, "./plant.py"), far, nil), false},
		{"another environment", with(of(here, "sh"), "", map[string]string{"PORT": "1"}), with(of(here, "sh"), "", map[string]string{"PORT": "2"}), false},
	} {
		if a, b := c.a.identity(), c.b.identity(); (a == b) != c.same {
			t.Errorf("%s: %s and %s", c.name, a, b)
		}
	}
}

// A file may lack the command: check says so, and nothing breaks before it does.
func TestIdentityWithoutCommand(t *testing.T) {
	if got := (Options{}).identity(); got != "" {
		t.Errorf("identity %q, want none", got)
	}
}
