package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// client is a browser that listens. Its messages wait in a channel of fixed size: a
// client that does not read is dropped without waiting.
type client struct {
	messages chan []byte
}

// clientRing is how many messages may wait for a client, clientsMax how many may listen.
// More than these are no people.
const (
	clientRing = 64
	clientsMax = 32
)

// sendTimeout bounds one write to a client.
const sendTimeout = 10 * time.Second

// watched reports whether a client listens.
func (d *Dashboard) watched() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.clients) > 0
}

// broadcast sends a message to everybody.
func (d *Dashboard) broadcast(kind string, data any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.send(kind, data)
}

// send does the same for a caller that holds the lock.
func (d *Dashboard) send(kind string, data any) {
	if len(d.clients) == 0 {
		return
	}
	text, err := json.Marshal(data)
	if err != nil {
		d.o.Log.Warn("a message cannot be written", "kind", kind, "error", err)
		return
	}
	message := fmt.Appendf(nil, "event: %s\ndata: %s\n\n", kind, text)
	for c := range d.clients {
		select {
		case c.messages <- message:
		default: // it will connect again, and fetch the document anew
			delete(d.clients, c)
			close(c.messages)
		}
	}
}

// join adds a client; nil if there are too many.
func (d *Dashboard) join() *client {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.clients) >= clientsMax {
		return nil
	}
	c := &client{messages: make(chan []byte, clientRing)}
	d.clients[c] = true
	return c
}

func (d *Dashboard) leave(c *client) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.clients[c] {
		delete(d.clients, c)
		close(c.messages)
	}
}

// serveStream sends what is new until the client or the run goes: "status" every second,
// "step", "picture" and "story" as they come, "again" where the document has to be fetched anew.
func (d *Dashboard) serveStream(w http.ResponseWriter, r *http.Request) {
	c := d.join()
	if c == nil {
		http.Error(w, fmt.Sprintf("%d pages are open, and more are not served", clientsMax), http.StatusServiceUnavailable)
		return
	}
	defer d.leave(c)
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	write := func(text []byte) error {
		if err := control.SetWriteDeadline(d.o.Now().Add(sendTimeout)); err != nil {
			return err
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
		return control.Flush()
	}
	if err := control.SetReadDeadline(time.Time{}); err != nil { // else the stream ends when a request would
		d.o.Log.Debug("a stream cannot be kept open", "error", err)
		return
	}
	if err := write([]byte("retry: 2000\nevent: hello\ndata: {}\n\n")); err != nil {
		return
	}
	for {
		select {
		case <-r.Context().Done():
			return
		case <-d.o.Panel.Done():
			d.drain(c, write)
			return
		case message, ok := <-c.messages:
			if !ok || write(message) != nil {
				return
			}
		}
	}
}

// drain sends what is left at the end of the run.
func (d *Dashboard) drain(c *client, write func([]byte) error) {
	text, err := json.Marshal(d.o.Panel.Status())
	if err != nil {
		return
	}
	for {
		select {
		case message, ok := <-c.messages:
			if !ok || write(message) != nil {
				return
			}
			continue
		default:
		}
		if err := write(fmt.Appendf(nil, "event: status\ndata: %s\n\n", text)); err != nil {
			d.o.Log.Debug("the last status was not sent", "error", err)
		}
		return
	}
}
