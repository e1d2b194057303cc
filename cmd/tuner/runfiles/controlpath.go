package runfiles

import (
	"path/filepath"
	"strings"
)

// ControlPath is where the control state of a journal's instrument lies. A new
// journal does not change it: what was latched and dosed belongs to the instrument.
func ControlPath(journalPath string) string {
	return strings.TrimSuffix(journalPath, filepath.Ext(journalPath)) + ".control"
}
