package serial

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

//go:embed profiles/*.toml
var profileFiles embed.FS

// profileNames lists the ready descriptions.
func profileNames() []string {
	entries, err := fs.ReadDir(profileFiles, "profiles")
	if err != nil {
		return nil // the folder is part of the program
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".toml"))
	}
	return names
}

// profileText is a description as its file has it.
func profileText(name string) (string, bool) {
	text, err := profileFiles.ReadFile("profiles/" + name + ".toml")
	return string(text), err == nil
}

// fromProfile gives what a file's keys are laid over: the defaults, with a
// profile's keys in their place, and the profile's channels. The empty name
// stands for no profile.
func fromProfile(name string) (Options, []ChannelOptions, error) {
	o := Default()
	if name == "" {
		return o, nil, nil
	}
	if !slices.Contains(profileNames(), name) {
		return o, nil, fmt.Errorf("there is no profile %q; the profiles are %s", name, strings.Join(profileNames(), ", "))
	}
	text, _ := profileText(name)
	channels, err := decodeProfile(text, &o)
	if err != nil {
		return Default(), nil, fmt.Errorf("profile %q: %w", name, err)
	}
	o.Profile = name
	return o, channels, nil
}

// decodeProfile lays a profile's keys over o and gives its channels in order.
func decodeProfile(text string, o *Options) ([]ChannelOptions, error) {
	var file struct {
		*Options
		Channel map[string]ChannelOptions `toml:"channel"`
	}
	file.Options = o
	meta, err := toml.Decode(text, &file)
	if err != nil {
		return nil, err
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return nil, fmt.Errorf("unknown key %s", unknown[0])
	}
	if o.Port != "" {
		return nil, errors.New("a profile names no port")
	}
	var channels []ChannelOptions
	for _, key := range meta.Keys() {
		if len(key) != 2 || key[0] != "channel" {
			continue
		}
		c := file.Channel[key[1]]
		c.Channel = key[1]
		channels = append(channels, c)
	}
	return channels, nil
}
