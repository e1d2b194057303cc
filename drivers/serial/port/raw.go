package port

import (
	"context"
	"time"
)

// Raw is an open port. Its calls come from one goroutine, except Waiting,
// ResetOutputBuffer and Close, which may come while a Write is stuck. The real
// ones are a terminal device of the kernel and a connection over the network; a test may give one that fails.
type Raw interface {
	// Read waits a short time, Spec.Slice, for bytes. 0 without an error means
	// that none came.
	Read(p []byte) (int, error)
	// Write may take fewer bytes than it is given, and may block without end.
	Write(p []byte) (int, error)
	// Waiting is the number of bytes that Read would give at once.
	Waiting() (int, error)
	// ResetOutputBuffer throws away what has not left yet. It frees a stuck Write.
	ResetOutputBuffer() error
	// Close is idempotent.
	Close() error
}

// Spec says which port to open and how.
type Spec struct {
	// Path of the device file, or of a link to it, or an address of the network.
	Path     string
	Baud     int // bits per second
	DataBits int
	StopBits int
	Parity   string // "none", "even", "odd"
	// DTR and RTS are the levels of the modem lines while the port is open.
	DTR, RTS bool
	// Slice is how long one Read waits for bytes.
	Slice time.Duration
	// Patience is how long a connection over the network may take to be made.
	Patience time.Duration
}

// Opener opens a port, or says why not; it holds the port exclusively.
type Opener func(ctx context.Context, s Spec) (Raw, error)

// readSlice is how long one Read waits at most. Not longer: a caller that goes away waits
// for it. Not shorter: while an answer is awaited it is a wake-up of the
// processor. Bytes that come end it at once.
const readSlice = 20 * time.Millisecond
