package local

import (
	"fmt"
	"net"
	"os/user"
	"strconv"

	"golang.org/x/sys/unix"
)

// Peer says who is at the other end of a connection: the user's name, where this computer
// knows one, the user's number and the process, as the kernel had them at the connection.
// That a service confined by PrivateUsers= sees as "nobody" is whoever it does not know.
func Peer(c net.Conn) string {
	conn, ok := c.(*net.UnixConn)
	if !ok {
		return unknownPeer
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return unknownPeer
	}
	var peer *unix.Ucred
	if e := raw.Control(func(fd uintptr) { peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); e != nil || err != nil {
		return unknownPeer
	}
	text := fmt.Sprintf("uid %d, pid %d", peer.Uid, peer.Pid)
	if u, err := user.LookupId(strconv.FormatUint(uint64(peer.Uid), 10)); err == nil {
		return fmt.Sprintf("%s (%s)", u.Username, text)
	}
	return text
}

// unknownPeer is a peer that the kernel does not describe.
const unknownPeer = "unknown"
