package opcua

import (
	"bytes"
	"context"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gopcua/opcua"
	"github.com/gopcua/opcua/ua"
	"github.com/gopcua/opcua/uasc"

	"github.com/labtuner/tuner/drivers"
)

// secured gives the options of a client that keep messages from others, and the server's own
// endpoint that they are for, nil where there is no security. Files are read at each
// connection, so that a renewed certificate needs no restart. An error that wraps neither
// drivers.ErrUnavailable nor drivers.ErrRefused is one of the files.
func (o *Options) secured(ctx context.Context, dial opcua.Option, now time.Time) ([]opcua.Option, *ua.EndpointDescription, error) {
	if !o.secure() {
		return []opcua.Option{opcua.SecurityMode(ua.MessageSecurityModeNone)}, nil, nil
	}
	endpoints, err := opcua.GetEndpoints(ctx, o.Endpoint, dial)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: the server does not tell its endpoints: %w", drivers.ErrUnavailable, err)
	}
	endpoint, err := o.choose(endpoints)
	if err != nil {
		return nil, nil, err
	}
	options, err := o.certificates(endpoint.ServerCertificate, now)
	return append(options, opcua.SecurityFromEndpoint(endpoint, ua.UserTokenTypeAnonymous)), endpoint, err
}

// login says who this client is, as the endpoint wants to hear it.
func (o *Options) login(endpoint *ua.EndpointDescription) (*uasc.SessionConfig, error) {
	s := opcua.DefaultSessionConfig()
	s.SessionTimeout = o.SessionTimeout
	s.ClientDescription.ApplicationURI, s.ClientDescription.ProductURI = "urn:labtuner:tuner", "urn:labtuner:tuner"
	s.ClientDescription.ApplicationName = ua.NewLocalizedText("tuner")
	if o.secure() {
		own, err := o.certificateFile("cert_file", o.CertFile)
		if err != nil {
			return nil, err
		}
		s.ClientDescription.ApplicationURI = own[0].URIs[0].String()
	}
	kind, words := ua.UserTokenTypeAnonymous, "anonymous"
	if o.Username != "" {
		kind, words = ua.UserTokenTypeUserName, "user name"
	}
	i := slices.IndexFunc(endpoint.UserIdentityTokens, func(t *ua.UserTokenPolicy) bool { return t.TokenType == kind })
	if i < 0 {
		return nil, fmt.Errorf("%w: the server takes no %s login with security = %q; see username", drivers.ErrRefused, words, o.Security)
	}
	policy := endpoint.UserIdentityTokens[i]
	if s.AuthPolicyURI = policy.SecurityPolicyURI; s.AuthPolicyURI == "" {
		s.AuthPolicyURI = endpoint.SecurityPolicyURI
	}
	if o.Username == "" {
		s.UserIdentityToken = &ua.AnonymousIdentityToken{PolicyID: policy.PolicyID}
		return s, nil
	}
	password, err := o.password()
	s.UserIdentityToken, s.AuthPassword = &ua.UserNameIdentityToken{PolicyID: policy.PolicyID, UserName: o.Username}, password
	return s, err
}

// choose gives the endpoint of the file's policy and mode.
func (o *Options) choose(all []*ua.EndpointDescription) (*ua.EndpointDescription, error) {
	policy, mode := "None", ua.MessageSecurityModeNone
	if o.secure() {
		policy, mode = o.Security, ua.MessageSecurityModeSignAndEncrypt
		if o.Mode == modeSign {
			mode = ua.MessageSecurityModeSign
		}
	}
	var others []string
	for _, e := range all {
		if e.SecurityPolicyURI == ua.FormatSecurityPolicyURI(policy) && e.SecurityMode == mode {
			return e, nil
		}
		_, name, _ := strings.Cut(e.SecurityPolicyURI, "#")
		others = append(others, name+" "+strings.TrimPrefix(e.SecurityMode.String(), "MessageSecurityMode"))
	}
	return nil, fmt.Errorf("%w: the server does not offer security = %q with mode = %q; it offers %s", drivers.ErrRefused, o.Security, o.Mode, drivers.Printable(strings.Join(others, ", ")))
}

// certificates reads the files, and sees whether the server is the one that is meant.
func (o *Options) certificates(server []byte, now time.Time) ([]opcua.Option, error) {
	trusted, trustErr := o.certificateFile("server_cert_file", o.ServerCertFile)
	own, ownErr := o.certificateFile("cert_file", o.CertFile)
	key, keyErr := o.key()
	if err := errors.Join(trustErr, ownErr, keyErr); err != nil {
		return nil, err
	}
	if err := trust(server, trusted, now); err != nil {
		return nil, fmt.Errorf("%w: %w (server_cert_file %q)", drivers.ErrRefused, err, o.ServerCertFile)
	}
	me := own[0]
	switch public, isRSA := me.PublicKey.(*rsa.PublicKey); {
	case now.Before(me.NotBefore) || now.After(me.NotAfter):
		return nil, fmt.Errorf("cert_file %q is valid from %s to %s, and this computer's clock says %s", o.CertFile, me.NotBefore.Format(time.RFC3339), me.NotAfter.Format(time.RFC3339), now.Format(time.RFC3339))
	case !isRSA || !public.Equal(&key.PublicKey):
		return nil, fmt.Errorf("cert_file %q and key_file %q do not belong together", o.CertFile, o.KeyFile)
	case len(me.URIs) == 0:
		return nil, fmt.Errorf("cert_file %q names no application URI; make one with subjectAltName=URI:urn:..., which servers ask for", o.CertFile)
	}
	return []opcua.Option{opcua.Certificate(me.Raw), opcua.PrivateKey(key)}, nil
}

// trust reports whether the server's certificate is one of those that are trusted, or signed by
// one, and valid now.
func trust(server []byte, trusted []*x509.Certificate, now time.Time) error {
	cert, err := x509.ParseCertificate(server)
	if err != nil {
		return fmt.Errorf("the server's certificate cannot be read: %w", err)
	}
	if now.Before(cert.NotBefore) || now.After(cert.NotAfter) {
		return fmt.Errorf("the server's certificate is valid from %s to %s, and this computer's clock says %s", cert.NotBefore.Format(time.RFC3339), cert.NotAfter.Format(time.RFC3339), now.Format(time.RFC3339))
	}
	roots := x509.NewCertPool()
	for _, t := range trusted {
		if bytes.Equal(t.Raw, cert.Raw) {
			return nil
		}
		if t.IsCA {
			roots.AddCert(t)
		}
	}
	if _, err = cert.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}); err != nil {
		return fmt.Errorf("the server shows the certificate of %q, which is not trusted", cert.Subject)
	}
	return nil
}

// certificateFile reads the certificates of a file, one at least.
func (o *Options) certificateFile(key, name string) ([]*x509.Certificate, error) {
	text, err := o.read(key, name)
	if err != nil {
		return nil, err
	}
	var all []*x509.Certificate
	rest := text
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("%s %q: %w", key, name, err)
		}
		all = append(all, cert)
	}
	if len(all) > 0 {
		return all, nil
	}
	cert, err := x509.ParseCertificate(text)
	if err != nil {
		return nil, fmt.Errorf("%s %q holds no certificate in PEM or DER form", key, name)
	}
	return []*x509.Certificate{cert}, nil
}

// key reads the private key.
func (o *Options) key() (*rsa.PrivateKey, error) {
	text, err := o.read("key_file", o.KeyFile)
	if err != nil {
		return nil, err
	}
	if block, _ := pem.Decode(text); block != nil {
		if strings.Contains(block.Type, "ENCRYPTED") || block.Headers["DEK-Info"] != "" {
			return nil, fmt.Errorf("key_file %q is encrypted, and tuner cannot ask for its password; store it without one: openssl pkey -in FILE -out NEWFILE", o.KeyFile)
		}
		text = block.Bytes
	}
	if key, err := x509.ParsePKCS1PrivateKey(text); err == nil {
		return key, nil
	}
	parsed, err := x509.ParsePKCS8PrivateKey(text)
	if err != nil {
		return nil, fmt.Errorf("key_file %q holds no private key in PEM or DER form", o.KeyFile)
	}
	key, isRSA := parsed.(*rsa.PrivateKey)
	if !isRSA {
		return nil, fmt.Errorf("key_file %q holds a %T; the security policies of OPC UA need an RSA key", o.KeyFile, parsed)
	}
	return key, nil
}
