package mqtt

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

//go:embed presets/*.toml
var presetFiles embed.FS

// presetNames lists the makes of devices whose topics and messages are ready.
func presetNames() []string {
	entries, err := fs.ReadDir(presetFiles, "presets")
	if err != nil {
		return nil // the folder is part of the program
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".toml"))
	}
	return names
}

// anyChannel is a preset's channel for those that it does not name.
const anyChannel = "*"

// preset is what a make of devices says, for one of them.
type preset struct {
	name, id string
	text     string
	options  Options
	channels []ChannelOptions
}

// presetOf gives the preset of a name for a device; the empty name stands for none.
func presetOf(name, id string) (*preset, error) {
	p := &preset{name: name, id: id, options: Default()}
	switch {
	case name == "" && id != "":
		return p, fmt.Errorf("id is %q, and there is no preset whose topics it stands in", id)
	case name == "":
		return p, nil
	case !slices.Contains(presetNames(), name):
		return p, fmt.Errorf("there is no preset %q; the presets are %s", name, strings.Join(presetNames(), ", "))
	case id == "" || strings.ContainsAny(id, "\"'\\{}\r\n\t") || checkTopic("id", id) != nil:
		return p, fmt.Errorf("id is %q; with the preset %q it names the device in its topics, without wildcards, quotes and braces", id, name)
	}
	text, err := presetFiles.ReadFile("presets/" + name + ".toml")
	if err != nil {
		return p, err
	}
	p.text = strings.ReplaceAll(string(text), "{id}", id)
	p.options, p.channels, err = p.decode("")
	if err != nil {
		return p, fmt.Errorf("preset %q: %w", name, err)
	}
	return p, nil
}

// decode reads the preset for a channel that it does not name, "" for none.
func (p *preset) decode(channel string) (Options, []ChannelOptions, error) {
	file := struct {
		*Options
		Channel map[string]ChannelOptions `toml:"channel"`
	}{Options: new(Default())}
	meta, err := toml.Decode(strings.ReplaceAll(p.text, "{channel}", channel), &file)
	if err != nil {
		return Default(), nil, err
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return Default(), nil, fmt.Errorf("unknown key %s", unknown[0])
	}
	if file.Broker != "" {
		return Default(), nil, errors.New("a preset names no broker")
	}
	var channels []ChannelOptions
	for _, key := range meta.Keys() {
		if len(key) == 2 && key[0] == "channel" {
			c := file.Channel[key[1]]
			c.Channel = key[1]
			channels = append(channels, c)
		}
	}
	return *file.Options, channels, nil
}

// channel gives the preset's description of a channel, false where it has none.
func (p *preset) channel(name string) (ChannelOptions, bool) {
	channels := p.channels
	if slices.ContainsFunc(channels, func(c ChannelOptions) bool { return c.Channel == anyChannel }) && !strings.ContainsAny(name, "\"'\\{}+#") {
		if _, all, err := p.decode(name); err == nil {
			channels = all
		}
	}
	for _, want := range []string{name, anyChannel} {
		if i := slices.IndexFunc(channels, func(c ChannelOptions) bool { return c.Channel == want }); i >= 0 {
			c := channels[i]
			c.Channel = name
			return c, true
		}
	}
	return ChannelOptions{Channel: name}, false
}

// names lists the channels that the preset names.
func (p *preset) names() string {
	var all []string
	for _, c := range p.channels {
		all = append(all, c.Channel)
	}
	return strings.Join(all, ", ")
}
