package port

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// TestTelnetBytes: what is said to a server is what RFC 2217 and RFC 854 write down, however what
// comes is cut.
func TestTelnetBytes(t *testing.T) {
	client, server := newTelnet(false), newTelnet(true)
	if got, want := setting(comBaud, 0, 0, 0xFF, 1), []byte{255, 250, 44, 1, 0, 0, 255, 255, 1, 255, 240}; !bytes.Equal(got, want) {
		t.Errorf("a setting with 255 in it is % d", got)
	}
	for _, c := range []struct {
		side         *telnet
		in           []byte
		plain, reply []byte
	}{
		{client, []byte{255, 253, 1}, nil, []byte{255, 252, 1}},   // DO ECHO: WONT
		{client, []byte{255, 251, 24}, nil, []byte{255, 254, 24}}, // WILL TERMINAL-TYPE: DONT
		{client, []byte{255, 252, 1, 255, 254, 1}, nil, nil},      // no answer to a no
		{client, []byte{'a', 255, 255, 'b', 255, 241, 'c'}, []byte{'a', 255, 'b', 'c'}, nil},
		{server, []byte{255, 251, 44}, nil, []byte{255, 253, 44}}, // WILL COM-PORT: DO
		{server, []byte{255, 251, 44}, nil, nil},                  // said again: no loop
		{server, []byte{255, 250, 44, 1, 0, 0, 37, 128, 255, 240, 'x'}, []byte{'x'}, []byte{255, 250, 44, 101, 0, 0, 37, 128, 255, 240}},
		{server, []byte{255, 250, 24, 1, 255, 240}, nil, nil}, // another option's
	} {
		for step := 1; step <= len(c.in); step++ {
			side := *c.side // its maps are shared: what is answered once is tried in one piece
			if step != len(c.in) && len(c.reply) > 0 {
				continue
			}
			var plain, reply []byte
			for rest := c.in; len(rest) > 0; rest = rest[min(step, len(rest)):] {
				p, r := side.hear(rest[:min(step, len(rest))])
				plain, reply = append(plain, p...), append(reply, r...)
			}
			if !bytes.Equal(plain, c.plain) || !bytes.Equal(reply, c.reply) {
				t.Errorf("% d in pieces of %d: % d, % d; want % d, % d", c.in, step, plain, reply, c.plain, c.reply)
			}
		}
	}
	if client.hear([]byte{255, 250, 44, 103, 3, 255, 240}); !bytes.Equal(client.set[comParity], []byte{3}) {
		t.Errorf("the parity in force is % d", client.set[comParity])
	}
}

// FuzzTelnet: whatever comes, in whatever pieces, nothing crashes, nothing is kept without bound,
// and text without commands is passed as it is.
func FuzzTelnet(f *testing.F) {
	f.Add([]byte{255, 250, 44, 101, 0, 0, 255, 255, 1, 255, 240, 'x'}, uint8(1))
	f.Add([]byte{255, 253, 44, 'a', 255, 255}, uint8(2))
	f.Fuzz(func(t *testing.T, data []byte, step uint8) {
		whole := newTelnet(false)
		want, _ := whole.hear(bytes.Clone(data))
		pieces, n := newTelnet(false), int(step)%16+1
		var got []byte
		for rest := data; len(rest) > 0; rest = rest[min(n, len(rest)):] {
			p, _ := pieces.hear(rest[:min(n, len(rest))])
			got = append(got, p...)
			if len(pieces.part) > longestCommand {
				t.Fatalf("%d bytes are kept", len(pieces.part))
			}
		}
		if len(data) < longestCommand && !bytes.Equal(got, want) {
			t.Errorf("% d in pieces of %d gives % d, in one % d", data, n, got, want)
		}
		if echoed, _ := newTelnet(true).hear(whole.hide(data)); !bytes.Equal(echoed, data) {
			t.Errorf("% d came through as % d", data, echoed)
		}
	})
}

// TestRFC2217Settings: what a line is set to, in the numbers of RFC 2217; a server that does
// otherwise, or does not take settings, is refused.
func TestRFC2217Settings(t *testing.T) {
	s := Spec{Baud: 19200, DataBits: 7, Parity: "even", StopBits: 2, DTR: true, Slice: time.Millisecond, Patience: 10 * time.Second}
	want := [][]byte{setting(1, 0, 0, 0x4B, 0), setting(2, 7), setting(3, 3), setting(4, 2), setting(5, 1), setting(5, 8), setting(5, 12), setting(12, 3)}
	for name, c := range map[string]struct {
		answer  func(t *telnet, heard []byte) []byte
		problem string
	}{
		"does it": {answer: func(t *telnet, heard []byte) []byte { _, reply := t.hear(heard); return reply }},
		"has another baud rate": {answer: func(t *telnet, heard []byte) []byte {
			_, reply := t.hear(heard)
			return bytes.ReplaceAll(reply, []byte{101, 0, 0, 0x4B, 0}, []byte{101, 0, 0, 0x25, 0x80})
		}, problem: "baud: the server has set 00 00 25 80"},
		"takes no settings": {answer: func(*telnet, []byte) []byte { return []byte{255, 254, 44} }, problem: "set the baud rate on the server itself"},
		"hangs up":          {answer: func(*telnet, []byte) []byte { return nil }, problem: "closed the connection"},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			all := make(chan []byte, 1)
			go func() {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				defer conn.Close()
				side, buf, heard := newTelnet(true), make([]byte, 512), []byte(nil)
				for {
					n, err := conn.Read(buf)
					heard = append(heard, buf[:n]...)
					if said := c.answer(side, buf[:n]); err != nil || len(said) == 0 {
						all <- heard
						return
					} else if _, err := conn.Write(said); err != nil {
						return
					}
				}
			}()
			s := s
			s.Path = "rfc2217://" + l.Addr().String()
			raw, err := Open(t.Context(), s)
			if c.problem != "" {
				if err == nil || !strings.Contains(err.Error(), c.problem) {
					t.Errorf("%v does not say %q", err, c.problem)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := raw.Close(); err != nil {
				t.Error(err)
			}
			if got := <-all; !bytes.Contains(got, bytes.Join(want, nil)) {
				t.Errorf("the server heard % d\nwant % d", got, bytes.Join(want, nil))
			}
		})
	}
}

// TestTCPPort: what has come is counted without waiting, a pause gives nothing, and the end is
// told by every later call.
func TestTCPPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	raw, err := Open(context.Background(), Spec{Path: "tcp://" + l.Addr().String(), Slice: time.Millisecond, Patience: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 8)
	if n, err := raw.Read(buf); n != 0 || err != nil {
		t.Errorf("nothing has come: %d, %v", n, err)
	}
	conn.Write([]byte("hello, tuner"))
	await := func(n int) (got int, err error) {
		for limit := time.Now().Add(time.Minute); time.Now().Before(limit); time.Sleep(time.Millisecond) {
			if got, err = raw.Waiting(); got >= n || err != nil {
				return got, err
			}
		}
		return got, err
	}
	if n, err := await(12); n != 12 || err != nil {
		t.Errorf("%d bytes wait, %v", n, err)
	}
	if n, err := raw.Read(buf); n != 8 || err != nil || string(buf) != "hello, t" {
		t.Errorf("%q, %v", buf[:n], err)
	}
	conn.Close()
	if n, err := raw.Waiting(); n != 4 || err != nil {
		t.Errorf("%d bytes wait, %v", n, err)
	}
	if n, err := raw.Read(buf); n != 4 || err != nil {
		t.Errorf("%q, %v", buf[:n], err)
	}
	if n, err := await(1); n != 0 || !errors.Is(err, errHungUp) {
		t.Errorf("at the end %d, %v", n, err)
	}
	if n, err := raw.Read(buf); n != 0 || !errors.Is(err, errHungUp) {
		t.Errorf("at the end %d, %v", n, err)
	}
	if _, err := conn.Read(buf); err == nil || errors.Is(err, io.EOF) {
		t.Error("the server's connection is open")
	}
}
