package link

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

// Options are the keys of a connection to a broker.
type Options struct {
	Keys
	KeepAlive      time.Duration `toml:"keep_alive" bound:">= 1s, <= 10m" doc:"a silent connection is tried after this time; whole seconds"`
	PingTimeout    time.Duration `toml:"ping_timeout" bound:"> 0s, <= 10m" doc:"longest wait for the broker's answer to such a try"`
	WriteTimeout   time.Duration `toml:"write_timeout" bound:"> 0s, <= 10m" doc:"longest time that one message may take to leave"`
	ConnectTimeout time.Duration `toml:"connect_timeout" bound:"> 0s, <= 10m" doc:"longest time of one attempt to connect and subscribe"`

	// Base is the folder that the relative names of files start at.
	Base string `toml:"-"`
	// Dial opens the transport, below TLS; nil: TCP.
	Dial func(ctx context.Context, broker *url.URL) (net.Conn, error) `toml:"-"`
	// Random gives the session's identifier; nil: crypto/rand.
	Random io.Reader `toml:"-"`
	// Password gives the password, wherever it is kept; nil: PasswordFile has it.
	Password func() (string, error) `toml:"-"`
	// ReadFile reads the files; nil: os.ReadFile.
	ReadFile func(name string) ([]byte, error) `toml:"-"`
}

// Default returns the options that a file need not write.
func Default() Options {
	return Options{
		KeepAlive:      5 * time.Second, // a dead link is noticed after about 4 to 7 s
		PingTimeout:    2 * time.Second,
		WriteTimeout:   5 * time.Second,
		ConnectTimeout: 5 * time.Second,
	}
}

// Filled returns the options with the world's own in place of what is nil.
func (o Options) Filled() Options {
	if o.Dial == nil {
		o.Dial = func(ctx context.Context, broker *url.URL) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", broker.Host)
		}
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.ReadFile == nil {
		o.ReadFile = os.ReadFile
	}
	return o
}

// Validate checks what no tag says, and gives every problem at once.
func (o Options) Validate() error {
	var problems []error
	bad := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	for n := range 1 + len(o.Cluster) {
		if _, err := o.node(n); err != nil {
			problems = append(problems, err)
		}
	}
	if err := o.validateTLS(); err != nil {
		problems = append(problems, err)
	}
	places := 0
	for _, p := range []struct{ key, value string }{{"password_file", o.PasswordFile}, {"password_credential", o.PasswordCred}, {"password_env", o.PasswordEnv}} {
		if p.value == "" {
			continue
		}
		if places++; o.Username == "" {
			bad("%s is %q, but there is no username; the broker needs both", p.key, p.value)
		}
		if places == 2 {
			bad("the password is kept in more than one place; keep one of password_file, password_credential and password_env")
		}
		if p.key != "password_file" && o.Password == nil {
			bad("%s is %q, and nothing here reads it", p.key, p.value)
		}
	}
	return errors.Join(problems...)
}

// Address is the broker's HOST:PORT, "" where Broker is no address.
func (o Options) Address() string {
	u, err := o.address()
	if err != nil {
		return ""
	}
	return u.Host
}

// address reads the broker's address.
func (o Options) address() (*url.URL, error) { return readAddress(o.Broker) }

// node reads the address that attempt n is made at: the broker's nodes in turn.
func (o Options) node(n int) (*url.URL, error) {
	if n %= o.nodes(); n > 0 {
		return readAddress(o.Cluster[n-1])
	}
	return o.address()
}

// nodes is how many there are.
func (o Options) nodes() int { return 1 + len(o.Cluster) }

// readAddress reads an address. A port that is missing is the usual one.
func readAddress(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Hostname() == "" {
		return nil, fmt.Errorf("broker %q is not an address; write tcp://HOST:PORT", text)
	}
	if known := slices.Concat(plainSchemes, secureSchemes); !slices.Contains(known, u.Scheme) {
		return nil, fmt.Errorf("broker %q has the scheme %q; it must be one of %s", text, u.Scheme, strings.Join(known, ", "))
	}
	if u.User != nil {
		return nil, fmt.Errorf("broker holds a user or password; write username and password_file instead")
	}
	if u.Port() == "" {
		port := plainPort
		if isTLS(u) {
			port = securePort
		}
		u.Host = net.JoinHostPort(u.Hostname(), port)
	}
	return u, nil
}

// password reads the password file's first line.
func (o Options) password() (string, error) {
	switch {
	case o.Password != nil:
		return o.Password()
	case o.PasswordFile == "":
		return "", nil
	}
	text, err := o.read("password_file", o.PasswordFile)
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSuffix(line, "\r"), nil
}

// RandomDigits draws 64 bits in hexadecimal.
func RandomDigits(random io.Reader) (string, error) {
	var b [8]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("no random digits for the session: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

// ClientName is the file's, or one that cannot be guessed and that is said to the broker
// alone: who knows it can take the connection over.
func (o *Options) ClientName() (string, error) {
	if o.ClientID != "" {
		return o.ClientID, nil
	}
	digits, err := RandomDigits(o.Random)
	return "tuner-" + digits, err // 22 characters; every broker takes 23
}
