package port

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"time"
)

// A serial server that speaks RFC 2217 is a Telnet server (RFC 854, 856, 858) with an option
// that carries the settings of its serial line:
//
//	IAC WILL|WONT|DO|DONT option            what each side does, and asks of the other
//	IAC SB option ... IAC SE                what an option has to say
//	IAC IAC                                 the byte 255 itself
//	IAC SB 44 command value IAC SE          a setting; the server repeats it with
//	                                        command + 100 and the value that is in force
const (
	iac, dont, do, wont, will, sb, se = 255, 254, 253, 252, 251, 250, 240

	optBinary, optNoGoAhead, optComPort = 0, 3, 44

	comBaud, comDataSize, comParity, comStopSize, comControl, comPurge = 1, 2, 3, 4, 5, 12
	comAnswer                                                          = 100
)

// telnet is one side of such a connection.
type telnet struct {
	// ours and theirs are the options that each side does; asked those of both that this side
	// has asked for; refused those that the other side will not have.
	ours, theirs, asked, refused map[byte]bool
	// set is what the server said is in force, by command.
	set map[byte][]byte
	// serves says that this is the server's side.
	serves bool
	part   []byte // a command that has come in part
}

func newTelnet(serves bool) *telnet {
	return &telnet{serves: serves, ours: map[byte]bool{}, theirs: map[byte]bool{}, asked: map[byte]bool{}, refused: map[byte]bool{}, set: map[byte][]byte{}}
}

// hide doubles what would be taken for a command.
func (t *telnet) hide(data []byte) []byte {
	return bytes.ReplaceAll(data, []byte{iac}, []byte{iac, iac})
}

// longestCommand bounds a command that does not end.
const longestCommand = 512

// hear takes commands out of what has come, and gives what is to be said to them.
func (t *telnet) hear(data []byte) (plain, reply []byte) {
	rest := append(t.part, data...)
	t.part = nil
	for len(rest) > 0 {
		i := bytes.IndexByte(rest, iac)
		if i < 0 {
			return append(plain, rest...), reply
		}
		plain, rest = append(plain, rest[:i]...), rest[i:]
		n := commandLength(rest)
		if n == 0 {
			if len(rest) <= longestCommand {
				t.part = bytes.Clone(rest)
			}
			return plain, reply
		}
		command := rest[:n]
		rest = rest[n:]
		switch {
		case command[1] == iac:
			plain = append(plain, iac)
		case command[1] == sb:
			reply = append(reply, t.noteSetting(bytes.ReplaceAll(command[2:n-2], []byte{iac, iac}, []byte{iac}))...)
		case n == 3:
			reply = append(reply, t.option(command[1], command[2])...)
		}
	}
	return plain, reply
}

// commandLength is how long the command is that b begins with; 0: more is to come.
func commandLength(b []byte) int {
	switch {
	case len(b) < 2:
		return 0
	case b[1] == sb:
		for i := 2; i+1 < len(b); i++ {
			if b[i] != iac {
				continue
			}
			if b[i+1] == se {
				return i + 2
			}
			i++ // the byte 255
		}
		return 0
	case b[1] >= will && b[1] <= dont:
		if len(b) < 3 {
			return 0
		}
		return 3
	}
	return 2
}

// option answers WILL, WONT, DO or DONT. What was asked for from here needs no answer.
func (t *telnet) option(verb, option byte) []byte {
	known := option == optBinary || option == optNoGoAhead || option == optComPort
	does, yes, no := t.ours, byte(will), byte(wont)
	if verb == will || verb == wont {
		does, yes, no = t.theirs, do, dont
	}
	switch {
	case verb == wont || verb == dont:
		t.refused[option] = true
		return nil
	case !known:
		return []byte{iac, no, option}
	case does[option]:
		return nil
	}
	does[option] = true
	if t.asked[option] {
		return nil
	}
	return []byte{iac, yes, option}
}

// noteSetting takes a setting: the client notes what is in force, the server says that it is.
func (t *telnet) noteSetting(said []byte) []byte {
	if len(said) < 2 || said[0] != optComPort {
		return nil
	}
	if !t.serves {
		if said[1] > comAnswer {
			t.set[said[1]-comAnswer] = bytes.Clone(said[2:])
		}
		return nil
	}
	if said[1] == 0 || said[1] >= comAnswer {
		return nil
	}
	return setting(said[1]+comAnswer, said[2:]...)
}

// setting is the command that says a setting.
func setting(command byte, value ...byte) []byte {
	out := []byte{iac, sb, optComPort, command}
	out = append(out, bytes.ReplaceAll(value, []byte{iac}, []byte{iac, iac})...)
	return append(out, iac, se)
}

// wantedSettings are the settings of a line, in RFC 2217's numbers.
func wantedSettings(s Spec) map[byte][]byte {
	return map[byte][]byte{
		comBaud:     binary.BigEndian.AppendUint32(nil, uint32(s.Baud)),
		comDataSize: {byte(s.DataBits)},
		comParity:   {map[string]byte{"none": 1, "odd": 2, "even": 3}[s.Parity]},
		comStopSize: {byte(s.StopBits)},
	}
}

// settingWords name the settings as files do.
var settingWords = map[byte]string{comBaud: "baud", comDataSize: "data_bits", comParity: "parity", comStopSize: "stop_bits"}

// negotiate agrees with the server on the connection, sets the line, and throws away what the
// server has kept of earlier connections.
func (p *tcpPort) negotiate(ctx context.Context, s Spec) error {
	t := newTelnet(false)
	p.telnet = t
	var said []byte
	for _, option := range []byte{optBinary, optNoGoAhead, optComPort} {
		t.asked[option] = true
		said = append(said, iac, will, option, iac, do, option)
	}
	err := p.until(ctx, said, func() bool {
		return t.refused[optComPort] || t.ours[optComPort] && t.ours[optBinary] && t.theirs[optBinary]
	})
	switch {
	case t.refused[optComPort]:
		return errors.New("the server does not take the settings of the line (RFC 2217); write tcp:// and set the baud rate on the server itself")
	case err != nil:
		return fmt.Errorf("is no server that speaks RFC 2217 there? Write tcp:// for a socket that only passes bytes: %w", err)
	}
	wanted, said := wantedSettings(s), nil
	for _, command := range []byte{comBaud, comDataSize, comParity, comStopSize} {
		said = append(said, setting(command, wanted[command]...)...)
	}
	const noFlowControl, dtrOn, dtrOff, rtsOn, rtsOff, bothWays = 1, 8, 9, 11, 12, 3
	dtr, rts := byte(dtrOff), byte(rtsOff)
	if s.DTR {
		dtr = dtrOn
	}
	if s.RTS {
		rts = rtsOn
	}
	for _, control := range []byte{noFlowControl, dtr, rts} {
		said = append(said, setting(comControl, control)...)
	}
	said = append(said, setting(comPurge, bothWays)...)
	err = p.until(ctx, said, func() bool {
		for command := range wanted {
			if t.set[command] == nil {
				return false
			}
		}
		return true
	})
	if err != nil {
		return fmt.Errorf("the server does not confirm the settings of the line: %w", err)
	}
	for command, want := range wanted {
		if got := t.set[command]; !bytes.Equal(got, want) {
			return fmt.Errorf("%s: the server has set % x where % x was asked for (RFC 2217); can its line do that?", settingWords[command], got, want)
		}
	}
	p.in = nil // it came before the settings were right
	return nil
}

// until says something and listens until done, at most until ctx is over.
func (p *tcpPort) until(ctx context.Context, said []byte, done func() bool) error {
	if _, err := p.conn.Write(said); err != nil {
		return ended(err)
	}
	var chunk [512]byte
	for !done() {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("no answer in time: %w", err)
		}
		if err := p.conn.SetReadDeadline(time.Now().Add(p.slice)); err != nil {
			return err
		}
		n, err := p.conn.Read(chunk[:])
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = nil
		}
		if err := p.take(chunk[:n], err); err != nil {
			return err
		}
		if p.over != nil {
			return p.over
		}
	}
	return nil
}
