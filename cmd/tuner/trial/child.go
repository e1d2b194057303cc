package trial

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// childMain is "child LOG [FAULT@N]": a heater that speaks tuner-exec/1, written
// from the protocol's description alone. Every request goes to LOG as a line of
// its own. At the N-th request, counted over all starts of the program, it
// commits the fault:
//
//	hang      never answers again
//	die       exits
//	dead      exits, and every later start does too
//	order     answers with the wrong id
//	long      answers with a line of 1 MB
//	nan       answers with NaN
//	text      prints a word of text
//	refuse    says no to every write and to safe
//
// holds@0 is no fault: it keeps what a bye names.
func childMain() {
	log, fault, at := os.Args[1], "", math.MaxInt
	if len(os.Args) > 2 {
		name, n, _ := strings.Cut(os.Args[2], "@")
		fault = name
		var err error
		if at, err = strconv.Atoi(n); err != nil {
			panic("child: " + err.Error())
		}
	}
	before, err := os.ReadFile(log)
	if err != nil && !os.IsNotExist(err) {
		panic("child: " + err.Error())
	}
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic("child: " + err.Error())
	}
	holdLog(file)
	c := &child{log: file, fault: fault, at: at, count: strings.Count(string(before), `"op"`)}
	if fault == "dead" && c.count >= at {
		os.Exit(3)
	}
	c.say(fmt.Sprintf(`{"protocol":"tuner-exec/1","name":"heater","holds":%v,"channels":[`, fault == "holds") +
		`{"name":"power","unit":"W","access":"rw","min":0,"max":10,"safe":1,"release":false},` +
		`{"name":"temp","unit":"degC","access":"r"}]}`)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		c.answer(lines.Bytes())
	}
	fmt.Fprintln(file, "end of input")
}

// child is the heater's state.
type child struct {
	log   *os.File
	power float64
	fault string
	// at is the request at which the fault is committed, count their number so far.
	at, count int
}

func (c *child) say(line string) { fmt.Println(line) }

func (c *child) answer(line []byte) {
	var r struct {
		ID       int                `json:"id"`
		Op       string             `json:"op"`
		Values   map[string]float64 `json:"values"`
		Channels []string           `json:"channels"`
	}
	if err := json.Unmarshal(line, &r); err != nil {
		panic("child: " + err.Error())
	}
	fmt.Fprintf(c.log, "%s\n", line)
	c.count++
	if c.count == c.at || c.count > c.at && c.fault == "refuse" {
		if c.commit(r.ID, r.Op) {
			return
		}
	}
	switch {
	case r.Op == "bye" && c.fault == "holds":
		c.say(fmt.Sprintf(`{"id":%d,"ok":true}`, r.ID))
	case r.Op == "write":
		c.power = r.Values["power"]
		c.say(fmt.Sprintf(`{"id":%d,"ok":true,"values":{"power":%v}}`, r.ID, c.power))
	case r.Op == "read":
		values := map[string]float64{}
		if slices.Contains(r.Channels, "power") {
			values["power"] = c.power
		}
		if slices.Contains(r.Channels, "temp") {
			// A ripple that looks like noise and is the same in every run.
			values["temp"] = 60 - (c.power-7)*(c.power-7) + 0.1*math.Sin(float64(c.count*c.count))
		}
		text, err := json.Marshal(map[string]any{"id": r.ID, "ok": true, "values": values})
		if err != nil {
			panic("child: " + err.Error())
		}
		c.say(string(text))
	case r.Op == "safe":
		c.power = 1
		c.say(fmt.Sprintf(`{"id":%d,"ok":true}`, r.ID))
	default:
		c.say(fmt.Sprintf(`{"id":%d,"ok":false,"error":{"code":"unknown_op","message":"no such operation","retry":false}}`, r.ID))
	}
}

// commit does what is wrong; false means that the request is to be answered all
// the same.
func (c *child) commit(id int, op string) bool {
	switch c.fault {
	case "hang":
		for {
			time.Sleep(time.Hour)
		}
	case "die", "dead":
		os.Exit(3)
	case "order":
		c.say(fmt.Sprintf(`{"id":%d,"ok":true,"values":{"power":2}}`, id+1))
	case "long":
		c.say(fmt.Sprintf(`{"id":%d,"ok":true,"padding":"%s"}`, id, strings.Repeat("x", 1<<20)))
	case "nan":
		c.say(fmt.Sprintf(`{"id":%d,"ok":true,"values":{"power":NaN}}`, id))
	case "text":
		c.say("warming up, please wait")
	case "refuse":
		if op != "write" && op != "safe" {
			return false
		}
		c.say(fmt.Sprintf(`{"id":%d,"ok":false,"error":{"code":"interlock","message":"door open","retry":false}}`, id))
	}
	return true
}

// holdLog says, while a child of a test lives, that it may still write to its log.
func holdLog(log *os.File) {
	if err := syscall.Flock(int(log.Fd()), syscall.LOCK_SH); err != nil {
		panic("hold the log: " + err.Error())
	}
}
