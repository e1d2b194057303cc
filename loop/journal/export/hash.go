package export

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/labtuner/tuner/loop/journal"
)

// Hash is the SHA-256 of a journal's export as JSON lines: unlike the file's it
// does not depend on where SQLite has put the rows.
func Hash(r *journal.Reader) (string, error) {
	sum := sha256.New()
	if err := Write(sum, r, JSONL); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
