package configs

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Notify is where notices of a run are sent, beside its terminal, page and broker.
type Notify struct {
	URL           string   `toml:"url" doc:"where notices are posted: ntfy, Slack, Home Assistant or your own server. An address that holds a secret belongs in one of the next three keys"`
	URLFile       string   `toml:"url_file" doc:"a file that holds the address, where it contains a secret"`
	URLCredential string   `toml:"url_credential" doc:"a systemd credential (LoadCredential=) that holds it, for a service"`
	URLEnv        string   `toml:"url_env" doc:"an environment variable that holds it, for a container"`
	Format        string   `toml:"format" default:"json" enum:"json,text,slack" doc:"what is posted: an object; the text alone, as ntfy takes it; {\"text\": TEXT}, as Slack and Mattermost do"`
	Command       []string `toml:"command" doc:"your own program and its arguments: the notice comes as JSON on its standard input, its kind and text also in $TUNER_EVENT and $TUNER_TEXT"`
	On            []string `toml:"on" doc:"which events are sent: tripped, held, finished, new-best; absent: the first three"`
	// A person reads one a minute; what comes meanwhile is sent as one.
	Every time.Duration `toml:"every" default:"1m" bound:">= 0s" doc:"shortest time between two notices of a kind; of those in between the newest is sent"`
}

// notify checks [notify].
func (k *checker) notify() {
	n := k.cfg.Notify
	if n == nil {
		return
	}
	places := 0
	for _, place := range []string{n.URL, n.URLFile, n.URLCredential, n.URLEnv} {
		if place != "" {
			places++
		}
	}
	switch u, err := url.Parse(n.URL); {
	case places > 1:
		k.bad("notify", "the URL is kept in more than one place", "keep one of url, url_file, url_credential and url_env")
	case places == 0 && len(n.Command) == 0:
		k.bad("notify", "no receiver is named", "write url or command")
	case n.URL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == ""):
		k.bad("notify.url", "is no address of a server", `such as "https://ntfy.sh/TOPIC"`)
	}
	if len(n.Command) > 0 && n.Command[0] == "" {
		k.bad("notify.command", "names no program", "")
	}
	for _, kind := range n.On {
		if known := k.cfg.known.enum("@notices"); !slices.Contains(known, kind) {
			k.bad("notify.on", fmt.Sprintf("%q is not a kind of notice", kind), "it lists "+strings.Join(known, ", "))
		}
	}
}
