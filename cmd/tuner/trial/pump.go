package trial

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// pumpMain is "pump LOG [MILLISECONDS]": a pump and a probe that speak tuner-exec/1,
// written from the protocol's description alone. Each dose is a line of LOG, synced
// before the dose is answered: its name and its amount. It takes its time.
func pumpMain() {
	takes := 0
	if len(os.Args) > 2 {
		var err error
		if takes, err = strconv.Atoi(os.Args[2]); err != nil {
			panic("pump: " + err.Error())
		}
	}
	log, err := os.OpenFile(os.Args[1], os.O_CREATE|os.O_APPEND|os.O_WRONLY|os.O_SYNC, 0o600)
	if err != nil {
		panic("pump: " + err.Error())
	}
	holdLog(log)
	fmt.Println(`{"protocol":"tuner-exec/1","name":"pump","channels":[` +
		`{"name":"feed","unit":"mL","access":"rw","min":0,"max":5,"kind":"dose"},` +
		`{"name":"level","unit":"mL","access":"r"},{"name":"growth","unit":"g","access":"r"}]}`)
	level, last := Pumped(os.Args[1]), 0.0
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var r struct {
			ID      int
			Op      string
			Values  map[string]float64
			Release []string
			Dose    string
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			panic("pump: " + err.Error())
		}
		switch amount, dosed := r.Values["feed"]; {
		case r.Op == "write" && dosed && r.Dose != "":
			time.Sleep(time.Duration(takes) * time.Millisecond)
			fmt.Fprintf(log, "%s %g\n", r.Dose, amount)
			level, last = level+amount, amount
			fmt.Printf(`{"id":%d,"ok":true,"values":{"feed":%g}}`+"\n", r.ID, amount)
		case r.Op == "write" && dosed:
			fmt.Fprintf(log, "NAMELESS %g\n", amount)
			fmt.Printf(`{"id":%d,"ok":true}`+"\n", r.ID)
		case r.Op == "write", r.Op == "safe":
			fmt.Printf(`{"id":%d,"ok":true}`+"\n", r.ID)
		case r.Op == "read":
			fmt.Printf(`{"id":%d,"ok":true,"values":{"level":%g,"growth":%g}}`+"\n", r.ID, level, 10-(last-2)*(last-2))
		default:
			fmt.Printf(`{"id":%d,"ok":false,"error":{"code":"unknown_op","message":"no such operation","retry":false}}`+"\n", r.ID)
		}
	}
}

// Pumped adds up what a pump's log has.
func Pumped(path string) (total float64) {
	for _, d := range DosesIn(path) {
		total += d.Amount
	}
	return total
}

// HeardDose is a dose as the pump has heard it.
type HeardDose struct {
	Name   string
	Amount float64
}

// DosesIn reads a pump's log.
func DosesIn(path string) (all []HeardDose) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		name, amount, _ := strings.Cut(strings.TrimSpace(line), " ")
		x, err := strconv.ParseFloat(amount, 64)
		if err != nil {
			panic("pump log: " + line)
		}
		all = append(all, HeardDose{name, x})
	}
	return all
}
