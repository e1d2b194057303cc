package schema

import (
	"strings"
	"testing"
	"time"
)

// crc32c is the checksum by its definition, bit by bit.
func crc32c(b []byte) uint32 {
	sum := ^uint32(0)
	for _, x := range b {
		sum ^= uint32(x)
		for range 8 {
			if sum&1 == 1 {
				sum = sum>>1 ^ 0x82f63b78
			} else {
				sum >>= 1
			}
		}
	}
	return ^sum
}

// The canonical form is as the package comment says, written out by hand.
func TestChecksum(t *testing.T) {
	if got := crc32c([]byte("123456789")); got != 0xe3069283 { // the catalogued check value of CRC-32/ISCSI
		t.Fatalf("the oracle is wrong: %08x", got)
	}
	form := "\x03" + "\x00\x00\x00\x00\x00\x00\x00\x05" + "event" +
		"\x00" +
		"\x01" + "\xff\xff\xff\xff\xff\xff\xff\xfe" +
		"\x02" + "\x3f\xf8\x00\x00\x00\x00\x00\x00" +
		"\x03" + "\x00\x00\x00\x00\x00\x00\x00\x03" + "\u20ac" +
		"\x04" + "\x00\x00\x00\x00\x00\x00\x00\x02" + "\x00\xff"
	for salt, form := range map[Salt]string{
		SaltOf(3, "run"): form,
		SaltOf(4, "run"): "\x03" + "\x00\x00\x00\x00\x00\x00\x00\x03" + "run" + form,
	} {
		got, _, err := salt.Checksum([]byte("scratch"), "event", []any{nil, int64(-2), 1.5, "€", []byte{0, 255}})
		if want := crc32c([]byte(form)); err != nil || got != want {
			t.Errorf("salt %q: got %08x, want %08x (%v)", salt, got, want, err)
		}
	}
	if _, _, err := Salt("").Checksum(nil, "event", []any{true}); err == nil || !strings.Contains(err.Error(), "type bool") {
		t.Errorf("a value that SQLite has not: %v", err)
	}
	if _, _, err := Salt("").Checksum(nil, "event", []any{time.Time{}}); err == nil {
		t.Error("a time was taken for a value")
	}
}
