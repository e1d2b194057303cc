package port

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/labtuner/tuner/drivers"
)

// Address is a port on the network: a socket that passes bytes to and from an instrument.
type Address struct {
	// Scheme is "tcp", where the socket carries the instrument's bytes as they are, or
	// "rfc2217", where it is a serial server's and carries its settings too.
	Scheme string
	Host   string
	Port   string // 1 to 65535
}

// schemes are what an Address may begin with.
const schemeTCP, schemeRFC2217 = "tcp", "rfc2217"

// Network reads an address such as "tcp://scope.lab:5025" or "rfc2217://[fe80::1]:4001".
// is says that text means a place on the network, and no device file.
func Network(text string) (a Address, is bool, err error) {
	scheme, rest, is := strings.Cut(text, "://")
	if !is {
		return Address{}, false, nil
	}
	bad := func(what string) (Address, bool, error) {
		return Address{}, true, fmt.Errorf("port is %q: %s; write %s://HOST:PORT, such as %s://192.168.1.20:5025", text, what, schemeTCP, schemeTCP)
	}
	if scheme != schemeTCP && scheme != schemeRFC2217 {
		return bad(fmt.Sprintf("%q is no way to a port; there are tcp, for a socket that carries the instrument's own bytes, and rfc2217, for a serial server that also takes the baud rate", scheme))
	}
	host, number, err := net.SplitHostPort(rest)
	if err != nil || host == "" || strings.ContainsAny(host, "/@ ") {
		return bad("no host and port number follow " + scheme + "://")
	}
	if n, err := strconv.Atoi(number); err != nil || n < 1 || n > 65535 || strconv.Itoa(n) != number {
		return bad(fmt.Sprintf("%q is no port number from 1 to 65535", number))
	}
	return Address{Scheme: scheme, Host: host, Port: number}, true, nil
}

// HostPort is HOST:PORT, which is what tells one instrument from another.
func (a Address) HostPort() string { return drivers.Place(net.JoinHostPort(a.Host, a.Port)) }

// String is the address as files have it.
func (a Address) String() string { return a.Scheme + "://" + net.JoinHostPort(a.Host, a.Port) }
