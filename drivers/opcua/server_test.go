package opcua

import (
	"context"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/gopcua/opcua/id"
	"github.com/gopcua/opcua/server"
	"github.com/gopcua/opcua/server/attrs"
	"github.com/gopcua/opcua/ua"
	"github.com/gopcua/opcua/uasc"

	"github.com/labtuner/tuner/drivers"
)

// wall is the machine's clock.
type wall struct{}

func (wall) Now() time.Time { return time.Now() }

// patience is for what comes soon unless something is wrong, on any machine.
const patience = time.Minute

// rig is a server of the library, with nodes that a test decides about.
type rig struct {
	*server.NodeNameSpace
	server *server.Server
	port   int
	own    pair

	mu     sync.Mutex
	values map[string]*ua.DataValue
	refuse map[string]ua.StatusCode // what a write to a node is answered
	writes []written                // in the order of their arrival
	hold   time.Duration            // how long a write takes
	forget int                      // so many subscriptions are lost as soon as they are made

	numbering sync.Mutex // the library asks for mu while it holds its own locks: not one of theirs under mu
	number    uint32     // of the newest subscription
}

// written is a write as the server saw it.
type written struct {
	node  string
	value float64
	at    time.Time
}

// freePort is one that nothing listens on.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// shared is the rig of all tests: the library takes a second to start one.
var shared = sync.OnceValues(func() (*rig, error) { return startRig() })

// newRig gives the rig as it is at its start.
func newRig(t testing.TB) *rig {
	t.Helper()
	r, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	r.refuse, r.writes, r.hold, r.forget = map[string]ua.StatusCode{}, nil, 0, 0
	r.mu.Unlock()
	r.tell("power", ua.StatusOK, 0.0)
	r.tell("energy", ua.StatusOK, 1.0)
	r.tell("mode", ua.StatusOK, int16(0))
	r.tell("watchdog", ua.StatusOK, uint32(0))
	return r
}

// startRig starts a server at any port.
func startRig() (*rig, error) {
	log.SetOutput(io.Discard) // the library says much
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	own, err := newPair("rig", time.Now().Add(time.Hour), nil)
	if err != nil {
		return nil, err
	}
	r := &rig{port: port, own: own, values: map[string]*ua.DataValue{}}
	r.server = server.New(server.EndPoint("127.0.0.1", port), server.EnableSecurity("None", ua.MessageSecurityModeNone), server.EnableAuthMode(ua.UserTokenTypeAnonymous),
		server.PrivateKey(own.key), server.Certificate(own.cert.Raw),
		server.EnableSecurity("Basic256Sha256", ua.MessageSecurityModeSign), server.EnableSecurity("Basic256Sha256", ua.MessageSecurityModeSignAndEncrypt))
	r.server.RegisterHandler(id.CreateSubscriptionRequest_Encoding_DefaultBinary, r.subscribe) // the first one stays
	r.NodeNameSpace = server.NewNameSpace("urn:rig")
	r.server.AddNamespace(r)
	root, err := r.server.Namespace(0)
	if err != nil {
		return nil, err
	}
	folder := server.NewNode(ua.NewNumericNodeID(1, id.ObjectsFolder), map[ua.AttributeID]*ua.DataValue{
		ua.AttributeIDNodeClass:   server.DataValueFromValue(uint32(ua.NodeClassObject)),
		ua.AttributeIDBrowseName:  server.DataValueFromValue(attrs.BrowseName("rig")),
		ua.AttributeIDDisplayName: server.DataValueFromValue(attrs.DisplayName("rig", "en")),
	}, nil, nil)
	root.Objects().AddRef(folder, id.HasComponent, true)
	return r, r.server.Start(context.Background())
}

// firstNumber is that of the first subscription: more than the server ever has at once.
const firstNumber = 1000

// subscribe makes a subscription, and may lose it at once, as servers do that are still taking down
// another of its number. The library deletes a subscription twice, and counts those that it has to
// number the next one, so that the second deletion could take another one: here each has its own number.
func (r *rig) subscribe(sc *uasc.SecureChannel, request ua.Request, id uint32) (ua.Response, error) {
	r.numbering.Lock()
	defer r.numbering.Unlock()
	all := r.server.SubscriptionService
	a, err := all.CreateSubscription(sc, request, id)
	made, ok := a.(*ua.CreateSubscriptionResponse)
	if !ok {
		return a, err
	}
	given := made.SubscriptionID
	r.number = max(r.number+1, firstNumber)
	made.SubscriptionID = r.number
	all.Mu.Lock()
	all.Subs[r.number] = all.Subs[given]
	all.Subs[r.number].ID = r.number
	delete(all.Subs, given)
	all.Mu.Unlock()
	r.mu.Lock()
	lost := r.forget > 0
	r.forget = max(r.forget-1, 0)
	r.mu.Unlock()
	if lost {
		all.DeleteSubscription(r.number)
	}
	return a, err
}

// tell gives a node a value that was measured now.
func (r *rig) tell(node string, status ua.StatusCode, v any) {
	r.tellAt(node, status, v, time.Now())
}

func (r *rig) tellAt(node string, status ua.StatusCode, v any, source time.Time) {
	d := &ua.DataValue{Value: ua.MustVariant(v), Status: status, SourceTimestamp: source, ServerTimestamp: time.Now(),
		EncodingMask: ua.DataValueValue | ua.DataValueStatusCode | ua.DataValueServerTimestamp}
	if !source.IsZero() {
		d.EncodingMask |= ua.DataValueSourceTimestamp
	}
	r.mu.Lock()
	r.values[node] = d
	r.mu.Unlock()
	r.server.ChangeNotification(ua.NewStringNodeID(1, node))
}

// Attribute implements server.NameSpace.
func (r *rig) Attribute(n *ua.NodeID, attr ua.AttributeID) *ua.DataValue {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, there := r.values[n.StringID()]
	bad := func(s ua.StatusCode) *ua.DataValue {
		return &ua.DataValue{EncodingMask: ua.DataValueStatusCode, Status: s}
	}
	switch {
	case !there:
		return bad(ua.StatusBadNodeIDUnknown)
	case attr == ua.AttributeIDValue:
		copied := *v
		return &copied
	case attr == ua.AttributeIDDataType:
		return &ua.DataValue{EncodingMask: ua.DataValueValue, Value: ua.MustVariant(ua.NewNumericNodeID(0, uint32(v.Value.Type())))}
	}
	return bad(ua.StatusBadAttributeIDInvalid)
}

// SetAttribute implements server.NameSpace.
func (r *rig) SetAttribute(n *ua.NodeID, _ ua.AttributeID, v *ua.DataValue) ua.StatusCode {
	name := n.StringID()
	var status ua.StatusCode
	for begun := time.Now(); ; time.Sleep(time.Millisecond) { // a test may change its mind
		r.mu.Lock()
		hold := r.hold
		status = r.refuse[name]
		r.mu.Unlock()
		if time.Since(begun) >= hold {
			break
		}
	}
	x, err := number(v.Value)
	if err != nil {
		return ua.StatusBadTypeMismatch
	}
	r.mu.Lock()
	r.writes = append(r.writes, written{name, x, time.Now()})
	r.mu.Unlock()
	if status == ua.StatusOK {
		r.tell(name, ua.StatusOK, v.Value.Value())
	}
	return status
}

// Browse implements server.NameSpace: no node has properties, and the folder has all of them.
func (r *rig) Browse(b *ua.BrowseDescription) *ua.BrowseResult {
	result := &ua.BrowseResult{StatusCode: ua.StatusGood}
	if b.NodeID.IntID() != id.ObjectsFolder {
		return result
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for name := range r.values {
		n := ua.NewStringNodeID(1, name)
		result.References = append(result.References, &ua.ReferenceDescription{ReferenceTypeID: ua.NewNumericNodeID(0, id.Organizes), IsForward: true,
			NodeID: ua.NewExpandedNodeID(n, "", 0), BrowseName: &ua.QualifiedName{NamespaceIndex: 1, Name: name}, DisplayName: ua.NewLocalizedText(name),
			NodeClass: ua.NodeClassVariable, TypeDefinition: ua.NewExpandedNodeID(ua.NewNumericNodeID(0, id.BaseDataVariableType), "", 0)})
	}
	return result
}

// Node implements server.NameSpace.
func (r *rig) Node(n *ua.NodeID) *server.Node {
	if n.IntID() == id.ObjectsFolder {
		return r.NodeNameSpace.Node(n)
	}
	return nil
}

// taken are the values written to a node.
func (r *rig) taken(node string) (all []float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.writes {
		if w.node == node {
			all = append(all, w.value)
		}
	}
	return all
}

func (r *rig) refuses(node string, s ua.StatusCode) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refuse[node] = s
}

func (r *rig) slow(hold time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hold = hold
}

// quick are options for a test at a port of this computer.
func quick(port int) Options {
	o := Default()
	o.Endpoint = fmt.Sprintf("opc.tcp://127.0.0.1:%d", port)
	o.Interval, o.Poll = 20*time.Millisecond, 50*time.Millisecond
	o.ReplyTimeout, o.ConnectTimeout = 20*time.Second, 20*time.Second // a busy machine
	return o
}

// bench are the channels of a rig.
func bench() []ChannelOptions {
	zero, ten, held := 0.0, 10.0, 1.0
	return []ChannelOptions{
		{Channel: "power", Unit: "W", Read: &ReadNode{Node: "ns=1;s=power"}, Write: &WriteNode{Lease: "ns=1;s=watchdog"},
			Release: &ReleaseNode{Node: "ns=1;s=mode", Value: 0, Hold: &held}, ScaleKeys: drivers.ScaleKeys{Min: &zero, Max: &ten, Safe: &zero}},
		{Channel: "energy", Read: &ReadNode{Node: "ns=1;s=energy"}},
	}
}

// open makes a device and opens it.
func open(t testing.TB, o Options, channels []ChannelOptions) *Device {
	t.Helper()
	d, err := New(o, channels, drivers.Env{Clock: wall{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	if _, err := d.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	return d
}

// until waits for a condition.
func until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// reads are the newest values of a device.
func reads(d *Device) map[string]float64 {
	r, err := d.Read(context.Background(), []string{"power", "energy"})
	if err != nil {
		return nil
	}
	return maps.Clone(r.Values)
}

// sinks notes readings.
type sinks struct {
	mu  sync.Mutex
	all []drivers.Reading
}

func (s *sinks) take(r drivers.Reading) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, r)
}

// of are the readings of a channel.
func (s *sinks) of(name string) (all []drivers.Reading) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.all {
		if _, there := r.Values[name]; there {
			all = append(all, r)
		}
	}
	return all
}
