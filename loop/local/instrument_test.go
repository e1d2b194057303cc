package local

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// TestTakeInstrument: the second is refused and told who the first is, by the kernel's word;
// another instrument is free, and so is this one once the first has let go.
func TestTakeInstrument(t *testing.T) {
	identity := fmt.Sprintf("plant of %d, %v", os.Getpid(), time.Now())
	since := time.Date(2026, 3, 1, 21, 4, 5, 0, time.UTC)
	first, err := TakeInstrument(identity, drivers.Owner{Run: "oven", Journal: "/a/oven.db", Host: "lab\x1b[2J", Since: since})
	if err != nil {
		t.Fatal(err)
	}
	_, err = TakeInstrument(identity, drivers.Owner{Run: "second"})
	var held *HeldError
	if !errors.As(err, &held) || !errors.Is(err, drivers.ErrUnavailable) {
		t.Fatalf("a second one: %v", err)
	}
	for _, want := range []string{`run "oven" of `, fmt.Sprintf("pid %d) on ", os.Getpid()), "since 2026-03-01T21:04:05Z", "journal /a/oven.db", fmt.Sprintf("uid %d", os.Getuid())} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	if strings.ContainsRune(err.Error(), 0x1b) {
		t.Errorf("it would steer a terminal: %q", err)
	}
	other, err := TakeInstrument(identity+"'", drivers.Owner{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(first.Close(), other.Close()); err != nil {
		t.Fatal(err)
	}
	again, err := TakeInstrument(identity, drivers.Owner{})
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// TestSilentHolder: a name that someone has who says nothing is refused, once it has been
// waited for.
func TestSilentHolder(t *testing.T) {
	identity := fmt.Sprintf("silent of %d, %v", os.Getpid(), time.Now())
	sum := sha256.Sum256([]byte(identity))
	l, err := net.Listen("unix", "@tuner-instrument-"+hex.EncodeToString(sum[:16]))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = TakeInstrument(identity, drivers.Owner{})
	if held := new(HeldError); !errors.As(err, &held) || !strings.Contains(err.Error(), "is held by another process: ") {
		t.Errorf("got %v", err)
	}
}
