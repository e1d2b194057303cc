package port

import "time"

// Settings are the keys of a device that say which port it is on, and how that is set.
type Settings struct {
	Port     string `toml:"port" required:"true" doc:"the device file, best as /dev/serial/by-id/..., which stays with the instrument; or on the network tcp://HOST:PORT, the socket of an instrument or of a serial server, or rfc2217://HOST:PORT, a serial server that takes the keys below"`
	Baud     int    `toml:"baud" unit:"1/s" bound:">= 50, <= 4000000" doc:"bits per second, as the instrument's manual says"`
	DataBits int    `toml:"data_bits" bound:">= 5, <= 8" doc:"bits of a character, as the instrument's manual says"`
	Parity   string `toml:"parity" enum:"none,even,odd" doc:"parity bit, as the instrument's manual says"`
	StopBits int    `toml:"stop_bits" bound:">= 1, <= 2" doc:"stop bits, as the instrument's manual says"`
	DTR      string `toml:"dtr" enum:"on,off" doc:"the line that resets many Arduinos when it rises"`
	RTS      string `toml:"rts" enum:"on,off" doc:"state of the RTS line, by which some RS-485 adapters switch to sending"`
}

// Spec is what the opener needs for the port at path, where an answer may take reply, and
// pause for readTimeout.
func (o Settings) Spec(path string, reply, readTimeout time.Duration) Spec {
	return Spec{Path: path, Baud: o.Baud, DataBits: o.DataBits, StopBits: o.StopBits, Parity: o.Parity,
		DTR: o.DTR != "off", RTS: o.RTS != "off", Slice: min(readSlice, readTimeout), Patience: Connecting(reply)}
}
