package serial

import "errors"

// Register is where a Modbus value stands.
type Register struct {
	Function int `toml:"function" doc:"the function code"`
}

var errFrame = errors.New("the frame is damaged")

// newModbus makes the talker of Modbus RTU.
func newModbus(*Options, []*channel, []ChannelOptions) (talker, error) {
	return nil, errors.New(`protocol "modbus" is not in this version; "line" and "ezo" are`)
}
