package modbus

import (
	"context"
	"time"

	"github.com/labtuner/tuner/drivers/serial/protocol"
)

// framing is how requests and answers travel.
type framing interface {
	// seal wraps a request to a unit, or an answer of it: of the server's side, to the frame
	// that asked.
	seal(unit int, body []byte) []byte
	reply(asked, body []byte) []byte
	// receive waits for the answer to the frame that was sealed last.
	receive(ctx context.Context, l *protocol.Line, unit int, request []byte, timeout time.Duration) ([]byte, error)
	// split takes the first frame off what a server has heard: its unit and its body. frame is
	// nil where more is to come, and broken says that what came is no frame.
	split(heard []byte) (frame []byte, unit int, body []byte, broken bool)
	// gap is the least time between two frames; numbered says that answers say which
	// request they belong to.
	gap() time.Duration
	numbered() bool
}
