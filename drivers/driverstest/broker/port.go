package broker

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// The ports that FreeAddress chooses from lie below those that systems give out by
// themselves: a connection of some other process cannot come by one between its choice
// and its use, nor while a broker is stopped.
const (
	firstPort = 10_000
	lastPort  = 32_000
)

// FreeAddress finds a port of the loopback interface that is free, as HOST:PORT.
func FreeAddress() (string, error) {
	var errs []error
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", firstPort+rand.IntN(lastPort-firstPort))
		l, err := net.Listen("tcp", address)
		if err == nil {
			return address, l.Close()
		}
		errs = append(errs, err)
	}
	return "", fmt.Errorf("no free port: %w", errors.Join(errs...))
}
