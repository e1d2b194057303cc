package opcua

import (
	"context"
	"slices"
	"testing"

	"github.com/labtuner/tuner/drivers"
)

// TestDiscover: the variables of a server become channels whose lines make a device that opens; nothing is
// written.
func TestDiscover(t *testing.T) {
	r := newRig(t)
	all, err := discover(context.Background(), quick(r.port).Endpoint, drivers.Env{Clock: wall{}, ReadOnly: true})
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	got := map[string][]string{}
	for _, c := range all[0].Channels {
		got[c.Name] = c.Section
		if c.Access != drivers.ReadOnly {
			t.Errorf("%s can be set, and the server does not say so", c.Name)
		}
	}
	for name, section := range map[string][]string{"energy": {`read = { node = "ns=1;s=energy" }`}, "power": {`read = { node = "ns=1;s=power" }`}} {
		if !slices.Equal(got[name], section) {
			t.Errorf("%s: %q; all: %+v", name, got[name], all[0].Channels)
		}
	}
	if len(r.taken("power"))+len(r.taken("energy")) > 0 {
		t.Error("something was written")
	}
	if _, err := discover(context.Background(), "opc.tcp://127.0.0.1:1", drivers.Env{Clock: wall{}}); err == nil {
		t.Error("no error where no server is")
	}
}
