package examine

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/drivers/serial/port"
)

// portFindings tells of the computer's serial ports and of those that the
// configuration uses.
func portFindings(w *setup.Setup) []finding {
	ports, err := port.List()
	if err != nil {
		return []finding{{Subject: "serial ports", What: err.Error(), Bad: true}}
	}
	found := []finding{}
	if len(ports) == 0 {
		found = append(found, finding{Subject: "serial ports", What: "this computer has none"})
	}
	for _, p := range ports {
		f := finding{Subject: "serial port " + p.Path, What: "can be used"}
		if p.Stable != "" {
			f.What += "; its name that stays is " + p.Stable
		}
		// A port that no configuration asks for may stay closed to this user.
		if p.Problem != "" {
			f.What, f.Hint = p.Problem, p.Hint
		}
		found = append(found, f)
	}
	if w == nil {
		return found
	}
	for _, d := range w.Devices {
		if d.Port == "" {
			continue
		}
		f := finding{Subject: "device " + d.Name, What: "its port " + d.Port + " can be used"}
		if problem, hint := port.Problem(d.Port); problem != "" {
			f.What, f.Hint, f.Bad = d.Port+": "+problem, hint, true
			if i := slices.IndexFunc(ports, func(p port.Info) bool { return p.Stable != "" }); f.Hint == "" && i >= 0 {
				f.Hint = "plugged in are " + stableNames(ports)
			}
		}
		found = append(found, f)
	}
	return found
}

func stableNames(ports []port.Info) string {
	var names []string
	for _, p := range ports {
		if p.Stable != "" {
			names = append(names, p.Stable)
		}
	}
	return strings.Join(names, ", ")
}

// dialLimit bounds the wait for a connection: a broker on the other side of the world
// answers in a tenth of it.
const dialLimit = 3 * time.Second

// networkFindings connects to each broker and to each instrument on the network that the
// configuration names, and says nothing to it.
func networkFindings(ctx context.Context, w *setup.Setup) []finding {
	var found []finding
	for _, d := range w.Devices {
		if d.Broker != "" {
			found = append(found, reached(ctx, "device "+d.Name, "its broker "+d.Broker, d.Broker, "logs in",
				"is the broker running, and does a firewall let this computer through?"))
		}
		if d.Network != "" {
			found = append(found, reached(ctx, "device "+d.Name, "its instrument at "+d.Network, d.Network, "asks it",
				"is it on, with its socket server switched on, is the address right, has another program its only connection, and does a firewall let this computer through?"))
		}
	}
	return found
}

// reached tries a connection.
func reached(ctx context.Context, subject, what, address, probe, hint string) finding {
	start := time.Now()
	conn, err := (&net.Dialer{Timeout: dialLimit}).DialContext(ctx, "tcp", address)
	if err != nil {
		return finding{Subject: subject, What: fmt.Sprintf("%s is not reached: %v", what, err), Hint: hint, Bad: true}
	}
	conn.Close()
	return finding{Subject: subject, What: fmt.Sprintf("%s takes connections, after %v; tuner check --probe %s", what, time.Since(start).Round(time.Microsecond), probe)}
}
