package link

import (
	"io"
	"net"
	"time"
)

// lingeringConn is a transport whose Close lets what was sent arrive. A TCP connection
// that is closed with bytes unread, or to which more come afterwards, is reset, and a
// reset has the other side's kernel throw away what the broker has not read yet: the last
// setpoints before a goodbye. So it ends its own half and reads until the broker has
// ended the other one, for the time of a farewell at most.
type lingeringConn struct{ net.Conn }

// Close ends the connection in order, where its kind has two halves.
func (l lingeringConn) Close() error {
	if half, ok := l.Conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_ = l.SetReadDeadline(time.Now().Add(DisconnectTime)) // without it, end drops the connection after that time
		_, _ = io.Copy(io.Discard, l.Conn)
	}
	return l.Conn.Close()
}
