package journal

import "database/sql"

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
	err := r.read(func(tx *sql.Tx) error {
		place := map[int]int{}
		err := r.scan(tx, span{table: "config"}, func(c *cells) {
			place[c.int("session")] = len(all)
			all = append(all, Configuration{Session: c.int("session"), File: c.text("file"), Text: c.blob("text"), SHA256: c.text("sha256")})
		})
		if err != nil {
			return err
		}
		return r.scan(tx, span{table: "setting"}, func(c *cells) {
			if i, ok := place[c.int("session")]; ok {
				all[i].Effective = append(all[i].Effective, Setting{Key: c.text("key"), Value: c.text("value"), Origin: c.text("origin")})
			}
		})
	})
	return all, err
}
