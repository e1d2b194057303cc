package host

import (
	"runtime/debug"
)

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
