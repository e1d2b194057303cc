package link

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/eclipse/paho.mqtt.golang/packets"
)

// script is a connection that gives bytes in pieces of random length.
type script struct {
	net.Conn
	r      io.Reader
	rng    *rand.Rand
	closed bool
}

func (s *script) Read(p []byte) (int, error) {
	return s.r.Read(p[:min(len(p), 1+s.rng.IntN(9))])
}

func (s *script) Close() error { s.closed = true; return nil }

// Packets as the library itself writes them pass unchanged, whatever pieces they come
// in; the first that is too long ends the connection before its bytes are asked for.
func TestGuard(t *testing.T) {
	rng, asked := rand.New(rand.NewPCG(3, 3)), &atomic.Int64{}
	asked.Store(2)
	for range 50 {
		var stream bytes.Buffer
		for _, size := range []int{0, 1, 90, 127, 128, 200, 16383, 16384, rng.IntN(50_000)} {
			m := packets.NewControlPacket(packets.Publish).(*packets.PublishPacket)
			m.TopicName, m.Payload = "t", make([]byte, size)
			if err := m.Write(&stream); err != nil {
				t.Fatal(err)
			}
			answer := packets.NewControlPacket(packets.Suback).(*packets.SubackPacket)
			answer.ReturnCodes = []byte{0, 1}
			if err := errors.Join(packets.NewControlPacket(packets.Pingresp).Write(&stream), answer.Write(&stream)); err != nil {
				t.Fatal(err)
			}
		}
		good := bytes.Clone(stream.Bytes())
		got, err := io.ReadAll(limitPackets(&script{r: bytes.NewReader(good), rng: rng}, asked))
		if err != nil || !bytes.Equal(got, good) {
			t.Fatalf("%d of %d good bytes come through, %v", len(got), len(good), err)
		}
		for what, head := range map[string][]byte{
			"packet of 1048577 bytes":   {0x30, 0x81, 0x80, 0x40},
			"packet of 268435455 bytes": {0x30, 0xff, 0xff, 0xff, 0x7f},
			"more than four bytes":      {0x30, 0xff, 0xff, 0xff, 0xff, 0x01},
			"of 2 topics with 3 codes":  {0x90, 0x05},
		} {
			conn := &script{r: bytes.NewReader(append(bytes.Clone(good), head...)), rng: rng}
			if _, err := io.ReadAll(limitPackets(conn, asked)); err == nil || !strings.Contains(err.Error(), what) || !conn.closed {
				t.Errorf("%s: %v; closed: %v", what, err, conn.closed)
			}
		}
	}
}
