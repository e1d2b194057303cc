package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"

	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/web"
)

// webService is the server of a run's pages.
type webService struct {
	server    *web.Server
	dashboard *web.Dashboard
	listener  net.Listener
	// address is what to open.
	address string
	end     context.CancelFunc
	done    chan error
}

// tokenMin is the least length of a token, in characters: nobody guesses sixteen.
const tokenMin = 16

// openWeb makes the server that the file asks for and takes its address, before
// anything is driven; nil where it asks for none.
func (s *session) openWeb(log *slog.Logger) (*webService, error) {
	c := s.w.cfg.Web
	if c == nil || s.w.opt.Mode == plan.Simulate {
		return nil, nil
	}
	base := filepath.Dir(s.w.cfg.File)
	token, err := s.env.secret(place{c.TokenFile, c.TokenCredential, c.TokenEnv, base})
	if err != nil {
		return nil, configError(s.w, "web", "the token cannot be had: "+err.Error(), "a token of 32 random characters is enough, such as: openssl rand -hex 16")
	}
	if n := len(token); c.Token.Given() && n < tokenMin {
		return nil, configError(s.w, "web", fmt.Sprintf("the token has %d characters, and must have at least %d: whoever guesses it can stop the run", n, tokenMin), "such as: openssl rand -hex 16")
	}
	security, err := webTLS(c, base)
	if err != nil {
		return nil, configError(s.w, "web.cert_file", err.Error(), "both are PEM files")
	}
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return nil, configError(s.w, "web.listen", err.Error(), "HOST:PORT")
	}
	service := &webService{server: web.NewServer(web.ServerOptions{Hosts: append([]string{host}, c.Hosts...), Token: token, TLS: security, Log: log})}
	service.dashboard = web.NewDashboard(web.DashboardOptions{Panel: s.panel, Open: func() (*journal.Reader, error) { return journal.OpenReader(s.journal.Path()) },
		Options: s.w.opt, Devices: s.w.deviceNames(), Risk: s.w.spec.Risk, Now: s.env.now, Log: log})
	if err := service.dashboard.Mount(service.server); err != nil {
		return nil, err
	}
	s.metrics.Mount(service.server.Handle)
	if service.listener, err = net.Listen("tcp", c.Listen); err != nil {
		return nil, withHint(fmt.Errorf("the dashboard cannot listen on %s: %w", c.Listen, err), "another tuner may have it: give each its own [web] listen")
	}
	scheme := "http"
	if security != nil {
		scheme = "https"
	}
	service.address = fmt.Sprintf("%s://%s/", scheme, service.listener.Addr())
	return service, nil
}

// webTLS reads the server's certificate, nil where there is none.
func webTLS(c *configs.Web, base string) (*tls.Config, error) {
	if c.CertFile == "" {
		return nil, nil
	}
	at := func(path string) string {
		if filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(base, path)
	}
	pair, err := tls.LoadX509KeyPair(at(c.CertFile), at(c.KeyFile))
	if err != nil {
		return nil, err
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// start serves until stop. The pages outlive ctx: they show how a run that was interrupted
// comes to rest.
func (w *webService) start(ctx context.Context) {
	if w == nil {
		return
	}
	ctx, w.end = context.WithCancel(context.WithoutCancel(ctx))
	w.done = make(chan error, 1)
	go w.dashboard.Run(ctx)
	go func() { w.done <- w.server.Serve(ctx, w.listener) }()
}

// stop ends the server and waits for it.
func (w *webService) stop() error {
	switch {
	case w == nil:
		return nil
	case w.end == nil: // it never began
		return w.listener.Close()
	}
	w.end()
	if err := <-w.done; err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("the dashboard: %w", err)
	}
	return nil
}
