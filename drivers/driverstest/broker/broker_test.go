package broker_test

import (
	"context"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"github.com/labtuner/tuner/drivers/driverstest/broker"
)

// login is who a client says that it is.
type login struct{ id, user, password string }

// connect gives a client, or the broker's no.
func connect(t *testing.T, url string, who login) (paho.Client, error) {
	t.Helper()
	c := paho.NewClient(paho.NewClientOptions().AddBroker(url).SetClientID(who.id).SetProtocolVersion(4).
		SetUsername(who.user).SetPassword(who.password).SetAutoReconnect(false))
	token := c.Connect()
	token.Wait()
	if token.Error() == nil {
		t.Cleanup(func() { c.Disconnect(50) })
	}
	return c, token.Error()
}

// through reports whether a message on topic comes from one client to another.
func through(t *testing.T, url, topic string) bool {
	t.Helper()
	reader, err := connect(t, url, login{"reader", "", ""})
	if err != nil {
		t.Fatal(err)
	}
	writer, err := connect(t, url, login{"writer", "", ""})
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 4)
	reader.Subscribe(topic, 0, func(_ paho.Client, m paho.Message) { got <- m.Topic() }).Wait()
	reader.Subscribe("end", 0, func(_ paho.Client, m paho.Message) { got <- m.Topic() }).Wait()
	writer.Publish(topic, 0, false, "x").Wait()
	writer.Publish("end", 0, false, "x").Wait() // after it, topic's message would have come
	select {
	case first := <-got:
		return first == topic
	case <-time.After(time.Minute):
		t.Fatal("not even the last message came")
		return false
	}
}

func TestRules(t *testing.T) {
	for name, start := range map[string]func(testing.TB) *broker.Broker{"installed": broker.Start, "embedded": broker.StartEmbedded} {
		t.Run(name, func(t *testing.T) {
			b := start(t)
			if !through(t, b.URL, "lab/allowed") {
				t.Error("a message on an allowed topic did not come through")
			}
			if through(t, b.URL, broker.Denied+"topic") {
				t.Error("a message on a denied topic came through")
			}
			if _, err := connect(t, b.URL, login{"a", broker.User, broker.Password}); err != nil {
				t.Errorf("the right password was refused: %v", err)
			}
			if _, err := connect(t, b.URL, login{"b", broker.User, "wrong"}); err == nil {
				t.Error("a wrong password was accepted")
			}
			if _, err := connect(t, b.URL, login{"c", "stranger", "x"}); err == nil {
				t.Error("an unknown user was accepted")
			}
		})
	}
}

func TestStopAndRestart(t *testing.T) {
	for name, start := range map[string]func(testing.TB) *broker.Broker{"installed": broker.Start, "embedded": broker.StartEmbedded} {
		t.Run(name, func(t *testing.T) {
			b := start(t)
			before := b.URL
			b.Stop()
			b.Stop() // harmless
			if _, err := connect(t, b.URL, login{"a", "", ""}); err == nil {
				t.Fatal("a stopped broker let a client in")
			}
			b.Restart()
			if b.URL != before {
				t.Errorf("the address changed from %s to %s", before, b.URL)
			}
			if !through(t, b.URL, "lab/again") {
				t.Error("no message came through after the restart")
			}
		})
	}
}

// In a bubble, time passes only when all goroutines wait: the hour costs nothing.
func TestVirtual(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := broker.StartVirtual(t)
		address, err := url.Parse("tcp://nowhere:1883")
		if err != nil {
			t.Fatal(err)
		}
		conn, err := v.Dial(context.Background(), address)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		v.Cut()
		if _, err := conn.Write([]byte("x")); err == nil {
			t.Error("a cut connection still takes bytes")
		}
		if _, err := v.Dial(context.Background(), address); err == nil {
			t.Error("Dial succeeds during an outage")
		}
		v.Restore()
		if conn, err = v.Dial(context.Background(), address); err != nil {
			t.Fatal(err)
		}
		conn.Close()
		if err := v.Stop(); err != nil {
			t.Error(err)
		}
	})
}
