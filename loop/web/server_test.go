package web

import (
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
)

// testToken is what tests show to command.
const testToken = "a token of the test"

// serve starts a server on loopback, with a page that tells the method, and gives its
// address.
func serve(t *testing.T, o ServerOptions) string {
	t.Helper()
	s := NewServer(o)
	s.Handle("/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
		if _, err := io.WriteString(w, r.Method+" "+string(text)); err != nil {
			t.Error(err)
		}
	}))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + listener.Addr().String()
}

// call is a request and what is expected of it.
type call struct {
	what, method, path string
	host               string
	header             map[string]string
	body               string
	status             int
}

func (c call) make(t *testing.T, base string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), c.method, base+c.path, strings.NewReader(c.body))
	if err != nil {
		t.Fatal(err)
	}
	r.Host = c.host
	for k, v := range c.header {
		r.Header.Set(k, v)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatalf("%s: %v", c.what, err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	if answer.StatusCode != c.status {
		t.Errorf("%s: status %d, want %d", c.what, answer.StatusCode, c.status)
	}
	return answer
}

// Who is answered: loopback names and those of the file. A page of another site can
// neither have its name point here (DNS rebinding) nor post (cross-site request).
func TestServerRefusesOtherSites(t *testing.T) {
	base := serve(t, ServerOptions{Hosts: []string{"bench.lab"}, Token: testToken})
	for _, c := range []call{
		{"by address", "GET", "/", "", nil, "", 200},
		{"by name", "GET", "/", "localhost:8420", nil, "", 200},
		{"IPv6", "GET", "/", "[::1]:8420", nil, "", 200},
		{"a name of the file", "GET", "/", "Bench.lab.", nil, "", 200},
		{"rebinding", "GET", "/", "evil.example", nil, "", 421},
		{"rebinding with a port", "GET", "/", "evil.example:8420", nil, "", 421},
		{"rebinding to look like us", "GET", "/", "127.0.0.1.evil.example", nil, "", 421},
		{"rebinding by another address", "GET", "/", "192.0.2.7", nil, "", 421},
		{"post of our page", "POST", "/", "", map[string]string{"Sec-Fetch-Site": "same-origin"}, "x", 200},
		{"post of no browser", "POST", "/", "", nil, "x", 200},
		{"post of another site", "POST", "/", "", map[string]string{"Sec-Fetch-Site": "cross-site"}, "x", 403},
		{"post of a sibling", "POST", "/", "", map[string]string{"Sec-Fetch-Site": "same-site"}, "x", 403},
		{"post of another origin", "POST", "/", "", map[string]string{"Origin": "http://evil.example"}, "x", 403},
		{"post of another port here", "POST", "/", "", map[string]string{"Origin": "http://127.0.0.1:1"}, "x", 403},
		{"a long body", "POST", "/", "", nil, strings.Repeat("x", bodyMax+1), 413},
	} {
		c.header = maps.Clone(c.header)
		if c.header == nil {
			c.header = map[string]string{}
		}
		c.header["Authorization"] = "Bearer " + testToken
		a := c.make(t, base)
		if policy := a.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("%s: content security policy %q", c.what, policy)
		}
	}
}

// With a token nothing is shown without it; a browser shows it once and then keeps a
// cookie that no script and no other site can use.
func TestServerAsksForTheToken(t *testing.T) {
	const token = "correct horse; battery\""
	base := serve(t, ServerOptions{Token: token})
	with := func(text string) map[string]string { return map[string]string{"Authorization": text} }
	for _, c := range []call{
		{"nothing", "GET", "/", "", nil, "", 401},
		{"post of nothing", "POST", "/api/command/stop", "", nil, "", 401},
		{"bearer", "GET", "/", "", with("Bearer " + token), "", 200},
		{"another", "GET", "/", "", with("Bearer wrong"), "", 401},
		{"part of it", "GET", "/", "", with("Bearer " + token[:5]), "", 401},
		{"basic", "GET", "/", "", with("Basic " + token), "", 401},
		{"the token itself as cookie", "GET", "/", "", map[string]string{"Cookie": tokenCookie + "=" + url.QueryEscape(token)}, "", 401},
		{"another in the address", "GET", "/?token=wrong", "", nil, "", 401},
		{"in the address of another page", "GET", "/x?token=" + url.QueryEscape(token), "", nil, "", 401},
	} {
		c.make(t, base)
	}
	a := call{"in the address", "GET", "/?token=" + url.QueryEscape(token), "", nil, "", 303}.make(t, base)
	cookies := a.Cookies()
	if a.Header.Get("Location") != "/" || len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteStrictMode || strings.Contains(cookies[0].Value, "horse") {
		t.Fatalf("location %q, cookies %v", a.Header.Get("Location"), cookies)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	jar.SetCookies(at, cookies)
	answer, err := (&http.Client{Jar: jar}).Get(base + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("with the cookie: %d", answer.StatusCode)
	}
}
