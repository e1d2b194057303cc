package opcua

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// Options are the keys of a [[device]] with driver = "opcua".
type Options struct {
	Endpoint string `toml:"endpoint" required:"true" doc:"the server's address, such as opc.tcp://127.0.0.1:4840/path"`
	Security string `toml:"security" enum:"none,Basic256Sha256,Aes128_Sha256_RsaOaep,Aes256_Sha256_RsaPss" doc:"the security policy; all but none need cert_file, key_file and server_cert_file"`
	Mode     string `toml:"mode" enum:"sign_and_encrypt,sign" doc:"whether each message is signed, or also encrypted"`

	ServerCertFile string `toml:"server_cert_file" doc:"security: file of the server's certificate, or of those that vouch for it, in PEM or DER form; no other server is believed"`
	CertFile       string `toml:"cert_file" doc:"security: file of this client's certificate, in PEM or DER form, with its application URI; the server must trust it"`
	KeyFile        string `toml:"key_file" doc:"security: file of the certificate's RSA private key, in PEM or DER form and not encrypted"`

	Username     string `toml:"username" doc:"user name at the server; absent: anonymous"`
	PasswordFile string `toml:"password_file" doc:"file whose first line is the password, which keeps it out of this file"`
	PasswordCred string `toml:"password_credential" doc:"systemd credential (LoadCredential=) whose first line is the password"`
	PasswordEnv  string `toml:"password_env" doc:"environment variable that holds the password, which keeps it out of this file"`

	Interval       time.Duration `toml:"interval" bound:">= 10ms, <= 1m" doc:"how often the server is to look at, and tell of, what is subscribed to; it may revise that"`
	Poll           time.Duration `toml:"poll" bound:">= 50ms, <= 1m" doc:"how often what is read by asking is asked for, and that the server answers at all is seen"`
	ReplyTimeout   time.Duration `toml:"reply_timeout" bound:">= 100ms, <= 1m" doc:"longest wait for an answer; a later one breaks the connection"`
	ConnectTimeout time.Duration `toml:"connect_timeout" bound:"> 0s, <= 10m" doc:"longest time of one attempt to connect, log in and subscribe"`
	SessionTimeout time.Duration `toml:"session_timeout" bound:">= 1s, <= 1h" doc:"after this silence the server forgets the session; it may revise that"`
	HaltTimeout    time.Duration `toml:"halt_timeout" bound:"> 0s, <= 1h" doc:"longest wait for the readings to confirm the safe values"`
	ClockTolerance time.Duration `toml:"clock_tolerance" bound:">= 0s, <= 1h" doc:"a timestamp that is further than this ahead of the server's clock is no data"`

	// Base is the folder that the relative names of files start at.
	Base string `toml:"-"`
	// Password gives the password, wherever it is kept; nil: PasswordFile has it.
	Password func() (string, error) `toml:"-"`
}

// ChannelOptions are the keys of a [device.channel.X] of an opcua device.
type ChannelOptions struct {
	// Channel is X: the name that tuner uses.
	Channel string `toml:"-"`

	Read    *ReadNode    `toml:"read" required:"true" doc:"where readings come from"`
	Write   *WriteNode   `toml:"write" doc:"where setpoints go; absent: the channel is read-only"`
	Release *ReleaseNode `toml:"release" doc:"what lets go of the channel; absent: it cannot be released"`

	Unit string `toml:"unit" doc:"the channel's unit; it must be that of the variable or sensor that uses it; absent: what the node's EngineeringUnits say, else not checked"`
	drivers.ScaleKeys
}

// ReadNode says where a channel's readings come from.
type ReadNode struct {
	Node      string `toml:"node" required:"true" doc:"node id, as in ns=2;s=Laser.Energy or ns=2;i=1001"`
	Stamp     string `toml:"stamp" enum:"source,server,read" doc:"what makes a value a new measurement and says how old it is: its source timestamp, its server timestamp, or that it was asked for; absent: source, and read for a channel that is set"`
	Uncertain string `toml:"uncertain" enum:"refuse,take" doc:"what a value of uncertain quality is: no data, or data; absent: refuse"`
}

// WriteNode says where a channel's setpoints go.
type WriteNode struct {
	Node  string `toml:"node" doc:"node id; absent: that of read"`
	Lease string `toml:"lease" doc:"node id of the server's watchdog: it takes, with each setpoint, for how many ms that holds unless it is written again, the variable's lease, and goes to its own safe state after"`
}

// ReleaseNode says how a channel is let go of.
type ReleaseNode struct {
	Node  string   `toml:"node" required:"true" doc:"node id of what lets go, such as a mode or an enable"`
	Value float64  `toml:"value" doc:"what is written there so that the device decides for itself"`
	Hold  *float64 `toml:"hold" doc:"what is written there before each setpoint; absent: nothing"`
}

// The words of the keys.
const (
	securityNone = "none"
	modeSign     = "sign"
	modeEncrypt  = "sign_and_encrypt"

	stampSource = "source"
	stampServer = "server"
	stampRead   = "read"

	uncertainTake = "take"
)

// Default returns the options that a file need not write.
func Default() Options {
	return Options{
		Security:       securityNone,
		Mode:           modeEncrypt,
		Interval:       250 * time.Millisecond,
		Poll:           time.Second,
		ReplyTimeout:   2 * time.Second, // what [safety] safe_wait allows a request
		ConnectTimeout: 5 * time.Second,
		SessionTimeout: 10 * time.Second, // an old setpoint may arrive for so long where the server knows no other fence
		HaltTimeout:    10 * time.Second,
		ClockTolerance: time.Second,
	}
}

// defaultPort is the port that is registered for opc.tcp.
const defaultPort = "4840"

// address reads the server's address.
func (o *Options) address() (*url.URL, error) {
	u, err := url.Parse(o.Endpoint)
	if err != nil || u.Scheme != "opc.tcp" || u.Hostname() == "" {
		return nil, fmt.Errorf("endpoint %q is not an address; write opc.tcp://HOST:PORT/PATH", o.Endpoint)
	}
	if u.User != nil {
		return nil, errors.New("endpoint holds a user or password; write username and password_file instead")
	}
	if u.Port() == "" {
		u.Host = net.JoinHostPort(u.Hostname(), defaultPort)
	}
	return u, nil
}

// secure says that messages are signed at least.
func (o *Options) secure() bool { return o.Security != securityNone }

// validate checks what no tag says, and gives every problem at once.
func (o *Options) validate() error {
	var problems []error
	bad := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	address, err := o.address()
	if err != nil {
		problems = append(problems, err)
	}
	for _, k := range []struct{ key, value string }{{"server_cert_file", o.ServerCertFile}, {"cert_file", o.CertFile}, {"key_file", o.KeyFile}} {
		switch {
		case o.secure() && k.value == "":
			bad("security is %q, and there is no %s; write it, or security = \"none\"", o.Security, k.key)
		case !o.secure() && k.value != "":
			bad("%s is %q, but security is \"none\"; write a policy, such as security = \"Basic256Sha256\"", k.key, k.value)
		}
	}
	places := 0
	for _, p := range []struct{ key, value string }{{"password_file", o.PasswordFile}, {"password_credential", o.PasswordCred}, {"password_env", o.PasswordEnv}} {
		if p.value == "" {
			continue
		}
		if places++; places == 2 {
			bad("the password is kept in more than one place; keep one of password_file, password_credential and password_env")
		}
		if o.Username == "" {
			bad("%s is %q, but there is no username; the server needs both", p.key, p.value)
		}
		if p.key != "password_file" && o.Password == nil {
			bad("%s is %q, and nothing here reads it", p.key, p.value)
		}
	}
	if o.Username != "" && !o.secure() && address != nil && !loopback(address.Hostname()) {
		bad("username is %q and security \"none\": the password could be read on the way to %s; write a security policy", o.Username, address.Host)
	}
	return errors.Join(problems...)
}

// loopback says that a host is this computer.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// password gives the password.
func (o *Options) password() (string, error) {
	switch {
	case o.Password != nil:
		return o.Password()
	case o.PasswordFile == "":
		return "", nil
	}
	text, err := o.read("password_file", o.PasswordFile)
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSuffix(line, "\r"), err
}

// read reads the file of a key.
func (o *Options) read(key, name string) ([]byte, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(o.Base, name)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return text, nil
}

// within bounds a call by the time that an answer may take.
func (o *Options) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, o.ReplyTimeout)
}
