package scripts

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"
)

// timedMain is "timed LOG": a pump whose firmware keeps a setpoint only for the time that
// came with it. The end of its input means nothing to the firmware: it runs until its last
// setpoint has ended. LOG has a line for each write and for each end of a setpoint.
func timedMain() {
	log, err := os.OpenFile(os.Args[1], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic("timed: " + err.Error())
	}
	p := &timedPump{log: log}
	fmt.Println(`{"protocol":"tuner-exec/1","name":"pump","channels":[` +
		`{"name":"power","unit":"W","access":"rw","min":0,"max":10,"safe":1,"release":false,"lasts":true},` +
		`{"name":"temp","unit":"degC","access":"r"}]}`)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		p.answer(lines.Bytes())
	}
	p.lapsed.Wait()
}

// timedPump is the firmware's state.
type timedPump struct {
	mu     sync.Mutex
	log    *os.File
	power  float64
	end    *time.Timer
	lapsed sync.WaitGroup
}

func (p *timedPump) answer(line []byte) {
	var r struct {
		ID     int                `json:"id"`
		Op     string             `json:"op"`
		Values map[string]float64 `json:"values"`
		ForMS  map[string]int64   `json:"for_ms"`
	}
	if err := json.Unmarshal(line, &r); err != nil {
		panic("timed: " + err.Error())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch r.Op {
	case "write":
		p.set(r.Values["power"], time.Duration(r.ForMS["power"])*time.Millisecond)
	case "safe":
		p.set(1, 0)
	case "read":
	default:
		fmt.Printf(`{"id":%d,"ok":false,"error":{"code":"unknown_op","message":"no such operation","retry":false}}`+"\n", r.ID)
		return
	}
	fmt.Printf(`{"id":%d,"ok":true,"values":{"power":%v,"temp":%v}}`+"\n", r.ID, p.power, 60-(p.power-7)*(p.power-7))
}

// set takes a setpoint; one without a time stands.
func (p *timedPump) set(power float64, stands time.Duration) {
	if p.end != nil && p.end.Stop() {
		p.lapsed.Done()
	}
	p.power, p.end = power, nil
	fmt.Fprintf(p.log, "write %v for %v\n", power, stands)
	if stands == 0 {
		return
	}
	p.lapsed.Add(1)
	began := time.Now()
	p.end = time.AfterFunc(stands, func() {
		defer p.lapsed.Done()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.power = 1
		fmt.Fprintf(p.log, "by itself at 1 after %d ms\n", time.Since(began).Milliseconds())
	})
}
