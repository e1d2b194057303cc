package modbus

import "fmt"

// Station are the keys of a device that speaks Modbus.
type Station struct {
	Address int     `toml:"address" bound:">= 1, <= 247" doc:"modbus: the instrument's address on the bus"`
	Expect  *Expect `toml:"expect" doc:"modbus: a register that tells the right instrument, at every connect"`
}

// Validate gives every problem at once.
func (o Station) Validate() (problems []error) {
	if o.Address < 1 || o.Address > 247 {
		problems = append(problems, fmt.Errorf("address is %d and must be 1 to 247", o.Address))
	}
	return problems
}
