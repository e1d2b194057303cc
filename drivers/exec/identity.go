package exec

import (
	"fmt"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// identity tells the program that would be started from others, however a file names it: the
// program and the arguments that are files, with links resolved, and the environment that the
// file gives. The folder that it runs in counts where something may depend on it: where a
// folder is asked for, or an argument is a word that may name a file there. Without a command,
// which check refuses, it is "".
func (o Options) identity() string {
	if len(o.Command) == 0 {
		return ""
	}
	depends := o.Dir != ""
	name := o.program()
	if path, err := osexec.LookPath(name); err == nil {
		name = path
	}
	parts := []string{resolved(name)}
	for _, arg := range o.Command[1:] {
		path := resolved(o.inFolder(arg))
		_, notNumber := strconv.ParseFloat(arg, 64)
		switch {
		case path != "" && arg != "":
			arg = path
		case !filepath.IsAbs(arg) && !strings.HasPrefix(arg, "-") && notNumber != nil:
			depends = true
		}
		parts = append(parts, arg)
	}
	for key, value := range o.Env {
		parts = append(parts, key+"="+value)
	}
	slices.Sort(parts[len(o.Command):])
	if depends {
		parts = append(parts, resolved(absolute(o.folder())))
	}
	return fmt.Sprintf("%q", parts)
}

// inFolder is a name as the child would find it.
func (o Options) inFolder(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(absolute(o.folder()), name)
}

// resolved is the file that a name stands for, without links, "" where there is none.
func resolved(name string) string {
	path, err := filepath.EvalSymlinks(name)
	if err != nil {
		return ""
	}
	return absolute(path)
}
