package mqtt

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// authority signs certificates for one test. Its files are in the test's folder.
type authority struct {
	// File holds its own certificate, in PEM form.
	File string

	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	// issued counts the certificates; a serial number must not come twice.
	issued int64
}

// leaf says what a certificate is to be.
type leaf struct {
	// Name is whom it is for.
	Name string
	// Hosts are the names and addresses that it is good for; empty: it is a client's.
	Hosts []string
	// From and Until bound its validity; zero: an hour before and after now.
	From, Until time.Time
}

// newAuthority makes an authority with its own key.
func newAuthority(t testing.TB, name string) *authority {
	t.Helper()
	a := &authority{File: filepath.Join(t.TempDir(), "authority.pem")}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	template := a.template(leaf{Name: name})
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	template.ExtKeyUsage = nil
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	writePEM(t, a.File, "CERTIFICATE", der)
	return a
}

// issue signs a certificate and gives the files that hold it and its key.
func (a *authority) issue(t testing.TB, l leaf) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, a.template(l), a.cert, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	certFile, keyFile = filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	writePEM(t, certFile, "CERTIFICATE", der)
	writePEM(t, keyFile, "PRIVATE KEY", private)
	return certFile, keyFile
}

// template is a certificate without keys and signature.
func (a *authority) template(l leaf) *x509.Certificate {
	a.issued++
	c := &x509.Certificate{
		SerialNumber: big.NewInt(a.issued),
		Subject:      pkix.Name{CommonName: l.Name},
		NotBefore:    l.From,
		NotAfter:     l.Until,
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if c.NotBefore.IsZero() {
		c.NotBefore = time.Now().Add(-time.Hour)
	}
	if c.NotAfter.IsZero() {
		c.NotAfter = time.Now().Add(time.Hour)
	}
	for _, host := range l.Hosts {
		c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
		if ip := net.ParseIP(host); ip != nil {
			c.IPAddresses = append(c.IPAddresses, ip)
		} else {
			c.DNSNames = append(c.DNSNames, host)
		}
	}
	return c
}

func writePEM(t testing.TB, name, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}
