package journal

import (
	"database/sql"

	"github.com/labtuner/tuner/loop/journal/store"
)

// Configuration is what a session went by. A session that is not listed went by the one
// before it.
type Configuration struct {
	Session int
	// File is the name it was given by, Text its bytes, SHA256 theirs in hexadecimal.
	File   string
	Text   []byte
	SHA256 string
	// Effective has every key with its value and origin.
	Effective []Setting
}

// Configurations gives every recorded configuration, in the order of the sessions; the
// first is the run's.
func (r *Reader) Configurations() ([]Configuration, error) {
	var all []Configuration
	err := r.file.Read(func(tx *sql.Tx) error {
		place := map[int]int{}
		err := r.file.Scan(tx, store.Span{Table: "config"}, func(c *store.Cells) {
			place[c.Int("session")] = len(all)
			all = append(all, Configuration{Session: c.Int("session"), File: c.Text("file"), Text: c.Blob("text"), SHA256: c.Text("sha256")})
		})
		if err != nil {
			return err
		}
		return r.file.Scan(tx, store.Span{Table: "setting"}, func(c *store.Cells) {
			if i, ok := place[c.Int("session")]; ok {
				all[i].Effective = append(all[i].Effective, Setting{Key: c.Text("key"), Value: c.Text("value"), Origin: c.Text("origin")})
			}
		})
	})
	return all, err
}
