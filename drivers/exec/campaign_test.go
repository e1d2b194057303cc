package exec

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
)

var (
	childOutages = flag.Int("childoutages", 8, "outages of TestOutageCampaign: children that die, hang or talk nonsense")
	childSeed    = flag.Uint64("seed", 0, "seed of TestOutageCampaign; 0: another each time")
)

const (
	// campaignChild is the behaviour, behind which its seed stands; campaignLog names the file in which it
	// notes what it takes.
	campaignChild = "campaign "
	campaignLog   = "TUNER_TEST_LOG"
	// campaignReply is the driver's reply_timeout; the child is late by more.
	campaignReply = 300 * time.Millisecond
	// foreignValue is in every answer that must not be taken.
	foreignValue = 7777
)

// The campaign's children work for some requests, and then fail once, each in its own way and time.
// Then:
//
//   - No setpoint is taken that Write reported as not sent, none after a later one, none after Write has
//     confirmed it, and none after its child was closed: that is what stale means. A child whose answer
//     is late may take what it was asked while it is given the time to go safe, which it does then.
//   - What Write reports as done was taken.
//   - Every value that is read is the last one taken by that child, and its companion's.
//   - After an outage a new child is there at the next Open.
//
// The long size:
//
//	go test ./drivers/exec -run TestOutageCampaign -v -childoutages 500 -seed 7 -timeout 1h
func TestOutageCampaign(t *testing.T) {
	seed := *childSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("%d outages, seed %d", *childOutages, seed)
	random := rand.New(rand.NewPCG(seed, 4))
	log := filepath.Join(t.TempDir(), "taken")
	t.Setenv(campaignLog, log)
	var wrote, confirmed, values, outages int
	type written struct {
		err  error
		over time.Time // when it was confirmed, else when its child was closed
	}
	writes := map[int]written{}
	for outages = 0; outages < *childOutages && !t.Failed(); outages++ {
		t.Setenv(childVariable, fmt.Sprint(campaignChild, random.Uint64()))
		o := Default()
		o.Command, o.ReplyTimeout, o.ExitTimeout = []string{os.Args[0]}, campaignReply, time.Second
		d, _ := device(t, o)
		began := time.Now()
		for _, err := d.Open(t.Context()); err != nil; _, err = d.Open(t.Context()) { // a busy machine may be late
			if time.Since(began) > patience {
				t.Fatal(err)
			}
		}
		now := 0.0 // what this child has taken last
		for broken := false; !broken; {
			var err error
			if random.IntN(3) == 0 {
				wrote++
				_, err = d.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"power": float64(wrote)}})
				writes[wrote] = written{err, time.Now()}
				if err == nil {
					confirmed++
					now = float64(wrote)
				}
			} else {
				var r drivers.Reading
				if r, err = d.Read(context.Background(), []string{"power", "temp"}); err == nil {
					values += len(r.Values)
					if r.Values["power"] != now || r.Values["temp"] != 3*now+1 {
						t.Errorf("read %v after %v was taken", r.Values, now)
					}
				}
			}
			broken = err != nil
			if broken && !errors.Is(err, drivers.ErrClosed) && !errors.Is(err, drivers.ErrProtocol) {
				t.Errorf("a child that fails gives %v", err)
			}
		}
		_ = d.Close() // it may say that the child had to be killed
		if w := writes[wrote]; w.err != nil {
			writes[wrote] = written{w.err, time.Now()}
		}
	}
	taken, stale, last := 0, 0, 0
	file, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	had := map[int]bool{}
	for lines := bufio.NewScanner(file); lines.Scan(); taken++ {
		var number int
		var at int64
		if _, err := fmt.Sscan(lines.Text(), &number, &at); err != nil {
			t.Fatal(err)
		}
		w, known := writes[number]
		if !known || errors.Is(w.err, drivers.ErrNotSent) || number <= last || time.Unix(0, at).After(w.over) {
			stale++
			t.Errorf("setpoint %d is taken at %v after %d; written: %+v", number, time.Unix(0, at), last, w)
		}
		last, had[number] = number, true
	}
	for number, w := range writes {
		if w.err == nil && !had[number] {
			t.Errorf("setpoint %d is confirmed and not taken", number)
		}
	}
	t.Logf("%d outages; %d writes, %d confirmed, %d taken, %d stale; %d values, all of them right unless told", outages, wrote, confirmed, taken, stale, values)
}

// trouble is how a child of the campaign fails.
type trouble int

const (
	diesBefore  trouble = iota // before it takes what it is asked
	diesAfter                  // after it, before its answer
	diesWithin                 // within its answer
	hangs                      // for ever, before
	stops                      // as by Ctrl-Z, before
	lateBefore                 // takes it when the driver has given up
	lateAfter                  // takes it, and answers then
	twice                      // answers twice, the second time with another value
	wrongNumber                // answers another request
	noNumber                   // says no JSON number
	troubles
)

// beCampaignChild plays such a child.
func beCampaignChild(seed uint64) int {
	random := rand.New(rand.NewPCG(seed, 5))
	left, kind := 2+random.IntN(30), trouble(random.IntN(int(troubles)))
	log, err := os.OpenFile(os.Getenv(campaignLog), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	power := 0.0
	answer := func(id int, power, temp any) {
		fmt.Printf(`{"id":%d,"ok":true,"values":{"power":%v,"temp":%v}}`+"\n", id, power, temp)
	}
	fmt.Println(`{"protocol":"tuner-exec/1","name":"oven","channels":[{"name":"power","unit":"W","access":"rw","min":0,"max":1e9,"safe":0},{"name":"temp","unit":"degC","access":"r"}]}`)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); left-- {
		var r struct {
			ID     int
			Op     string
			Values map[string]float64
		}
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			panic(err)
		}
		fails := left <= 0 && (r.Op == opRead || r.Op == opWrite)
		if fails {
			switch kind {
			case diesBefore:
				return 3
			case hangs:
				time.Sleep(time.Hour)
			case stops:
				_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			case lateBefore:
				time.Sleep(2 * campaignReply)
			}
		}
		switch v, set := r.Values["power"]; {
		case r.Op == opWrite && set:
			power = v
			fmt.Fprintf(log, "%d %d\n", int(v), time.Now().UnixNano())
		case r.Op != opRead:
			fmt.Printf(`{"id":%d,"ok":false,"error":{"code":"unknown_op","message":"no"}}`+"\n", r.ID)
			continue
		}
		if fails {
			switch kind {
			case diesAfter:
				return 3
			case diesWithin:
				fmt.Printf(`{"id":%d,"ok":true,"values":{"power":%d`, r.ID, foreignValue)
				return 3
			case lateAfter:
				time.Sleep(2 * campaignReply)
				answer(r.ID, foreignValue, foreignValue)
			case twice:
				answer(r.ID, power, 3*power+1)
				answer(r.ID, foreignValue, foreignValue)
				continue
			case wrongNumber:
				answer(r.ID-1, foreignValue, foreignValue)
			case noNumber:
				answer(r.ID, "NaN", foreignValue)
			}
		}
		answer(r.ID, power, 3*power+1)
	}
	return 0
}
