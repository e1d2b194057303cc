package configs

// Device is a connection to an instrument. Beside its name and driver it keeps
// the driver's own keys undecoded: the driver's options struct gives them their
// meaning, through Decode.
type Device struct {
	Name   string `toml:"name" required:"true" doc:"name that sensors and variables refer to"`
	Driver string `toml:"driver" required:"true" doc:"which driver speaks to it: serial, mqtt, exec, sim"`
	// Line is the line of the device's header in the file, 0 where unknown.
	Line int `toml:"-"`
}

// DeviceChannel is one [device.channel.NAME] section, its keys undecoded.
type DeviceChannel struct {
	Name string
	// Line is the line of the section's header, 0 where unknown.
	Line int
}
