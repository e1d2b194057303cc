package opcua

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gopcua/opcua/ua"

	"github.com/labtuner/tuner/drivers"
)

const (
	// queueSize is how many values of one node wait at the server between two of its messages.
	queueSize = 16
	// mostItems bounds the values of one message.
	mostItems = 4096
	// lifetimes is how many keep-alive times a subscription outlives a client that is silent: the
	// least that OPC UA, part 4, 5.14.2 allows.
	lifetimes = 3
)

// subscribe has the server tell of the channels that are not read by asking; their index is the
// item's handle. It returns how long the server may be silent.
func (c *connection) subscribe(ctx context.Context, channels []*channel) (silence time.Duration, err error) {
	o := c.options
	alive := max(1, uint32(o.ReplyTimeout/2/o.Interval))
	made, err := call[*ua.CreateSubscriptionResponse](ctx, c, "the wish for a subscription", &ua.CreateSubscriptionRequest{
		RequestedPublishingInterval: float64(o.Interval) / float64(time.Millisecond), RequestedMaxKeepAliveCount: alive, RequestedLifetimeCount: lifetimes * alive,
		MaxNotificationsPerPublish: mostItems, PublishingEnabled: true}, o.ReplyTimeout)
	if err != nil {
		return 0, err
	}
	c.subscription = made.SubscriptionID
	var items []*ua.MonitoredItemCreateRequest
	var of []*channel
	for i, ch := range channels {
		if ch.stamp != stampRead {
			items = append(items, item(ch.read, uint32(i), true))
			of = append(of, ch)
		}
	}
	results, err := c.monitor(ctx, made.SubscriptionID, items)
	if err != nil {
		return 0, err
	}
	for i, r := range results {
		if !unfiltered(r.StatusCode) {
			continue
		}
		again, err := c.monitor(ctx, made.SubscriptionID, []*ua.MonitoredItemCreateRequest{item(of[i].read, items[i].RequestedParameters.ClientHandle, false)})
		if err != nil {
			return 0, err
		}
		results[i] = again[0]
	}
	for i, r := range results {
		if r.StatusCode>>31 != 0 {
			return 0, fmt.Errorf("%w: channel %q: the server does not tell of %v: %w", drivers.ErrRefused, of[i].Name, of[i].read, r.StatusCode)
		}
	}
	interval := time.Duration(made.RevisedPublishingInterval * float64(time.Millisecond))
	return interval*time.Duration(made.RevisedMaxKeepAliveCount+1) + o.ReplyTimeout, nil
}

// lostAtOnce says that a server does not know the subscription that it has just made: some give
// it the number of one that they are still taking down. Another one is asked for, once.
func lostAtOnce(err error) bool {
	return errors.Is(err, ua.StatusBadUnexpectedError) || errors.Is(err, ua.StatusBadSubscriptionIDInvalid)
}

// unfiltered says that a server cannot tell of a value whose timestamp alone has changed.
func unfiltered(s ua.StatusCode) bool {
	return s == ua.StatusBadMonitoredItemFilterUnsupported || s == ua.StatusBadFilterNotAllowed || s == ua.StatusBadMonitoredItemFilterInvalid
}

// item asks for a node's values, also for one that is the same as before where it is newly
// measured: where its timestamp has changed.
func item(node *ua.NodeID, handle uint32, stamps bool) *ua.MonitoredItemCreateRequest {
	r := &ua.MonitoredItemCreateRequest{
		ItemToMonitor:  &ua.ReadValueID{NodeID: node, AttributeID: ua.AttributeIDValue, DataEncoding: &ua.QualifiedName{}},
		MonitoringMode: ua.MonitoringModeReporting,
		// -1: as often as it publishes.
		RequestedParameters: &ua.MonitoringParameters{ClientHandle: handle, SamplingInterval: -1, QueueSize: queueSize, DiscardOldest: true},
	}
	if stamps {
		r.RequestedParameters.Filter = ua.NewExtensionObject(&ua.DataChangeFilter{Trigger: ua.DataChangeTriggerStatusValueTimestamp})
		r.RequestedParameters.Filter.UpdateMask()
	}
	return r
}

// monitor adds items to a subscription.
func (c *connection) monitor(ctx context.Context, id uint32, items []*ua.MonitoredItemCreateRequest) ([]*ua.MonitoredItemCreateResult, error) {
	if len(items) == 0 {
		return nil, nil
	}
	a, err := call[*ua.CreateMonitoredItemsResponse](ctx, c, "the subscription to nodes", &ua.CreateMonitoredItemsRequest{
		SubscriptionID: id, TimestampsToReturn: ua.TimestampsToReturnBoth, ItemsToCreate: items}, c.options.ReplyTimeout)
	if err == nil && len(a.Results) != len(items) {
		err = c.protocol("%d results for %d nodes", len(a.Results), len(items))
	}
	if err != nil {
		return nil, err
	}
	return a.Results, nil
}

// protocol breaks a connection to a server that says what it may not say.
func (c *connection) protocol(format string, args ...any) error {
	err := fmt.Errorf("%w: the server gave "+format, append([]any{drivers.ErrProtocol}, args...)...)
	c.breakOff(err)
	return err
}

// heard is one value of a node.
type heard struct {
	index int
	value *ua.DataValue
}

// listen takes what the server tells of a subscription, until the connection ends. told gets the
// values of one message, the server's clock when it said them, and ours when they came.
func (c *connection) listen(silence time.Duration, channels int, told func(values []heard, theirs, ours time.Time), clock drivers.Clock) {
	acks := []*ua.SubscriptionAcknowledgement{}
	for {
		a, err := call[*ua.PublishResponse](c.ctx, c, "the wish for news", &ua.PublishRequest{SubscriptionAcknowledgements: acks}, silence)
		now := clock.Now()
		if err != nil {
			c.breakOff(err)
			return
		}
		if acks = acks[:0]; a.NotificationMessage == nil {
			continue
		}
		var values []heard
		for _, data := range a.NotificationMessage.NotificationData {
			if data == nil {
				continue
			}
			switch n := data.Value.(type) {
			case *ua.DataChangeNotification:
				for _, m := range n.MonitoredItems {
					if m != nil && m.Value != nil && int(m.ClientHandle) < channels {
						values = append(values, heard{int(m.ClientHandle), m.Value})
					}
				}
			case *ua.StatusChangeNotification:
				c.breakOff(fmt.Errorf("the server ended the subscription: %w", n.Status))
				return
			}
		}
		if len(a.NotificationMessage.NotificationData) > 0 {
			acks = append(acks, &ua.SubscriptionAcknowledgement{SubscriptionID: a.SubscriptionID, SequenceNumber: a.NotificationMessage.SequenceNumber})
		}
		if len(values) > 0 {
			told(values, a.ResponseHeader.Timestamp, now)
		}
	}
}

// ask reads attributes of nodes, as they are now.
func (c *connection) ask(ctx context.Context, nodes []*ua.ReadValueID) (*ua.ReadResponse, error) {
	for _, n := range nodes {
		n.DataEncoding = &ua.QualifiedName{}
	}
	a, err := call[*ua.ReadResponse](ctx, c, "a question for values", &ua.ReadRequest{TimestampsToReturn: ua.TimestampsToReturnBoth, NodesToRead: nodes}, c.options.ReplyTimeout)
	if err == nil && len(a.Results) != len(nodes) {
		return nil, c.protocol("%d values for %d nodes", len(a.Results), len(nodes))
	}
	return a, err
}

// valuesOf are the nodes of channels, to be asked for their values.
func valuesOf(channels []*channel) (nodes []*ua.ReadValueID) {
	for _, ch := range channels {
		nodes = append(nodes, &ua.ReadValueID{NodeID: ch.read, AttributeID: ua.AttributeIDValue})
	}
	return nodes
}
