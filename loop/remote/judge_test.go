package remote

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal/controlstate"
)

// TestAttacks is the list: each message must not act, and says why.
func TestAttacks(t *testing.T) {
	topic := testTopics.Command("resume")
	sign := func(k Key, change func(*Command)) []byte {
		return k.sign(topic, command(func(c *Command) {
			c.Key, c.Seq = k.Name, 1
			if change != nil {
				change(c)
			}
		}))
	}
	other := Key{"anna", []byte("not-the-key-not-the-key-not-the-k")}
	flipped := sign(testKeys[0], nil)
	flipped[7] ^= 1
	unsigned := []struct {
		name string
		m    Message
		want string
	}{
		{"fine", Message{Topic: topic, Payload: command(nil)}, ""},
		{"no clock at the sender", Message{Topic: topic, Payload: command(func(c *Command) { c.Issued = time.Time{} })}, ""},
		{"retained", Message{Topic: topic, Payload: command(nil), Retained: true}, CodeRetained},
		{"oversize", Message{Topic: topic, Payload: command(func(c *Command) {
			c.Args = []byte(`{"reason":"` + strings.Repeat("x", MaxPayload) + `"}`)
		})}, CodeOversize},
		{"expired", Message{Topic: topic, Payload: command(func(c *Command) { c.Issued = noon.Add(-6 * time.Second) })}, CodeExpired},
		{"from the future", Message{Topic: topic, Payload: command(func(c *Command) { c.Issued = noon.Add(time.Hour) })}, CodeExpired},
		{"wrong session", Message{Topic: topic, Payload: command(func(c *Command) { c.Session = "s-before" })}, CodeSession},
		{"no session", Message{Topic: topic, Payload: command(func(c *Command) { c.Session = "" })}, CodeSession},
		{"unknown command", Message{Topic: testTopics.Command("set_bounds"), Payload: command(nil)}, control.CodeUnknown},
		{"below a command", Message{Topic: topic + "/x", Payload: command(nil)}, control.CodeUnknown},
		{"unknown field", Message{Topic: topic, Payload: []byte(`{"transaction":"t1","session":"s-now","expires_ms":5000,"force":true}`)}, CodeMalformed},
		{"duplicate key", Message{Topic: topic, Payload: []byte(`{"transaction":"t1","session":"x","session":"s-now","expires_ms":5000}`)}, CodeMalformed},
		{"duplicate key in args", Message{Topic: topic, Payload: []byte(`{"transaction":"t1","session":"s-now","expires_ms":5000,"args":{"reason":"a","reason":"b"}}`)}, CodeMalformed},
		{"other letters", Message{Topic: topic, Payload: []byte(`{"transaction":"t1","Session":"s-now","expires_ms":5000}`)}, CodeMalformed},
		{"empty", Message{Topic: topic}, CodeMalformed},
		{"a list", Message{Topic: topic, Payload: []byte(`[1]`)}, CodeMalformed},
		{"two objects", Message{Topic: topic, Payload: append(command(nil), command(nil)...)}, CodeMalformed},
		{"no expiry", Message{Topic: topic, Payload: []byte(`{"transaction":"t1","session":"s-now"}`)}, CodeMalformed},
		{"for ever", Message{Topic: topic, Payload: command(func(c *Command) { c.Expires = 2 * time.Hour })}, CodeMalformed},
		{"no transaction", Message{Topic: topic, Payload: command(func(c *Command) { c.Transaction = "" })}, CodeMalformed},
		{"a transaction to be shown", Message{Topic: topic, Payload: command(func(c *Command) { c.Transaction = "<b>" })}, CodeMalformed},
		{"not UTF-8", Message{Topic: topic, Payload: []byte("{\"transaction\":\"t1\",\"session\":\"s-now\",\"expires_ms\":5000,\"args\":{\"reason\":\"\xff\"}}")}, CodeMalformed},
		{"deep", Message{Topic: topic, Payload: []byte(`{"transaction":"t1","session":"s-now","expires_ms":5000,"args":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`)}, CodeMalformed},
	}
	for _, c := range unsigned {
		if got := newBench(t, Options{}).verdictOf(c.m); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	signed := []struct {
		name    string
		payload []byte
		want    string
	}{
		{"fine", sign(testKeys[0], nil), ""},
		{"unsigned", command(nil), CodeUnsigned},
		{"another key under the name", sign(other, nil), CodeSignature},
		{"unknown name", sign(Key{"eve", other.Secret}, nil), CodeSignature},
		{"bob's key for anna", testKeys[1].sign(topic, command(func(c *Command) { c.Key, c.Seq = "anna", 1 })), CodeSignature},
		{"signed for another topic", testKeys[0].sign(testTopics.Command("pause"), command(func(c *Command) { c.Key, c.Seq = "anna", 1 })), CodeSignature},
		{"no number", sign(testKeys[0], func(c *Command) { c.Seq = 0 }), CodeReplay},
		{"cut", sign(testKeys[0], nil)[:40], CodeMalformed},
		{"no signature", []byte(base64.RawURLEncoding.EncodeToString(command(nil)) + "."), CodeSignature},
		{"expired", sign(testKeys[0], func(c *Command) { c.Issued = noon.Add(-time.Minute) }), CodeExpired},
		{"wrong session", sign(testKeys[0], func(c *Command) { c.Session = "s-before" }), CodeSession},
	}
	for _, c := range signed {
		if got := newBench(t, Options{Keys: testKeys}).verdict("resume", c.payload); got != c.want {
			t.Errorf("signed, %s: %q, want %q", c.name, got, c.want)
		}
	}
	if got := newBench(t, Options{Keys: testKeys}).verdict("resume", flipped); got != CodeSignature && got != CodeMalformed {
		t.Errorf("a flipped bit: %q", got)
	}
	// Reading needs no key: the state is there for everybody anyway.
	if got := newBench(t, Options{Keys: testKeys}).verdict("status", command(nil)); got != "" {
		t.Errorf("unsigned status: %q", got)
	}
}

// TestEveryBitCounts flips every bit of a signed command: none of them acts.
func TestEveryBitCounts(t *testing.T) {
	topic := testTopics.Command("reset")
	payload := testKeys[0].sign(topic, command(func(c *Command) { c.Key, c.Seq = "anna", 1 }))
	for bit := range 8 * len(payload) {
		b := newBench(t, Options{Keys: testKeys})
		forged := bytes.Clone(payload)
		forged[bit/8] ^= 1 << (bit % 8)
		if got := b.verdict("reset", forged); got == "" {
			t.Fatalf("bit %d flipped: it acts", bit)
		}
	}
}

// TestReplay: the same signed bytes again get the answer of the first time; the same
// number under another transaction, and a smaller one, are refused; the next one acts.
func TestReplay(t *testing.T) {
	b := newBench(t, Options{Keys: testKeys})
	topic := testTopics.Command("pause")
	sign := func(n int, seq uint64) []byte {
		return testKeys[0].sign(topic, command(func(c *Command) { numbered(n)(c); c.Key, c.Seq = "anna", seq }))
	}
	steps := []struct {
		payload []byte
		want    string
	}{{sign(1, 5), ""}, {sign(1, 5), "repeat"}, {sign(2, 5), CodeReplay}, {sign(3, 4), CodeReplay}, {sign(4, 6), ""}, {sign(1, 5), "repeat"}}
	for i, s := range steps {
		if got := b.verdict("pause", s.payload); got != s.want {
			t.Errorf("message %d: %q, want %q", i, got, s.want)
		}
		b.work(yes)
	}
	if len(b.acted) != 2 || b.acted[0].Who != "anna" || b.acted[0].Transport != "mqtt" || b.acted[0].Transaction != "t1" {
		t.Errorf("acted %+v", b.acted)
	}
	var codes []string
	for _, a := range b.answers(t) {
		codes = append(codes, fmt.Sprintf("%s %s %v", a.Transaction, a.Code, a.Repeated))
	}
	if got := strings.Join(codes, ", "); got != "t1 ok false, t1 ok true, t4 ok false, t1 ok true" {
		t.Errorf("answers %s", got)
	}
}

// TestMemoryOutlivesTheProcess: what was remembered is handed on, and a repeat to the next
// process, too, gets its answer and does not act.
func TestMemoryOutlivesTheProcess(t *testing.T) {
	b := newBench(t, Options{})
	for n := range cacheMax + 500 {
		if got := b.verdict("pause", command(numbered(n))); got != "" {
			t.Fatalf("message %d: %q", n, got)
		}
		b.work(yes)
	}
	kept := b.cache.snapshot()
	if len(kept.Answers) != cacheMax || kept.Answers[0].Transaction != "t500" {
		t.Fatalf("%d kept, the first is %+v", len(kept.Answers), kept.Answers[0])
	}
	next := newBench(t, Options{Memory: *kept})
	if got := next.verdict("pause", command(numbered(1499))); got != "repeat" || len(next.commands) != 0 {
		t.Errorf("a repeat after a restart: %q", got)
	}
	if a := next.answers(t); len(a) != 1 || !a[0].Repeated || a[0].Code != control.CodeOK {
		t.Errorf("answers %+v", a)
	}
	if got := next.verdict("resume", command(numbered(1499))); got != CodeTransaction {
		t.Errorf("its name for another command: %q", got)
	}
	signed := newBench(t, Options{Keys: testKeys, Memory: controlstate.CommandMemory{Seqs: []controlstate.CommandSeq{{Key: "anna", Session: "s-now", Seq: 9}}}})
	for seq, want := range map[uint64]string{9: CodeReplay, 10: ""} {
		p := testKeys[0].sign(testTopics.Command("pause"), command(func(c *Command) { numbered(int(seq))(c); c.Key, c.Seq = "anna", seq }))
		if got := signed.verdict("pause", p); got != want {
			t.Errorf("number %d: %q, want %q", seq, got, want)
		}
	}
}

// TestRepeatWhileItActs: the second copy of a message that is still being carried out
// waits for the first one's answer.
func TestRepeatWhileItActs(t *testing.T) {
	b := newBench(t, Options{})
	if one, two := b.verdict("pause", command(nil)), b.verdict("pause", command(nil)); one != "" || two != "repeat" || len(b.commands) != 1 {
		t.Errorf("%q, %q, %d queued", one, two, len(b.commands))
	}
}

// TestExpiresWhileItWaits: a command that others have held up does not act.
func TestExpiresWhileItWaits(t *testing.T) {
	b := newBench(t, Options{})
	b.verdict("pause", command(nil))
	*b.clock = noon.Add(6 * time.Second)
	b.work(yes)
	if a := b.answers(t); len(b.acted) != 0 || len(a) != 1 || a[0].Code != CodeExpired {
		t.Errorf("acted %v, answers %+v", b.acted, a)
	}
}

// TestClockNeverSet: without a clock that was set, age counts from the arrival, and the
// session keeps old commands out.
func TestClockNeverSet(t *testing.T) {
	b := newBench(t, Options{})
	*b.clock = time.Unix(100, 0)
	if got := b.verdict("pause", command(nil)); got != "" {
		t.Errorf("%q", got)
	}
	if in := <-b.commands; in.until != b.clock.Add(5*time.Second) {
		t.Errorf("expires at %v", in.until)
	}
	if got := b.verdict("pause", command(func(c *Command) { c.Session = "s-before"; c.Transaction = "t2" })); got != CodeSession {
		t.Errorf("another session's: %q", got)
	}
}

// TestTenThousandASecond: ten commands a second are taken, memory does not grow with the
// rest, and a stop among them is taken at once.
func TestTenThousandASecond(t *testing.T) {
	b := newBench(t, Options{})
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	for i := range 50_000 { // five seconds of it
		*b.clock = noon.Add(time.Duration(i) * 100 * time.Microsecond)
		m := Message{Topic: testTopics.Command("pause"), Payload: command(numbered(i))}
		if i == 25_000 {
			m = Message{Topic: testTopics.Command("stop")}
		}
		if !b.Urgent(m) {
			b.Handle(m)
		} else if i != 25_000 {
			t.Fatalf("message %d was urgent", i)
		}
	}
	if len(b.stops) != 1 {
		t.Errorf("%d stops were taken", len(b.stops))
	}
	// The burst, and ten a second for five seconds; nobody carries them out here, so all
	// beyond the queue get an answer that says so.
	taken := len(b.commands) + len(b.answers(t))
	if taken < 55 || taken > 60 || len(b.commands) != commandQueue {
		t.Errorf("%d taken, %d of them queued", taken, len(b.commands))
	}
	if grown := int64(heap()) - int64(before); grown > 1<<20 {
		t.Errorf("50,000 messages left %d bytes behind", grown)
	}
	runtime.KeepAlive(b)
}

// TestStops: what a stop may look like, and the few that do not act.
func TestStops(t *testing.T) {
	k := testKeys[0]
	topic := testTopics.Command("stop")
	for _, keys := range []Keys{nil, testKeys} {
		for name, c := range map[string]struct {
			m    Message
			acts bool
		}{
			"empty":           {Message{}, true},
			"a word":          {Message{Payload: []byte("PRESS")}, true},
			"an empty object": {Message{Payload: []byte("{}")}, true},
			"unknown field":   {Message{Payload: []byte(`{"please":true}`)}, true},
			"oversize":        {Message{Payload: bytes.Repeat([]byte("x"), MaxPayload+1)}, true},
			"unsigned":        {Message{Payload: command(nil)}, true},
			"signed":          {Message{Payload: k.sign(topic, command(func(c *Command) { c.Key, c.Seq = "anna", 1 }))}, true},
			"forged":          {Message{Payload: Key{"anna", []byte("nobody's")}.sign(topic, command(func(c *Command) { c.Key = "anna" }))}, true},
			"this session":    {Message{Payload: []byte(`{"session":"s-now"}`)}, true},
			"retained":        {Message{Retained: true}, false},
			"wrong session":   {Message{Payload: []byte(`{"session":"s-before"}`)}, false},
			"expired": {Message{Payload: command(func(c *Command) {
				c.Issued = noon.Add(-time.Minute)
			})}, false},
		} {
			b := newBench(t, Options{Keys: keys})
			c.m.Topic = topic
			in := incoming{name: "stop"}
			if !b.Urgent(c.m) {
				t.Fatalf("%s: not urgent", name)
			}
			acts := b.readStop(&in, c.m, *b.clock) == nil
			if acts != c.acts {
				t.Errorf("%s (keys: %v): acts %v, want %v", name, keys != nil, acts, c.acts)
			}
		}
	}
}

// TestRefusalsAreNotEndless: refusals are recorded one by one up to a rate, and counted
// beyond it.
func TestRefusalsAreNotEndless(t *testing.T) {
	b := newBench(t, Options{})
	for i := range 3000 { // five minutes of ten a second
		*b.clock = noon.Add(time.Duration(i) * 100 * time.Millisecond)
		b.Handle(Message{Topic: testTopics.Command("pause"), Payload: []byte("{")})
	}
	if n := b.unaudited; n < 2 || n > 10 {
		t.Errorf("%d refusals wait to be counted", n)
	}
	if got := len(b.answers(t)); got != outboxMax {
		t.Errorf("%d answers wait, want the newest %d", got, outboxMax)
	}
}
