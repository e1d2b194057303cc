package remote

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal/controlstate"
)

// Options say how an instrument is published and commanded.
type Options struct {
	Topics Topics
	// Session is the panel's; Version the program's.
	Session, Version string
	// Commands says that commands are taken; Keys who must have signed them, nil: whoever
	// the broker lets publish. Insecure is shown in the status: the connection is neither
	// encrypted nor on this computer.
	Commands bool
	Keys     Keys
	Insecure bool
	// Heartbeat is how often the status is said again, Telemetry how often values are;
	// zero: DefaultHeartbeat and DefaultTelemetry.
	Heartbeat, Telemetry time.Duration
	// Discovery is the prefix of Home Assistant's discovery, as in "homeassistant"; "": off.
	Discovery string
	// Memory is what an earlier process has remembered of commands.
	Memory controlstate.CommandMemory
	// Now is the clock; nil: the machine's.
	Now func() time.Time
	Log *slog.Logger
}

// The defaults of the periods.
const (
	DefaultHeartbeat = 10 * time.Second
	DefaultTelemetry = time.Second
)

const (
	// commandRate per second and commandBurst at once are taken from all senders together.
	commandRate, commandBurst = 10, 10
	// Of refused commands auditRate per second and auditBurst at once are recorded one by
	// one: what anyone may send must not fill the disk.
	auditRate, auditBurst = 1, 60
	// commandQueue bounds the commands that wait for the one being carried out.
	commandQueue = 32
	// stopQueue bounds the stops that wait: they all mean the same.
	stopQueue = 16
	// stopTimeout is how long the answer to a stop is waited for.
	stopTimeout = 10 * time.Second
	// newsRing is how many events may wait for the broker.
	newsRing = 256
)

// Remote is an instrument's presence at a broker. Urgent, Handle and Connected are for the
// link's goroutines and never block; Run is for one of its own.
type Remote struct {
	o     Options
	panel *control.Panel

	stops    chan Message
	commands chan incoming
	out      *outbox
	news     *control.Subscription
	// seq numbers the events; whoever reads news has it.
	seq uint64

	mu    sync.Mutex // guards what follows
	cache *commandCache
	rate  limiter
	audit limiter
	// unheard counts commands beyond the rate, unaudited refusals that were not recorded.
	unheard, unaudited int
}

// New makes the presence of the run behind panel.
func New(o Options, panel *control.Panel) *Remote {
	if o.Heartbeat <= 0 {
		o.Heartbeat = DefaultHeartbeat
	}
	if o.Telemetry <= 0 {
		o.Telemetry = DefaultTelemetry
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Remote{o: o, panel: panel, stops: make(chan Message, stopQueue), commands: make(chan incoming, commandQueue),
		out: newOutbox(), news: panel.Subscribe(newsRing), cache: newCommandCache(o.Memory),
		rate: newLimiter(commandRate, commandBurst), audit: newLimiter(auditRate, auditBurst)}
}

// Subscriptions are the topics that the link is to listen to.
func (r *Remote) Subscriptions() []string {
	if !r.o.Commands {
		return nil
	}
	return []string{r.o.Topics.Commands()}
}

// Will is what the broker is to say when the connection breaks.
func (r *Remote) Will() Message {
	return Message{Topic: r.o.Topics.Status(), Payload: encode(Presence{State: "lost", Session: r.o.Session}), Retained: true, QoS: 1}
}

// Connected has everything that is retained said anew: a broker may have lost it.
func (r *Remote) Connected() { r.out.greet() }

// Run publishes the run's status, and carries out commands, until the run has
// ended or ctx does; then it says that the tuner is offline.
func (r *Remote) Run(ctx context.Context, link Link) {
	ctx, cancel := context.WithCancel(ctx)
	var workers sync.WaitGroup
	workers.Go(func() { r.carryOutStops(ctx) })
	workers.Go(func() { r.carryOutCommands(ctx) })
	workers.Go(func() { r.readNews(ctx) })
	p := publisher{Remote: r, link: link}
	p.run(ctx)
	cancel()
	r.news.Close()
	workers.Wait()
	p.sendGoodbye()
}

// readNews turns what happens in the run into messages.
func (r *Remote) readNews(ctx context.Context) {
	for {
		n, err := r.news.Next(ctx)
		if err != nil {
			return
		}
		r.seq++
		r.out.put(Message{Topic: r.o.Topics.Event(), Payload: encode(eventOf(n, r.seq, r.o.Session)), QoS: 1})
	}
}

// encode writes v as JSON. What this package sends can always be written.
func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		text, _ = json.Marshal(map[string]string{"error": err.Error()})
	}
	return text
}
