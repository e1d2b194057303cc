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
	"sync"
	"time"
)

// Server serves pages and whatever else is mounted on it, by two doors: Serve over the
// network, to requests that name this computer (or a host of ServerOptions), and ServeSocket
// on a Unix socket, to whoever its file lets in. Nothing changes state but by POST, and
// admits alone decides who may.
type Server struct {
	o   ServerOptions
	mux *http.ServeMux
}

// ServerOptions say who is answered.
type ServerOptions struct {
	// Hosts are the host names, without port, that a request may name besides loopback
	// addresses. A page of another site that has its name point here (DNS rebinding) names
	// that site, and is refused.
	Hosts []string
	// Token must be shown over the network by whoever commands: as "Authorization: Bearer
	// TOKEN", or once as /?token=TOKEN, which leaves a cookie. Empty: no one commands there.
	Token string
	// ReadByAll says that what is only read is shown without the token.
	ReadByAll bool
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

// Visitor is who makes a request, as its door has found.
type Visitor struct {
	// Who and Transport are for the record: by address over the network ("web"), by user and
	// process on the socket ("socket").
	Who       string `json:"who"`
	Transport string `json:"transport"`
	// Commands says that the visitor may command.
	Commands bool `json:"commands"`
}

// visitorKey is where a request's context holds its Visitor.
type visitorKey struct{}

// VisitorOf is who makes a request that a Server has admitted.
func VisitorOf(r *http.Request) Visitor {
	v, _ := r.Context().Value(visitorKey{}).(Visitor)
	return v
}

// Serve answers on a listener of the network until ctx ends, and closes it.
//
// Errors: the listener's.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	return s.serve(ctx, listener, &http.Server{Handler: s.guarded(), TLSConfig: s.o.TLS})
}

// ServeSocket does the same on a Unix socket. Whoever the file lets in may command; who says
// for the record who that is.
func (s *Server) ServeSocket(ctx context.Context, listener net.Listener, who func(net.Conn) string) error {
	return s.serve(ctx, listener, &http.Server{Handler: s.admitted(),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			if g, ok := c.(*limitedConn); ok {
				c = g.Conn
			}
			return context.WithValue(ctx, visitorKey{}, Visitor{Who: who(c), Transport: "socket", Commands: true})
		}})
}

// serve answers on listener until ctx ends, and closes it.
func (s *Server) serve(ctx context.Context, listener net.Listener, h *http.Server) error {
	h.ReadHeaderTimeout, h.ReadTimeout, h.WriteTimeout, h.IdleTimeout, h.MaxHeaderBytes = headerTimeout, headerTimeout, writeTimeout, idleTimeout, headerMax
	h.ErrorLog = slog.NewLogLogger(s.o.Log.Handler(), slog.LevelDebug)
	h.BaseContext = func(net.Listener) context.Context { return ctx }
	listener = newConnectionLimit(listener, connectionsMax)
	done := make(chan error, 1)
	go func() {
		if h.TLSConfig != nil {
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

// guarded is what every request over the network passes first.
func (s *Server) guarded() http.Handler {
	cross := http.NewCrossOriginProtection()
	inner := cross.Handler(s.admitted())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		securityHeaders(w.Header())
		if !s.knownHost(r.Host) {
			w.Header().Set("Connection", "close") // who is refused holds no connection
			http.Error(w, "this host name is not served: add it to [web] hosts if it should be", http.StatusMisdirectedRequest)
			return
		}
		if s.signIn(w, r) {
			return
		}
		v := Visitor{Who: r.RemoteAddr, Transport: "web", Commands: s.showsToken(r)}
		inner.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), visitorKey{}, v)))
	})
}

// admitted is what every request passes, by either door.
func (s *Server) admitted() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.admits(r) {
			w.Header().Set("Connection", "close")
			w.Header().Set("WWW-Authenticate", `Bearer realm="tuner"`)
			http.Error(w, s.refusal(), http.StatusUnauthorized)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, bodyMax)
		s.mux.ServeHTTP(w, r)
	})
}

// admits decides who may command, and who may read.
func (s *Server) admits(r *http.Request) bool {
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	return VisitorOf(r).Commands || reads && s.o.ReadByAll
}

// refusal says what a visitor who is not admitted needs.
func (s *Server) refusal() string {
	if s.o.ReadByAll {
		return "this page only shows the run: to send commands, open the link that tuner run printed"
	}
	return "a token is needed: open /?token=TOKEN once, or send Authorization: Bearer TOKEN"
}

// securityHeaders has the browser load nothing from elsewhere, and to show the page in no
// other site's frame.
func securityHeaders(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// knownHost says that a request's host is one of ours.
func (s *Server) knownHost(hostPort string) bool {
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

// showsToken says that a request shows the token, where there is one.
func (s *Server) showsToken(r *http.Request) bool {
	if s.o.Token == "" {
		return false
	}
	if shown, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return constantTimeEqual(shown, s.o.Token)
	}
	c, err := r.Cookie(tokenCookie)
	return err == nil && constantTimeEqual(c.Value, hashOf([]byte(s.o.Token)))
}

// constantTimeEqual compares in constant time.
func constantTimeEqual(a, b string) bool {
	return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}

// signIn takes the token of an address, keeps it in a cookie and shows the address
// without it, so that it stays in no history. It reports whether it has answered.
func (s *Server) signIn(w http.ResponseWriter, r *http.Request) bool {
	shown := r.URL.Query().Get("token")
	if s.o.Token == "" || shown == "" || r.URL.Path != "/" || r.Method != http.MethodGet || !constantTimeEqual(shown, s.o.Token) {
		return false
	}
	http.SetCookie(w, &http.Cookie{Name: tokenCookie, Value: hashOf([]byte(shown)), Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: s.o.TLS != nil})
	http.Redirect(w, r, "/", http.StatusSeeOther)
	return true
}

// connectionsMax is how many connections are held at once: a browser keeps at most six,
// and what comes beyond has not shown a token yet. Each takes a file descriptor, and what
// drives the instrument needs those: its journal, its devices, its broker.
const connectionsMax = 128

// connectionLimit is a listener that holds no more than its number of connections. What comes beyond
// is closed at once: left waiting it would be answered when no one waits any more.
type connectionLimit struct {
	net.Listener
	free chan struct{}
}

// newConnectionLimit lets n connections of a listener in at a time.
func newConnectionLimit(l net.Listener, n int) *connectionLimit {
	return &connectionLimit{l, make(chan struct{}, n)}
}

// Accept waits for a connection that there is room for.
func (c *connectionLimit) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case c.free <- struct{}{}:
			return &limitedConn{Conn: conn, release: sync.OnceFunc(func() { <-c.free })}, nil
		default:
			conn.Close() // it was let down in any case: there is nothing to do about an error
		}
	}
}

// limitedConn is a connection that makes room when it is closed.
type limitedConn struct {
	net.Conn
	release func()
}

func (g *limitedConn) Close() error {
	defer g.release()
	return g.Conn.Close()
}
