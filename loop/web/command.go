package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/plan"
)

// Identity says which run is behind a door.
type Identity struct {
	Name string    `json:"name"`
	Site string    `json:"site"`
	Mode plan.Mode `json:"mode"`
	// Config and Journal are absolute paths.
	Config  string `json:"config"`
	Journal string `json:"journal"`
	// Session and Run are as in control.Status, PID is the process, Version the program's.
	Session string `json:"session"`
	Run     string `json:"run"`
	PID     int    `json:"pid"`
	Version string `json:"version"`
	// Page is the address of its page, "" where there is none.
	Page string `json:"page"`
}

// Order is the body of a command; it may be left out.
type Order struct {
	// Transaction is the sender's name for the command, for the record.
	Transaction string `json:"transaction,omitempty"`
	// Args are control.Request's.
	Args json.RawMessage `json:"args,omitempty"`
}

// Answer is what came of a command, with the run just after it.
type Answer struct {
	control.Answer
	Status *control.Status `json:"status"`
}

// command carries out a command of the page or of the socket.
func (d *Dashboard) command(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := VisitorOf(r)
		q := control.Request{Command: name, Who: v.Who, Transport: v.Transport}
		o, err := readOrder(r.Body)
		if err != nil && name != control.CommandStop { // a stop is never refused for what comes with it
			a := control.Response{Code: control.CodeArgs, Message: err.Error(), Status: d.o.Panel.Status()}
			d.o.Panel.Refused(q, a)
			d.answer(w, q, a)
			return
		}
		q.Transaction, q.Args = o.Transaction, o.Args
		ctx, cancel := context.WithTimeout(r.Context(), commandWait)
		defer cancel()
		d.answer(w, q, d.o.Panel.Do(ctx, q))
	})
}

// Prospect is the answer to the question what a command would do.
type Prospect struct {
	// OK says that it would be followed, as far as that is known before; else Message is why not.
	OK      bool   `json:"ok"`
	Message string `json:"message"`
	control.Preview
}

// preview says what a command would do.
func (d *Dashboard) preview(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o, err := readOrder(r.Body)
		q := control.Request{Command: name, Args: o.Args}
		if err == nil {
			if bad, ok := (&control.Order{Request: q}).Check(); !ok {
				err = errors.New(bad.Message)
			}
		}
		f := Prospect{}
		if err == nil {
			f.Preview, err = d.o.Preview(q)
		}
		status := http.StatusOK
		if f.OK = err == nil; err != nil {
			f.Message, status = err.Error(), http.StatusConflict
		}
		d.writeJSON(w, status, f)
	})
}

// answer sends the result to the sender of a command.
func (d *Dashboard) answer(w http.ResponseWriter, q control.Request, a control.Response) {
	status := http.StatusOK
	if !a.OK {
		status = http.StatusConflict
	}
	d.writeJSON(w, status, Answer{a.AnswerTo(q, d.o.Panel.Status().Session), a.Status})
}

// readOrder reads the body of a command; an empty one is an Order without anything.
func readOrder(body io.Reader) (o Order, err error) {
	decoder := json.NewDecoder(body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&o); err != nil && err != io.EOF {
		return Order{}, fmt.Errorf(`the body: %w; it is empty or {"transaction": TEXT, "args": OBJECT}`, err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return Order{}, errors.New("the body holds more than one value")
	}
	if o.Transaction == "" {
		return o, nil
	}
	if err := control.CheckTransaction(o.Transaction); err != nil {
		return Order{}, err
	}
	return o, nil
}
