package mqtt

import (
	"testing"

	"github.com/labtuner/tuner/drivers/driverstest/broker"
)

// TestClientLooksForTheBroker: a client that was started has a connection once there is a broker, and
// what is said on its topics reaches it.
func TestClientLooksForTheBroker(t *testing.T) {
	b := broker.Start(t)
	e, _ := environment()
	heard := make(chan Message, 1)
	c, err := NewClient(ClientSpec{Options: optionsFor(b.URL), Env: e, Subscribe: []string{"lab/#"}, Handle: func(m Message) { heard <- m }})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Connected() {
		t.Error("connected before it was started")
	}
	c.Start()
	eventually(t, "it is connected", c.Connected)
	newOther(t, b.URL).say("lab/door", "open", false)
	if m := <-heard; m.Topic != "lab/door" || string(m.Payload) != "open" || m.Retained {
		t.Errorf("heard %+v", m)
	}
}
