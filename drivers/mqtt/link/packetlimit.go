package link

import (
	"fmt"
	"net"
	"sync/atomic"
)

// MaxPacket bounds what the broker may send as one packet, in bytes. MQTT allows
// 256 MiB, and the client library makes room for what a packet's head announces
// before any of it has come.
const MaxPacket = 1 << 20

// packetLimitConn ends a connection that announces a packet beyond MaxPacket, or more answers
// to a subscription than it had topics. It reads along with the client library: a packet is one
// byte of kind, one to four bytes of length (seven bits each, the lowest first), and that many bytes.
type packetLimitConn struct {
	net.Conn

	asked *atomic.Int64 // topics of the last subscription

	kind   byte
	left   int // bytes of the current packet that are still to come
	digits int // bytes of the length seen so far; -1: the next byte is a kind
	length int
}

func limitPackets(conn net.Conn, asked *atomic.Int64) *packetLimitConn {
	return &packetLimitConn{Conn: conn, asked: asked, digits: -1}
}

// suback is the kind of an answer to a subscription: two bytes of its number, and one for each topic. The client library
// ends the process where there are more.
const suback = 9

// Read reads, and fails where a packet is too long.
func (g *packetLimitConn) Read(p []byte) (int, error) {
	n, err := g.Conn.Read(p)
	if followed := g.parse(p[:n]); followed != nil {
		g.Conn.Close()
		return 0, followed
	}
	return n, err
}

// parse takes note of the next bytes of the stream.
func (g *packetLimitConn) parse(b []byte) error {
	for len(b) > 0 {
		switch {
		case g.left > 0:
			n := min(g.left, len(b))
			g.left -= n
			b = b[n:]
			continue
		case g.digits < 0:
			g.kind, g.digits, g.length = b[0]>>4, 0, 0
		default:
			g.length |= int(b[0]&0x7f) << (7 * g.digits)
			g.digits++
			switch {
			case b[0]&0x80 != 0 && g.digits == 4:
				return fmt.Errorf("the broker sends a packet whose length has more than four bytes")
			case b[0]&0x80 != 0:
			case g.length > MaxPacket:
				return fmt.Errorf("the broker sends a packet of %d bytes; at most %d are read", g.length, MaxPacket)
			case g.kind == suback && int64(g.length) > 2+g.asked.Load():
				return fmt.Errorf("the broker answers a subscription of %d topics with %d codes", g.asked.Load(), g.length-2)
			default:
				g.left, g.digits = g.length, -1
			}
		}
		b = b[1:]
	}
	return nil
}
