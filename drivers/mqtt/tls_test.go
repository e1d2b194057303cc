package mqtt

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/driverstest"
	"github.com/labtuner/tuner/drivers/driverstest/broker"
)

// site is a broker with TLS and who may use it.
type site struct {
	authority *authority
	broker    *broker.Broker
	options   Options // of a client that is let in
}

// startSite runs a broker that wants client certificates.
func startSite(t *testing.T, run func(testing.TB, broker.TLS) *broker.Broker, hosts ...string) site {
	t.Helper()
	s := site{authority: newAuthority(t, "lab")}
	cert, key := s.authority.issue(t, leaf{Name: "broker", Hosts: hosts})
	s.broker = run(t, broker.TLS{CertFile: cert, KeyFile: key, ClientCAFile: s.authority.File})
	s.options = optionsFor(s.broker.URL)
	s.options.CAFile = s.authority.File
	s.options.CertFile, s.options.KeyFile = s.authority.issue(t, leaf{Name: "tuner"})
	return s
}

// TestTLSConforms is the whole contract over TLS with client certificates.
func TestTLSConforms(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]func(testing.TB, broker.TLS) *broker.Broker{"installed": broker.StartTLS, "embedded": broker.StartEmbeddedTLS} {
		t.Run(name, func(t *testing.T) {
			s := startSite(t, run, "127.0.0.1")
			serving := s.options
			serving.CertFile, serving.KeyFile = s.authority.issue(t, leaf{Name: "plant"})
			env, _ := environment()
			ctx, cancel := context.WithCancel(context.Background())
			ended := make(chan error, 1)
			plant := &doser{}
			go func() {
				ended <- Serve(ctx, Plant{Options: serving, Channels: doserChannels(), Device: plant, Period: 20 * time.Millisecond, Env: env})
			}()
			d, _ := newDevice(t, s.options, doserChannels()...)
			if _, err := d.Open(ctx); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the plant speaks over TLS", func() bool {
				r, err := d.Read(ctx, []string{"area"})
				return err == nil && r.Values["area"] == 100
			})
			if err := d.Close(); err != nil {
				t.Error(err)
			}
			driverstest.Conform(t, func() drivers.Device {
				d, _ := newDevice(t, s.options, doserChannels()...)
				return d
			})
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

// A loss of the link is mended over TLS too, with files that were renewed
// meanwhile.
func TestTLSOutage(t *testing.T) {
	t.Parallel()
	s := startSite(t, broker.StartTLS, "127.0.0.1")
	folder := t.TempDir()
	use := func(cert, key string) {
		t.Helper()
		for name, from := range map[string]string{"cert.pem": cert, "key.pem": key} {
			text, err := os.ReadFile(from)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	use(s.options.CertFile, s.options.KeyFile)
	s.options.Base, s.options.CertFile, s.options.KeyFile = folder, "cert.pem", "key.pem"
	read := make(chan string, 64)
	s.options.ReadFile = func(name string) ([]byte, error) {
		read <- filepath.Base(name)
		return os.ReadFile(name)
	}
	d, said := newDevice(t, s.options, doserChannels()...)
	if _, err := d.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s.broker.Stop()
	eventually(t, "the loss is noticed", func() bool { return strings.Contains(said.String(), "connection to the broker lost") })
	use(s.authority.issue(t, leaf{Name: "tuner, renewed"}))
	for len(read) > 0 {
		<-read
	}
	s.broker.Restart()
	eventually(t, "there is a connection again", func() bool {
		_, err := d.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{"ca": 1}})
		return err == nil
	})
	if len(read) == 0 {
		t.Error("the new connection did not read the files again")
	}
}

// Every mistake with certificates says what it is and what to do, and none is
// waited for: connect_timeout is far longer than the test may take.
func TestTLSMistakes(t *testing.T) {
	t.Parallel()
	s := startSite(t, broker.StartTLS, "broker.lab")
	s.options.ServerName = "broker.lab"
	stranger := newAuthority(t, "stranger")
	plain := broker.Start(t)
	now := time.Now()
	folder := t.TempDir()
	garbage := filepath.Join(folder, "garbage")
	encrypted := filepath.Join(folder, "encrypted")
	for name, text := range map[string]string{garbage: "nothing\n", encrypted: "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB\n-----END ENCRYPTED PRIVATE KEY-----\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	good, _ := newDevice(t, s.options, doserChannels()...)
	if _, err := good.Open(context.Background()); err != nil {
		t.Fatalf("with everything right: %v", err)
	}
	good.Close()
	for name, c := range map[string]struct {
		change func(*Options)
		want   string
		no     bool // the broker's or this side's no to the other; else a file's mistake
	}{
		"authority unknown":  {func(o *Options) { o.CAFile = stranger.File }, "name the file of the authority that signed the broker's certificate as ca_file", true},
		"system's authority": {func(o *Options) { o.CAFile = "" }, "as ca_file", true},
		"another host":       {func(o *Options) { o.ServerName = "" }, "write one of the certificate's names as server_name", true},
		"no certificate":     {func(o *Options) { o.CertFile, o.KeyFile = "", "" }, "the broker does not take this client's certificate; check cert_file and key_file", true},
		"stranger":           {func(o *Options) { o.CertFile, o.KeyFile = stranger.issue(t, leaf{Name: "x"}) }, "the broker does not take this client's certificate", true},
		"server's, as client": {func(o *Options) {
			o.CertFile, o.KeyFile = s.authority.issue(t, leaf{Name: "x", Hosts: []string{"h"}})
		}, "the broker does not take this client's certificate", true},
		"no TLS there":        {func(o *Options) { o.Broker = plain.URL; o.Broker = "tls" + strings.TrimPrefix(o.Broker, "tcp") }, "", false},
		"no such file":        {func(o *Options) { o.CAFile = "/nowhere/ca.pem" }, "ca_file: open /nowhere/ca.pem: no such file", false},
		"no PEM":              {func(o *Options) { o.CAFile = garbage }, "holds no certificate that can be read; it must be in PEM form", false},
		"no such certificate": {func(o *Options) { o.CertFile = "/nowhere/c.pem" }, "cert_file: open /nowhere/c.pem: no such file", false},
		"no such key":         {func(o *Options) { o.KeyFile = "/nowhere/k.pem" }, "key_file: open /nowhere/k.pem: no such file", false},
		"key encrypted":       {func(o *Options) { o.KeyFile = encrypted }, "is encrypted, and tuner cannot ask for its password", false},
		"files changed over":  {func(o *Options) { o.CertFile, o.KeyFile = o.KeyFile, o.CertFile }, "holds a private key; that is what key_file names", false},
		"another's key":       {func(o *Options) { _, o.KeyFile = stranger.issue(t, leaf{Name: "x"}) }, "private key does not match public key", false},
		"expired": {func(o *Options) {
			o.CertFile, o.KeyFile = s.authority.issue(t, leaf{Name: "x", From: now.Add(-2 * time.Hour), Until: now.Add(-time.Hour)})
		}, "and this computer's clock says", false},
		"not yet valid": {func(o *Options) {
			o.CertFile, o.KeyFile = s.authority.issue(t, leaf{Name: "x", From: now.Add(time.Hour), Until: now.Add(2 * time.Hour)})
		}, "and this computer's clock says", false},
	} {
		t.Run(name, func(t *testing.T) {
			o := s.options
			c.change(&o)
			o.ConnectTimeout = 10 * time.Minute
			if c.want == "" {
				o.ConnectTimeout = time.Second // it could be an outage
			}
			d, _ := newDevice(t, o, doserChannels()...)
			_, err := d.Open(context.Background())
			d.Close()
			if err == nil || !strings.Contains(err.Error(), c.want) || c.want != "" && (errors.Is(err, drivers.ErrRefused) != c.no || errors.Is(err, drivers.ErrUnavailable)) {
				t.Errorf("got %v, which should say %q and be a refusal: %v", err, c.want, c.no)
			}
		})
	}
}

// The broker's own certificate may be at fault.
func TestTLSBrokersCertificate(t *testing.T) {
	authority := newAuthority(t, "lab")
	now := time.Now()
	for name, c := range map[string]struct {
		leaf leaf
		want string
	}{
		"expired":  {leaf{Name: "b", Hosts: []string{"127.0.0.1"}, From: now.Add(-2 * time.Hour), Until: now.Add(-time.Hour)}, "renew the broker's certificate, and look at this computer's clock"},
		"client's": {leaf{Name: "b"}, "write one of the certificate's names as server_name"},
	} {
		t.Run(name, func(t *testing.T) {
			cert, key := authority.issue(t, c.leaf)
			b := broker.StartEmbeddedTLS(t, broker.TLS{CertFile: cert, KeyFile: key})
			o := optionsFor(b.URL)
			o.CAFile = authority.File
			d, _ := newDevice(t, o, doserChannels()...)
			defer d.Close()
			if _, err := d.Open(context.Background()); !errors.Is(err, drivers.ErrRefused) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, which should say %q", err, c.want)
			}
		})
	}
}

// A file may hold several certificates; the broker's own may be among them
// without any authority.
func TestTLSSelfSigned(t *testing.T) {
	authority := newAuthority(t, "nobody")
	cert, key := authority.issue(t, leaf{Name: "b", Hosts: []string{"127.0.0.1"}})
	text, err := os.ReadFile(cert)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	if _, err := x509.ParseCertificate(block.Bytes); err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadFile(newAuthority(t, "another").File)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "both.pem")
	if err := os.WriteFile(file, append(other, text...), 0o600); err != nil {
		t.Fatal(err)
	}
	b := broker.StartEmbeddedTLS(t, broker.TLS{CertFile: cert, KeyFile: key})
	o := optionsFor(b.URL)
	o.CAFile = file
	d, _ := newDevice(t, o, doserChannels()...)
	defer d.Close()
	if _, err := d.Open(context.Background()); err != nil {
		t.Error(err)
	}
}
