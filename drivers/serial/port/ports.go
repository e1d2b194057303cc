package port

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	bugst "go.bug.st/serial"
	"golang.org/x/sys/unix"
)

// byID is where Linux keeps the names of ports that stay with the instrument.
const byID = "/dev/serial/by-id"

// Info is what can be told of a serial port without opening it: opening raises
// its modem lines, which resets some instruments.
type Info struct {
	// Path is the device file, Stable its name under /dev/serial/by-id, "" if none.
	Path, Stable string
	// Problem says why this user cannot use the port, Hint what to do; both are empty
	// where the user can.
	Problem, Hint string
}

// List lists the serial ports of this computer.
func List() ([]Info, error) {
	names, err := bugst.GetPortsList()
	if err != nil {
		return nil, fmt.Errorf("serial ports: %w", err)
	}
	return describePorts(names, byID), nil
}

// Problem says why this user cannot use a port, and what to do; both are empty
// where the user can.
func Problem(path string) (problem, hint string) { return accessProblem(path) }

// describePorts tells of device files, and finds their stable names in a folder.
func describePorts(names []string, folder string) []Info {
	stable := map[string]string{}
	links, _ := filepath.Glob(filepath.Join(folder, "*")) // its only error is a bad pattern
	for _, link := range links {
		if target, err := filepath.EvalSymlinks(link); err == nil {
			stable[target] = link
			if !slices.Contains(names, target) {
				names = append(names, target)
			}
		}
	}
	slices.Sort(names)
	ports := make([]Info, len(names))
	for i, name := range names {
		ports[i] = Info{Path: name, Stable: stable[name]}
		ports[i].Problem, ports[i].Hint = accessProblem(name)
	}
	return ports
}

// accessProblem says why this user cannot read and write a device file.
func accessProblem(path string) (problem, hint string) {
	err := unix.Access(path, unix.R_OK|unix.W_OK)
	switch {
	case err == nil:
		return "", ""
	case !errors.Is(err, unix.EACCES):
		return err.Error(), ""
	}
	info, err := os.Stat(path)
	if err != nil {
		return err.Error(), ""
	}
	problem = "this user may not read and write it (" + info.Mode().String()
	if raw, ok := info.Sys().(*syscall.Stat_t); ok {
		group := strconv.FormatUint(uint64(raw.Gid), 10)
		if g, err := user.LookupGroupId(group); err == nil {
			group = g.Name
		}
		problem += ", group " + group
		if strings.Contains(info.Mode().Perm().String(), "rw-rw") {
			hint = "add the user to the group " + group + " (usermod -aG " + group + " NAME) and log in again"
		}
	}
	return problem + ")", hint
}
