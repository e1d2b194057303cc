package controlstate

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
)

// magic begins a copy; the number is the format's.
const magic = "tunerCS1"

// maxSize bounds a copy, so that a garbled length is not believed.
const maxSize = 1 << 20

// encode frames a state: magic, length, JSON, CRC-32C of all that.
func encode(s State) ([]byte, error) {
	body, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("write the control state: %w", err)
	}
	out := append([]byte(magic), 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(out[len(magic):], uint32(len(body)))
	out = append(out, body...)
	return binary.LittleEndian.AppendUint32(out, crc32.Checksum(out, crc32.MakeTable(crc32.Castagnoli))), nil
}

// decode is the inverse of encode; it believes nothing that does not
// match its checksum.
func decode(data []byte) (s State, err error) {
	const head = len(magic) + 4
	if len(data) < head+4 || string(data[:len(magic)]) != magic {
		return s, errors.New("it is cut short, or none of tuner's")
	}
	n := binary.LittleEndian.Uint32(data[len(magic):])
	if n > maxSize || len(data) != head+int(n)+4 {
		return s, fmt.Errorf("it has %d bytes and says %d", len(data), n)
	}
	body := data[:head+int(n)]
	if crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)) != binary.LittleEndian.Uint32(data[len(body):]) {
		return s, errors.New("its checksum does not match")
	}
	if err := json.Unmarshal(body[head:], &s); err != nil {
		return s, fmt.Errorf("its text cannot be read: %w", err)
	}
	return s, nil
}
