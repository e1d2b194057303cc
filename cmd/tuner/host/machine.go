package host

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/labtuner/tuner/loop/guard"
)

// ThisMachine tells the time since the machine's start.
func ThisMachine() guard.Machine {
	return guard.Machine{BootID: BootID(), Uptime: uptime}
}

// uptime is the time since the machine's start, 0 where the kernel does not say.
func uptime() time.Duration {
	text, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), " ")
	seconds, err := strconv.ParseFloat(first, 64)
	if err != nil || !(seconds >= 0 && seconds < 1e9) {
		return 0
	}
	return time.Duration(seconds * float64(time.Second))
}

// BootID names the boot of this machine, "" where the kernel does not say.
func BootID() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// Version is the module's version, or the commit that the binary was built
// from, as the Go tool recorded it.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	version := "devel"
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			version += "-" + s.Value[:12]
		case s.Key == "vcs.modified" && s.Value == "true":
			version += "+dirty"
		}
	}
	return version
}
