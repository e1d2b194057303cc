package opcua

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
)

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// pair is a certificate and its key.
type pair struct {
	key  *rsa.PrivateKey
	cert *x509.Certificate
}

// newPair makes a certificate; by signs it, nil: itself.
func newPair(name string, until time.Time, by *pair) (pair, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return pair{}, err
	}
	uri, err := url.Parse("urn:" + name)
	if err != nil {
		return pair{}, err
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: until,
		URIs: []*url.URL{uri}, BasicConstraintsValid: true, IsCA: by == nil, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment | x509.KeyUsageDataEncipherment | x509.KeyUsageCertSign}
	parent, signer := c, key
	if by != nil {
		parent, signer = by.cert, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		return pair{}, err
	}
	cert, err := x509.ParseCertificate(der)
	return pair{key, cert}, err
}

// files writes a pair as PEM and gives the names.
func (p pair) files(t *testing.T, name string) (cert, key string) {
	t.Helper()
	folder := t.TempDir()
	cert, key = filepath.Join(folder, name+".pem"), filepath.Join(folder, name+".key")
	if err := os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.cert.Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(p.key)}), 0o600); err != nil {
		t.Fatal(err)
	}
	return cert, key
}

// Only the server that is meant is believed. That the device works over an encrypted connection
// is tried with another server, see cmd/tuner/trial/foreign: the library's own takes none.
func TestAnotherServerIsRefused(t *testing.T) {
	r := newRig(t)
	me, err := newPair("tuner", time.Now().Add(time.Hour), nil)
	if err != nil {
		t.Fatal(err)
	}
	o := quick(r.port)
	o.Security = "Basic256Sha256"
	o.CertFile, o.KeyFile = me.files(t, "tuner")
	o.ServerCertFile, _ = me.files(t, "another")
	d, err := New(o, bench(), drivers.Env{Clock: wall{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Open(context.Background()); !errors.Is(err, drivers.ErrRefused) || !strings.Contains(err.Error(), "not trusted") {
		t.Errorf("another server: %v", err)
	}
	o.Security = "Aes128_Sha256_RsaOaep"
	if d, err = New(o, bench(), drivers.Env{Clock: wall{}}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Open(context.Background()); !errors.Is(err, drivers.ErrRefused) || !strings.Contains(err.Error(), "it offers") {
		t.Errorf("a policy that there is not: %v", err)
	}
}

func TestTrust(t *testing.T) {
	now := time.Now()
	make := func(name string, until time.Time, by *pair) pair {
		p, err := newPair(name, until, by)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	authority := make("authority", now.Add(time.Hour), nil)
	signed, other := make("plc", now.Add(time.Hour), &authority), make("other", now.Add(time.Hour), nil)
	for what, c := range map[string]struct {
		server, trusted pair
		now             time.Time
		want            string
	}{
		"itself":               {signed, signed, now, ""},
		"signed":               {signed, authority, now, ""},
		"signed by another":    {signed, other, now, "not trusted"},
		"another":              {other, authority, now, "not trusted"},
		"trusted, but expired": {signed, signed, now.Add(2 * time.Hour), "is valid from"},
	} {
		err := trust(c.server.cert.Raw, []*x509.Certificate{c.trusted.cert}, c.now)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// What is wrong with a file is said with its key.
func TestSecurityFiles(t *testing.T) {
	a, err := newPair("a", time.Now().Add(time.Hour), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := newPair("b", time.Now().Add(time.Hour), nil)
	if err != nil {
		t.Fatal(err)
	}
	aCert, aKey := a.files(t, "a")
	_, bKey := b.files(t, "b")
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]Options{
		"do not belong together":            {ServerCertFile: aCert, CertFile: aCert, KeyFile: bKey},
		"holds no certificate":              {ServerCertFile: text, CertFile: aCert, KeyFile: aKey},
		"holds no private key":              {ServerCertFile: aCert, CertFile: aCert, KeyFile: text},
		"key_file: open":                    {ServerCertFile: aCert, CertFile: aCert, KeyFile: text + ".none"},
		"is not trusted (server_cert_file)": {ServerCertFile: aCert, CertFile: aCert, KeyFile: aKey},
	} {
		server := a.cert.Raw
		if strings.HasPrefix(want, "is not trusted") {
			server, want = b.cert.Raw, "is not trusted"
		}
		if _, err := o.certificates(server, time.Now()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}
