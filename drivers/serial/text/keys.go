package text

import "time"

// ReadKeys are the keys of read that describe lines.
type ReadKeys struct {
	Out     string `toml:"out" doc:"the command that asks, as it is sent"`
	In      string `toml:"in" doc:"the form of the answer, such as R1=%f; all of it must match"`
	None    string `toml:"none" doc:"the answer that says that there is nothing new"`
	Running bool   `toml:"running" doc:"the answer only says whether the channel is at work: 0 is the value 0, anything else stands for what was acknowledged last"`
}

// WriteKeys are the keys of write that describe lines.
type WriteKeys struct {
	Out    string  `toml:"out" doc:"the command, with one conversion for the value, such as M 1 %.3f"`
	Ack    string  `toml:"ack" doc:"regular expression of the answer; absent: there is no answer"`
	Lasts  string  `toml:"lasts" enum:"ms,s,min" doc:"the command also says how long the value stands, in this unit, as a second conversion with a star: DC,%.2f,%*.3f; it is the variable's lease; absent: until it is changed"`
	Verify *Verify `toml:"verify" doc:"a question whose answer must agree with what was set"`
	Done   *Done   `toml:"done" doc:"of a dose: what to ask until it is over; absent: it is over when it is acknowledged"`
}

// Done is a question that tells when a dose is over. What was given is then read.
type Done struct {
	Out     string        `toml:"out" required:"true" doc:"the command that asks, as it is sent"`
	In      string        `toml:"in" required:"true" doc:"the form of the answer; 0: the dose is over"`
	Timeout time.Duration `toml:"timeout" bound:">= 0s, <= 24h" doc:"longest time that a dose takes, before its outcome is unknown; 0s: 10m"`
}

// Verify is a question that checks a write.
type Verify struct {
	Out       string  `toml:"out" doc:"the question; modbus reads what was written, and has none"`
	In        string  `toml:"in" doc:"the form of the answer that confirms the setpoint"`
	Tolerance float64 `toml:"tolerance" required:"true" unit:"the channel's" bound:">= 0" doc:"how far the answer may lie from what was set"`
}

// Lines are what one channel says in lines; what it has not is nil.
type Lines struct {
	Read    *ReadKeys
	Write   *WriteKeys
	Release *Exchange
}
