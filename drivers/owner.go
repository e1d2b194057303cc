package drivers

import (
	"fmt"
	"strconv"
	"time"
)

// Owner is who drives an instrument, as it tells others.
type Owner struct {
	// Run is the run's name, Journal its journal's path.
	Run     string `json:"run"`
	Journal string `json:"journal"`
	Host    string `json:"host"`
	User    string `json:"user"`
	PID     int    `json:"pid"`
	// Machine is where PID is a process: this start of the computer, and of what confines it.
	Machine string    `json:"machine,omitempty"`
	Since   time.Time `json:"since"`
}

// String names the owner for a person; what another process has said is quoted where a
// terminal might take it for more than text.
func (o Owner) String() string { return o.By(fmt.Sprintf("%s (pid %d)", Printable(o.User), o.PID)) }

// By is String with what is known of its user from elsewhere.
func (o Owner) By(user string) string {
	return fmt.Sprintf("run %q of %s on %s since %s, journal %s", o.Run, user, Printable(o.Host), o.Since.UTC().Format(time.RFC3339), Printable(o.Journal))
}

// Printable is a foreign text with what a terminal would obey taken out.
func Printable(s string) string {
	if q := strconv.Quote(s); q != `"`+s+`"` {
		return q
	}
	return s
}
