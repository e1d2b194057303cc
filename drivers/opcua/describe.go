package opcua

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"

	"github.com/gopcua/opcua/id"
	"github.com/gopcua/opcua/ua"

	"github.com/labtuner/tuner/drivers"
)

// described is what the server says of a node.
type described struct {
	kind        ua.TypeID // of its value
	access      ua.AccessLevelType
	knowsAccess bool
	unit        string
	low, high   float64 // EURange, NaN where there is none
	status      ua.StatusCode
}

// describe asks the server what the channels' nodes are: the type of their values, what this
// user may do with them, EngineeringUnits and EURange. It gives the channels with that laid
// under what the file says, which may only narrow it, and the types by node.
func (c *connection) describe(ctx context.Context, file []*channel, log *slog.Logger) ([]*channel, map[string]ua.TypeID, error) {
	nodes := map[string]*described{}
	var order []*ua.NodeID
	add := func(n *ua.NodeID) {
		if n != nil && nodes[n.String()] == nil {
			nodes[n.String()] = &described{low: math.NaN(), high: math.NaN()}
			order = append(order, n)
		}
	}
	for _, ch := range file {
		add(ch.read)
		add(ch.write)
		add(ch.lease)
		add(ch.release)
	}
	if err := c.attributes(ctx, order, nodes); err != nil {
		return nil, nil, err
	}
	if err := c.properties(ctx, order, nodes); err != nil {
		return nil, nil, err
	}
	types := map[string]ua.TypeID{}
	for _, n := range order {
		types[n.String()] = nodes[n.String()].kind
	}
	var problems []error
	var channels []*channel
	for _, ch := range file {
		ch, err := ch.over(nodes, log)
		if err != nil {
			problems = append(problems, fmt.Errorf("channel %q: %w", ch.Name, err))
		}
		channels = append(channels, ch)
	}
	return channels, types, errors.Join(problems...)
}

// attributes asks for type, value and access of nodes.
func (c *connection) attributes(ctx context.Context, order []*ua.NodeID, nodes map[string]*described) error {
	var ask []*ua.ReadValueID
	wanted := []ua.AttributeID{ua.AttributeIDValue, ua.AttributeIDDataType, ua.AttributeIDUserAccessLevel}
	for _, n := range order {
		for _, a := range wanted {
			ask = append(ask, &ua.ReadValueID{NodeID: n, AttributeID: a})
		}
	}
	a, err := c.ask(ctx, ask)
	if err != nil {
		return err
	}
	for i, n := range order {
		d, got := nodes[n.String()], a.Results[len(wanted)*i:]
		if got[0] == nil || got[1] == nil || got[2] == nil {
			return c.protocol("no answer for %v", n)
		}
		d.status = got[0].Status
		if v := got[0].Value; v != nil && v.Value() != nil {
			d.kind = v.Type()
		} else if v := got[1].Value; v != nil {
			if t := v.NodeID(); t != nil && t.Namespace() == 0 && t.IntID() <= uint32(ua.TypeIDDouble) {
				d.kind = ua.TypeID(t.IntID()) // the numbers of the built-in types are those of their nodes
			}
		}
		if v := got[2].Value; isGood(got[2].Status) && v != nil {
			if level, ok := v.Value().(uint8); ok {
				d.access, d.knowsAccess = ua.AccessLevelType(level), true
			}
		}
	}
	return nil
}

// properties asks for EngineeringUnits and EURange; a server that has none, or does not know how to be asked,
// leaves them out.
func (c *connection) properties(ctx context.Context, order []*ua.NodeID, nodes map[string]*described) error {
	var browse []*ua.BrowseDescription
	for _, n := range order {
		browse = append(browse, &ua.BrowseDescription{NodeID: n, BrowseDirection: ua.BrowseDirectionForward, ReferenceTypeID: ua.NewNumericNodeID(0, id.HasProperty), IncludeSubtypes: true, ResultMask: uint32(ua.BrowseResultMaskAll)})
	}
	a, err := call[*ua.BrowseResponse](ctx, c, "a question for properties", &ua.BrowseRequest{View: &ua.ViewDescription{ViewID: ua.NewTwoByteNodeID(0)}, NodesToBrowse: browse}, c.options.ReplyTimeout)
	if errors.Is(err, drivers.ErrRefused) {
		return nil
	}
	if err != nil || len(a.Results) != len(order) {
		return errors.Join(err, ctx.Err())
	}
	var ask []*ua.ReadValueID
	var set []func(any)
	for i, r := range a.Results {
		d := nodes[order[i].String()]
		for _, ref := range r.References {
			if ref == nil || ref.BrowseName == nil || ref.NodeID == nil || ref.NodeID.NodeID == nil {
				continue
			}
			switch ref.BrowseName.Name {
			case "EngineeringUnits":
				set = append(set, func(v any) {
					if u, ok := v.(*ua.EUInformation); ok && u.DisplayName != nil {
						d.unit = unitName(u.DisplayName.Text)
					}
				})
			case "EURange":
				set = append(set, func(v any) {
					if r, ok := v.(*ua.Range); ok && r.Low < r.High && drivers.Finite(r.Low) && drivers.Finite(r.High) {
						d.low, d.high = r.Low, r.High
					}
				})
			default:
				continue
			}
			ask = append(ask, &ua.ReadValueID{NodeID: ref.NodeID.NodeID, AttributeID: ua.AttributeIDValue})
		}
	}
	if len(ask) == 0 {
		return nil
	}
	values, err := c.ask(ctx, ask)
	if err != nil {
		return err
	}
	for i, v := range values.Results {
		if v == nil || v.Value == nil || !isGood(v.Status) {
			continue
		}
		if e, ok := v.Value.Value().(*ua.ExtensionObject); ok && e != nil {
			set[i](e.Value)
		}
	}
	return nil
}

// unitName gives the unit's name as tuner's files write it, where servers write it otherwise.
func unitName(text string) string {
	if name, other := map[string]string{"°C": "degC", "°F": "degF", "°": "deg", "Ω": "ohm"}[text]; other {
		return name
	}
	return text
}

// over gives the channel with what the server says of its nodes.
func (c *channel) over(nodes map[string]*described, log *slog.Logger) (*channel, error) {
	out := *c
	read := nodes[c.read.String()]
	if err := read.may(c.read, ua.AccessLevelTypeCurrentRead, "read"); err != nil {
		return &out, err
	}
	if _, isNumber := whole[read.kind]; !isNumber && read.kind != ua.TypeIDDouble && read.kind != ua.TypeIDFloat {
		return &out, fmt.Errorf("%w: node %v holds a %v and no number", drivers.ErrRefused, c.read, read.kind)
	}
	if read.unit != "" && out.Unit == "" {
		out.Unit = read.unit
	} else if read.unit != "" && out.Unit != read.unit {
		log.Warn("the server says another unit than the file", slog.String("channel", c.Name), slog.String("server", read.unit), slog.String("file", out.Unit))
	}
	for _, n := range []*ua.NodeID{c.write, c.lease, c.release} {
		if n != nil {
			if err := nodes[n.String()].may(n, ua.AccessLevelTypeCurrentWrite, "write"); err != nil {
				return &out, err
			}
			if _, err := variant(nodes[n.String()].kind, 0); err != nil {
				return &out, fmt.Errorf("%w: node %v: %w", drivers.ErrRefused, n, err)
			}
		}
	}
	if c.write == nil {
		return &out, nil
	}
	write := nodes[c.write.String()]
	low, high := c.Scale*write.low+c.Offset, c.Scale*write.high+c.Offset
	if low > high {
		low, high = high, low
	}
	if !(out.Min >= low) { // also where the file says none
		out.Min = pick(low, out.Min)
	}
	if !(out.Max <= high) {
		out.Max = pick(high, out.Max)
	}
	switch {
	case out.Min >= out.Max:
		return &out, fmt.Errorf("%w: the file's limits %v to %v and the server's EURange %v to %v have nothing in common", drivers.ErrRefused, c.Min, c.Max, low, high)
	case out.Safe < out.Min || out.Safe > out.Max:
		return &out, fmt.Errorf("%w: safe is %v and not within the server's EURange %v to %v", drivers.ErrRefused, out.Safe, low, high)
	}
	return &out, nil
}

// pick gives the server's limit where it has one.
func pick(server, file float64) float64 {
	if math.IsNaN(server) {
		return file
	}
	return server
}

// may says why a node cannot be used.
func (d *described) may(n *ua.NodeID, access ua.AccessLevelType, do string) error {
	switch {
	case d.status == ua.StatusBadNodeIDUnknown || d.status == ua.StatusBadNodeIDInvalid:
		return fmt.Errorf("%w: the server has no node %v", drivers.ErrRefused, n)
	case d.knowsAccess && d.access&access == 0:
		return fmt.Errorf("%w: the server does not let this user %s node %v", drivers.ErrRefused, do, n)
	}
	return nil
}
