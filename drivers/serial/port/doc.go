// Package port opens serial ports and owns them while they are open.
//
// [Raw] is what an opener gives: the kernel's port ([Open]), or a test's. [Port] owns one and
// gives every call a deadline. [Serve] is the other side, an instrument on a pseudo-terminal.
package port
