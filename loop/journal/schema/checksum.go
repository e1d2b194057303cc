package schema

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
)

// The tags that begin a value in a row's canonical form. They are part of the
// file format and never change.
const (
	tagNull    = 0
	tagInteger = 1
	tagReal    = 2
	tagText    = 3
	tagBlob    = 4
)

// Salt is what the checksums of a file begin with, so that no row of another run passes for
// one of its own: see SaltOf.
type Salt string

// SaltOf is the run's id in a file of a version that is Salted or later; before, a checksum
// did not know its run.
func SaltOf(version int, run string) Salt {
	if version < Salted {
		return ""
	}
	return Salt(run)
}

// Checksum is the CRC-32C (Castagnoli) of a row in canonical form, which the
// comment of package journal defines. values are those of every column but crc, in the
// table's order, as SQLite gives them: nil, int64, float64, string or []byte.
// buf is scratch space, returned for reuse.
func (salt Salt) Checksum(buf []byte, table string, values []any) (uint32, []byte, error) {
	buf = buf[:0]
	if salt != "" {
		buf = appendBytes(buf, tagText, string(salt))
	}
	buf = appendBytes(buf, tagText, table)
	for i, v := range values {
		switch v := v.(type) {
		case nil:
			buf = append(buf, tagNull)
		case int64:
			buf = binary.BigEndian.AppendUint64(append(buf, tagInteger), uint64(v))
		case float64:
			buf = binary.BigEndian.AppendUint64(append(buf, tagReal), math.Float64bits(v))
		case string:
			buf = appendBytes(buf, tagText, v)
		case []byte:
			buf = appendBytes(buf, tagBlob, v)
		default:
			return 0, buf, fmt.Errorf("value %d of a row of %s has type %T, which SQLite has not", i, table, v)
		}
	}
	return crc32.Checksum(buf, crc32.MakeTable(crc32.Castagnoli)), buf, nil
}

// appendBytes appends a text or blob: tag, length, bytes.
func appendBytes[T string | []byte](buf []byte, tag byte, b T) []byte {
	buf = binary.BigEndian.AppendUint64(append(buf, tag), uint64(len(b)))
	return append(buf, b...)
}
