package web

import (
	"context"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Server serves pages and whatever else is mounted on it. It answers only requests that
// name this computer (or a host of ServerOptions) and, where there is a token, show it.
type Server struct {
	o   ServerOptions
	mux *http.ServeMux
}

// ServerOptions say who is answered.
type ServerOptions struct {
	// Hosts are the host names, without port, that a request may name beside loopback
	// addresses. A page of another site that has its name point here (DNS rebinding) names
	// that site, and is refused.
	Hosts []string
	// Token, where not empty, must be shown: as "Authorization: Bearer TOKEN", or once as
	// /?token=TOKEN, which leaves a cookie.
	Token string
	// TLS, where not nil, is the server's certificate.
	TLS *tls.Config
	Log *slog.Logger
}

// tokenCookie holds the SHA-256 of the token a browser has shown. Strict: no other site's page can send it.
const tokenCookie = "tuner-token"

// Bounds of a request. A header is read in seconds or never; a body is a few words.
const (
	headerTimeout = 5 * time.Second
	idleTimeout   = 2 * time.Minute
	writeTimeout  = 30 * time.Second
	headerMax     = 16 << 10
	bodyMax       = 4 << 10
	shutdownWait  = 2 * time.Second
)

// NewServer returns a server without pages.
func NewServer(o ServerOptions) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Server{o: o, mux: http.NewServeMux()}
}

// Handle mounts a handler, as http.ServeMux does. Call it before Serve.
func (s *Server) Handle(pattern string, h http.Handler) { s.mux.Handle(pattern, h) }

// Serve answers on listener until ctx ends, and closes it.
//
// Errors: the listener's.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	h := &http.Server{Handler: s.guarded(), ReadHeaderTimeout: headerTimeout, ReadTimeout: headerTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: headerMax, ErrorLog: slog.NewLogLogger(s.o.Log.Handler(), slog.LevelDebug), TLSConfig: s.o.TLS,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	listener = newCrowd(listener, connectionsMax)
	done := make(chan error, 1)
	go func() {
		if s.o.TLS != nil {
			done <- h.ServeTLS(listener, "", "")
			return
		}
		done <- h.Serve(listener)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownWait)
	defer cancel()
	if err := h.Shutdown(wait); err != nil {
		if err := h.Close(); err != nil {
			return err
		}
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// guarded is what every request passes.
func (s *Server) guarded() http.Handler {
	cross := http.NewCrossOriginProtection()
	inner := cross.Handler(s.mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		harden(w.Header())
		if !s.knows(r.Host) {
			w.Header().Set("Connection", "close") // who is refused holds no connection
			http.Error(w, "this host name is not served: add it to [web] hosts if it should be", http.StatusMisdirectedRequest)
			return
		}
		if s.signIn(w, r) {
			return
		}
		if !s.admits(r) {
			w.Header().Set("Connection", "close")
			w.Header().Set("WWW-Authenticate", `Bearer realm="tuner"`)
			http.Error(w, "a token is needed: open /?token=TOKEN once, or send Authorization: Bearer TOKEN", http.StatusUnauthorized)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, bodyMax)
		inner.ServeHTTP(w, r)
	})
}

// harden tells the browser to load nothing from elsewhere, and to show the page in no
// other site's frame.
func harden(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// knows says that a request's host is one of ours.
func (s *Server) knows(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		host = hostPort
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if host == "localhost" || slices.ContainsFunc(s.o.Hosts, func(h string) bool { return strings.EqualFold(h, host) }) {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// admits says that a request shows the token, where there is one.
func (s *Server) admits(r *http.Request) bool {
	if s.o.Token == "" {
		return true
	}
	if shown, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return same(shown, s.o.Token)
	}
	c, err := r.Cookie(tokenCookie)
	return err == nil && same(c.Value, hashOf([]byte(s.o.Token)))
}

// same compares in a time that does not tell how much is right.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// signIn takes the token of an address, keeps it in a cookie and shows the address
// without it, so that it stays in no history. It reports whether it has answered.
func (s *Server) signIn(w http.ResponseWriter, r *http.Request) bool {
	shown := r.URL.Query().Get("token")
	if s.o.Token == "" || shown == "" || r.URL.Path != "/" || r.Method != http.MethodGet || !same(shown, s.o.Token) {
		return false
	}
	http.SetCookie(w, &http.Cookie{Name: tokenCookie, Value: hashOf([]byte(shown)), Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: s.o.TLS != nil})
	http.Redirect(w, r, "/", http.StatusSeeOther)
	return true
}
