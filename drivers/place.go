package drivers

import (
	"net"
	"net/netip"
	"strings"
)

// Place is HOST:PORT as one instrument or broker is told from another: without regard to case,
// to how an address is spelt, and to a name's last dot, and with 127.0.0.1 for localhost. Other
// names are not looked up, so that a name and its address are two places: what a name means may
// change while a run goes on. What is no HOST:PORT stays as it is.
func Place(hostPort string) string {
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		return hostPort
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if ip, err := netip.ParseAddr(host); err == nil {
		host = ip.Unmap().String()
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
