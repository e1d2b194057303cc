package link

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// plainSchemes and secureSchemes are the forms of a broker's address, each with
// its usual port.
var (
	plainSchemes  = []string{"tcp", "mqtt"}
	secureSchemes = []string{"tls", "ssl", "mqtts"}
)

const (
	plainPort  = "1883"
	securePort = "8883"
)

// isTLS reports whether an address asks for TLS.
func isTLS(broker *url.URL) bool { return slices.Contains(secureSchemes, broker.Scheme) }

// validateTLS checks how the keys of TLS fit together; the files are read at each
// connect, so that a renewed certificate needs no restart.
func (o Options) validateTLS() error {
	var problems []error
	for _, k := range []struct{ key, value string }{
		{"ca_file", o.CAFile}, {"cert_file", o.CertFile}, {"key_file", o.KeyFile}, {"server_name", o.ServerName},
	} {
		if broker, err := o.address(); k.value != "" && err == nil && !isTLS(broker) {
			problems = append(problems, fmt.Errorf("%s is %q, but broker %q is not encrypted; write tls://HOST:PORT", k.key, k.value, o.Broker))
		}
	}
	switch {
	case o.CertFile != "" && o.KeyFile == "":
		problems = append(problems, fmt.Errorf("cert_file is %q, but there is no key_file; a certificate is of use with its private key only", o.CertFile))
	case o.KeyFile != "" && o.CertFile == "":
		problems = append(problems, fmt.Errorf("key_file is %q, but there is no cert_file to go with it", o.KeyFile))
	}
	return errors.Join(problems...)
}

// tlsConfig reads the files. now is when certificates must be valid.
func (o Options) tlsConfig(broker *url.URL, now func() time.Time) (*tls.Config, error) {
	c := &tls.Config{ServerName: o.ServerName, MinVersion: tls.VersionTLS12, Time: now}
	if c.ServerName == "" {
		c.ServerName = broker.Hostname()
	}
	if o.CAFile != "" {
		text, err := o.read("ca_file", o.CAFile)
		if err != nil {
			return nil, err
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("ca_file %q holds no certificate that can be read; it must be in PEM form, with -----BEGIN CERTIFICATE-----", o.CAFile)
		}
	}
	if o.CertFile == "" {
		return c, nil
	}
	pair, err := o.certificate(now())
	c.Certificates = []tls.Certificate{pair}
	return c, err
}

// certificate reads what this client shows to the broker.
func (o Options) certificate(now time.Time) (tls.Certificate, error) {
	cert, certErr := o.read("cert_file", o.CertFile)
	key, keyErr := o.read("key_file", o.KeyFile)
	if err := errors.Join(certErr, keyErr); err != nil {
		return tls.Certificate{}, err
	}
	block, _ := pem.Decode(key)
	switch {
	case block != nil && (strings.Contains(block.Type, "ENCRYPTED") || block.Headers["DEK-Info"] != ""):
		return tls.Certificate{}, fmt.Errorf("key_file %q is encrypted, and tuner cannot ask for its password; store it without one: openssl pkey -in FILE -out NEWFILE", o.KeyFile)
	case bytes.Contains(cert, []byte("PRIVATE KEY-----")) && !bytes.Contains(cert, []byte("BEGIN CERTIFICATE")):
		return tls.Certificate{}, fmt.Errorf("cert_file %q holds a private key; that is what key_file names", o.CertFile)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("cert_file %q and key_file %q: %w", o.CertFile, o.KeyFile, err)
	}
	// X509KeyPair keeps the parsed leaf.
	if leaf := pair.Leaf; now.Before(leaf.NotBefore) || now.After(leaf.NotAfter) {
		return tls.Certificate{}, fmt.Errorf("cert_file %q is valid from %s to %s, and this computer's clock says %s", o.CertFile,
			leaf.NotBefore.Format(time.RFC3339), leaf.NotAfter.Format(time.RFC3339), now.Format(time.RFC3339))
	}
	return pair, nil
}

// read reads the file of a key.
func (o Options) read(key, name string) ([]byte, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(o.Base, name)
	}
	text, err := o.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return text, nil
}

// tlsHandshake makes a connection secure; where it fails, conn is closed.
func tlsHandshake(ctx context.Context, conn net.Conn, config *tls.Config) (net.Conn, error) {
	c := tls.Client(conn, config)
	if err := c.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return c, nil
}

// explainTLS adds to an error of the transport what a user can do about it.
// Errors that no later attempt cures wrap drivers.ErrRefused, the others
// drivers.ErrUnavailable.
func explainTLS(err error, broker *url.URL) error {
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var plain tls.RecordHeaderError
	var remote *net.OpError
	hint := ""
	switch {
	case errors.As(err, &authority):
		hint = "name the file of the authority that signed the broker's certificate as ca_file"
	case errors.As(err, &name):
		hint = "write one of the certificate's names as server_name, or in broker"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		hint = "renew the broker's certificate, and look at this computer's clock"
	case errors.As(err, &invalid):
		hint = "the broker's certificate is not fit for a server"
	case errors.As(err, &plain):
		hint = "this port does not speak TLS; without encryption the broker is tcp://HOST:" + plainPort
	case errors.As(err, &remote) && remote.Op == "remote error": // a TLS alert
		hint = "the broker does not take this client's certificate; check cert_file and key_file"
	case errors.Is(err, io.EOF) && !isTLS(broker):
		return fmt.Errorf("%w: the broker hung up before it answered (%w); where it wants TLS, write tls://", drivers.ErrUnavailable, err)
	default:
		return fmt.Errorf("%w: %w", drivers.ErrUnavailable, err)
	}
	return fmt.Errorf("%w: %w; %s", drivers.ErrRefused, err, hint)
}
