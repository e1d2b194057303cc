package opcua

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gopcua/opcua/id"
	"github.com/gopcua/opcua/ua"

	"github.com/labtuner/tuner/drivers"
)

const (
	// mostDiscovered bounds the nodes that a look at a server takes in, and mostDeep how far down
	// from its Objects folder: a plant's server may have a hundred thousand.
	mostDiscovered, mostDeep = 200, 5
)

// usualEndpoint is where a server of this computer listens: the port is registered for OPC UA.
const usualEndpoint = "opc.tcp://127.0.0.1:4840"

// discover looks what a server without a login has below its Objects folder: variables that hold
// numbers. Those that this user may write are channels that can be set. It reads, and writes nothing.
func discover(ctx context.Context, at string, env drivers.Env) ([]drivers.Discovered, error) {
	o := Default()
	if o.Endpoint = at; at == "" {
		o.Endpoint = usualEndpoint
	}
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("opcua: %w", err)
	}
	c, err := connect(ctx, &o, nil, env.Clock.Now(), func() {})
	if err != nil {
		if at == "" { // none is there
			return nil, nil
		}
		return nil, err
	}
	defer c.end()
	nodes, err := c.variables(ctx)
	if err != nil {
		return nil, err
	}
	found := drivers.Discovered{Name: "server", Keys: []string{"endpoint = " + strconv.Quote(o.Endpoint)}}
	names := map[string]int{}
	for _, n := range nodes {
		d := n.described
		if d.kind < ua.TypeIDBoolean || d.kind > ua.TypeIDDouble {
			continue
		}
		name := n.name
		if names[name]++; names[name] > 1 {
			name += "_" + strconv.Itoa(names[n.name])
		}
		node := fmt.Sprintf("{ node = %s }", strconv.Quote(n.id.String()))
		ch := drivers.DiscoveredChannel{Known: true, Section: []string{"read = " + node}, Channel: drivers.Channel{Name: name, Unit: d.unit, Min: d.low, Max: d.high, Safe: math.NaN()}}
		if d.knowsAccess && d.access&ua.AccessLevelTypeCurrentWrite != 0 {
			ch.Access, ch.Section = drivers.ReadWrite, append(ch.Section, "write = "+node)
		}
		found.Channels = append(found.Channels, ch)
	}
	found.Says = fmt.Sprintf("the OPC UA server at %s, %d nodes that hold numbers", o.Endpoint, len(found.Channels))
	if len(nodes) == mostDiscovered {
		found.Says += fmt.Sprintf(" among the first %d; it has more", mostDiscovered)
	}
	return []drivers.Discovered{found}, nil
}

// variable is a node that was come upon.
type variable struct {
	id   *ua.NodeID
	name string
	described
}

// variables are those below the Objects folder, without those of OPC UA itself.
func (c *connection) variables(ctx context.Context) ([]*variable, error) {
	var all []*variable
	seen := map[string]bool{}
	level := []*ua.NodeID{ua.NewNumericNodeID(0, id.ObjectsFolder)}
	for deep := 0; deep < mostDeep && len(level) > 0 && len(all) < mostDiscovered; deep++ {
		references, err := c.below(ctx, level)
		if err != nil {
			return nil, err
		}
		level = nil
		for _, r := range references {
			n := r.NodeID.NodeID
			if seen[n.String()] || n.Namespace() == 0 {
				continue
			}
			seen[n.String()] = true
			if r.NodeClass == ua.NodeClassVariable && len(all) < mostDiscovered {
				all = append(all, &variable{id: n, name: channelName(r.BrowseName.Name), described: described{low: math.NaN(), high: math.NaN()}})
			}
			if len(level) < mostDiscovered {
				level = append(level, n)
			}
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	var order []*ua.NodeID
	nodes := map[string]*described{}
	for _, v := range all {
		order, nodes[v.id.String()] = append(order, v.id), &v.described
	}
	if err := c.attributes(ctx, order, nodes); err != nil {
		return nil, err
	}
	return all, c.properties(ctx, order, nodes)
}

// below are the references from nodes to what hangs below them.
func (c *connection) below(ctx context.Context, nodes []*ua.NodeID) (all []*ua.ReferenceDescription, err error) {
	var browse []*ua.BrowseDescription
	for _, n := range nodes {
		browse = append(browse, &ua.BrowseDescription{NodeID: n, BrowseDirection: ua.BrowseDirectionForward, ReferenceTypeID: ua.NewNumericNodeID(0, id.HierarchicalReferences),
			IncludeSubtypes: true, NodeClassMask: uint32(ua.NodeClassObject | ua.NodeClassVariable), ResultMask: uint32(ua.BrowseResultMaskAll)})
	}
	a, err := call[*ua.BrowseResponse](ctx, c, "a question for nodes", &ua.BrowseRequest{View: &ua.ViewDescription{ViewID: ua.NewTwoByteNodeID(0)}, NodesToBrowse: browse}, c.options.ReplyTimeout)
	if err != nil {
		return nil, err
	}
	results := a.Results
	for len(results) > 0 && len(all) < mostDiscovered*mostDeep {
		var more [][]byte
		for _, r := range results {
			if r == nil {
				continue
			}
			for _, ref := range r.References {
				if ref != nil && ref.BrowseName != nil && ref.NodeID != nil && ref.NodeID.NodeID != nil {
					all = append(all, ref)
				}
			}
			if len(r.ContinuationPoint) > 0 {
				more = append(more, r.ContinuationPoint)
			}
		}
		if results = nil; len(more) > 0 {
			next, err := call[*ua.BrowseNextResponse](ctx, c, "a question for more nodes", &ua.BrowseNextRequest{ContinuationPoints: more}, c.options.ReplyTimeout)
			if err != nil {
				return nil, err
			}
			results = next.Results
		}
	}
	return all, nil
}

// channelName keeps of a node's name what needs no quotes in a file.
func channelName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	if name == "" {
		return "node"
	}
	return name
}
