// Package port opens serial ports, here or on the network, and owns them while they are open.
//
// [Raw] is what an opener gives: the kernel's port, a TCP connection, one to a serial server
// that speaks RFC 2217 ([Open] takes them apart by the address), or a test's. [Port] owns one and
// gives every call a deadline. [Serve] is the other side, an instrument on a pseudo-terminal or a
// TCP port.
package port
