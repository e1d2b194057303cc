// Package exec makes an instrument of any program that speaks tuner-exec/1 on
// its standard input and output.
//
// # Words
//
// The host is tuner; the child is the program. A request is one line from the
// host, an answer one line from the child. A readback is the values that an
// answer to a write carries. A refusal is an answer with "ok":false. A fault is
// anything that the protocol does not allow; it ends the child.
//
// # tuner-exec/1
//
// Every line is one JSON object in UTF-8, at most 64 KiB with its line feed.
// Both sides ignore keys that they do not know. Numbers are finite.
//
//	child -> {"protocol":"tuner-exec/1","name":"heater","channels":[
//	          {"name":"power","unit":"W","access":"rw","min":0,"max":10,"safe":0},
//	          {"name":"temp","unit":"degC","access":"r"}]}
//	host  -> {"id":1,"op":"write","values":{"power":3.2},"release":["fan"],"deadline_ms":500}
//	child -> {"id":1,"ok":true,"values":{"power":3.2}}
//	host  -> {"id":2,"op":"read","channels":["temp","power"],"deadline_ms":500}
//	child -> {"id":2,"ok":true,"values":{"temp":29.6,"power":3.2}}
//	host  -> {"id":3,"op":"safe","deadline_ms":500}
//	child -> {"id":3,"ok":true}
//	child -> {"id":4,"ok":false,"error":{"code":"busy","message":"still homing","retry":true}}
//
// (The hello is one line; it is broken here to fit.)
//
// The child speaks first, within 30 s (start_timeout): its hello declares the channels. access
// is "r" or "rw"; min, max and safe may be left out; an "rw" channel can be
// released unless it says "release":false. Then the host asks and the child
// answers, one request outstanding, within deadline_ms milliseconds. All values
// of one answer belong to one instant, "age_ms" milliseconds before the answer
// where it says so; a channel that was asked for and is absent from an answer has
// nothing new. The host sends one operation that no
// child knows, at the start, and expects the code "unknown_op": so both sides
// stay able to grow. The end of the child's input means: bring every output to
// safe, then exit.
//
// A child that answers late, twice, out of order, with a wrong id, with a line
// that is too long or not strict JSON, is faulty. Its input is closed, which
// still asks it to go safe; what is left of its process group after exit_timeout
// is killed. The device stays dead until it is opened again, with a new child.
//
// What the child writes on its standard error becomes log lines; a line that
// begins with "E! ", "W! ", "I! " or "D! " has that level.
package exec
