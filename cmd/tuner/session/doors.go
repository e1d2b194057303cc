package session

import (
	"context"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/outcome"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/local"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/web"
)

// doors are the ways to a run's pages and commands, beside the broker: a Unix socket, and a
// port where the file asks for one. Both lead to one server.
type doors struct {
	server    *web.Server
	dashboard *web.Dashboard
	// port is nil without [web], socket nil where there can be none.
	port   net.Listener
	socket *local.Listener
	// address is what to open, link the same with the token that the run has made.
	address string
	link    *pageLink
	end     context.CancelFunc
	done    chan error
	// drawer draws the page's figures until endDrawing.
	drawer     *outcome.Drawer
	endDrawing context.CancelFunc
}

// tokenMin is the least length of a token, in characters: nobody guesses sixteen.
const tokenMin = 16

// openDoors makes the server and takes its addresses, before anything is driven; nil for a
// simulation.
func (s *session) openDoors(log *slog.Logger) (d *doors, err error) {
	if s.Setup.Options.Mode == plan.Simulate {
		return nil, nil
	}
	d = &doors{}
	o, err := s.pageOptions(d, log)
	if err != nil {
		return nil, err
	}
	d.server = web.NewServer(o)
	drawing, end := context.WithCancel(context.Background())
	d.drawer, d.endDrawing = outcome.NewDrawer(drawing, s.Env, s.journal.Path()), end
	key := make([]byte, 32)
	if _, err := io.ReadFull(s.Env.Random, key); err != nil {
		return nil, fmt.Errorf("name the reports of the page: %w", err)
	}
	d.dashboard = web.NewDashboard(web.DashboardOptions{Archive: archive{s}, Key: key, Panel: s.panel, Identity: s.identity(), Open: func() (*journal.Reader, error) { return journal.OpenReader(s.journal.Path()) },
		Drawer: d.drawer, Runs: s.runsHere, Options: s.Setup.Options, Devices: s.Setup.DeviceNames(), Risk: s.Setup.Spec.Risk, Preview: s.preview, Now: s.Env.Now, Log: log})
	if err := d.dashboard.Mount(d.server); err != nil {
		return nil, err
	}
	if s.metrics != nil {
		s.metrics.Mount(d.server.Handle)
	}
	if d.socket, err = s.openSocket(); err != nil {
		return nil, err
	}
	if s.Setup.Config.Web != nil {
		if err := s.openPort(d, o.TLS != nil); err != nil {
			return nil, errors.Join(err, d.close())
		}
		d.dashboard.HasPage(d.address)
	}
	return d, nil
}

// pageOptions say who is answered at the port.
func (s *session) pageOptions(d *doors, log *slog.Logger) (o web.ServerOptions, err error) {
	c := s.Setup.Config.Web
	if c == nil {
		return web.ServerOptions{Log: log}, nil
	}
	base := filepath.Dir(s.Setup.Config.File)
	token, err := s.Env.Secret(host.SecretPlace{File: c.TokenFile, Credential: c.TokenCredential, Env: c.TokenEnv, Base: base})
	if err != nil {
		return o, s.Setup.Refuse("web", "the token cannot be had: "+err.Error(), "a token of 32 random characters is enough, such as: openssl rand -hex 16")
	}
	if n := len(token); c.Token.Given() && n < tokenMin {
		return o, s.Setup.Refuse("web", fmt.Sprintf("the token has %d characters, and must have at least %d: anyone who guesses it can stop the run", n, tokenMin), "such as: openssl rand -hex 16")
	}
	if !c.Token.Given() {
		if d.link, err = newPageLink(linkPath(s.Path), s.Env.Random); err != nil {
			return o, err
		}
		token = d.link.token
	}
	security, err := webTLS(c, base)
	if err != nil {
		return o, s.Setup.Refuse("web.cert_file", err.Error(), "both are PEM files")
	}
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return o, s.Setup.Refuse("web.listen", err.Error(), "HOST:PORT")
	}
	return web.ServerOptions{Hosts: append([]string{host}, c.Hosts...), Token: token, ReadByAll: !c.Token.Given(), TLS: security, Log: log}, nil
}

// openPort takes the address of [web], and keeps the link to it.
func (s *session) openPort(d *doors, secure bool) (err error) {
	listen := s.Setup.Config.Web.Listen
	if d.port, err = net.Listen("tcp", listen); err != nil {
		return fault.WithHint(fmt.Errorf("the dashboard cannot listen on %s: %w", listen, err), "another tuner may have it: give each its own [web] listen")
	}
	scheme := "http"
	if secure {
		scheme = "https"
	}
	d.address = fmt.Sprintf("%s://%s/", scheme, d.port.Addr())
	if d.link == nil {
		return nil
	}
	return d.link.write(d.address)
}

// identity is what the run says of itself to whoever looks for it.
func (s *session) identity() web.Identity {
	return web.Identity{Name: s.Setup.Config.Name, Site: s.Setup.Config.Site, Mode: s.Setup.Options.Mode, Config: host.Absolute(s.Setup.Config.File), Journal: host.Absolute(s.Path),
		Session: s.panel.Status().Session, Run: s.run.ID, PID: os.Getpid(), Version: host.Version()}
}

// openSocket makes the run's socket. Where the file asks for nothing of it, a run goes on
// without one and says so: it may have other ways.
func (s *session) openSocket() (*local.Listener, error) {
	c := s.Setup.Config.Socket
	share, err := socketShare(c)
	if err != nil {
		return nil, s.Setup.Refuse("socket", err.Error(), "a user and a group of this computer, by name or number")
	}
	folder := ""
	if c != nil && c.Folder != "" {
		folder = s.Setup.Config.Path(c.Folder)
	} else {
		folder, err = s.Env.Places().Own()
	}
	var door *local.Listener
	if err == nil {
		door, err = local.Listen(folder, local.ID(s.Setup.Config.Name, host.Absolute(s.Path)), share)
	}
	switch {
	case err == nil:
		return door, nil
	case c != nil:
		return nil, s.Setup.Refuse("socket", err.Error(), "the folder must be there, and its user must be allowed to write it and, with group, to give a file to that group")
	}
	s.tell.Say("tuner: warning: there is no socket for commands from this computer: %v", err)
	return nil, nil
}

// socketShare finds the users that [socket] lets in.
func socketShare(c *configs.Socket) (local.Access, error) {
	share := local.OwnerOnly()
	if c == nil {
		return share, nil
	}
	number := func(id string, err error) (int, error) {
		if err != nil {
			return -1, err
		}
		return strconv.Atoi(id)
	}
	var userErr, groupErr error
	if c.Owner != "" {
		share.UID, userErr = number(userNumber(c.Owner))
	}
	if c.Group != "" {
		share.GID, groupErr = number(groupNumber(c.Group))
	}
	return share, errors.Join(userErr, groupErr)
}

func userNumber(name string) (string, error) {
	if _, err := strconv.ParseUint(name, 10, 31); err == nil {
		return name, nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return "", err
	}
	return u.Uid, nil
}

func groupNumber(name string) (string, error) {
	if _, err := strconv.ParseUint(name, 10, 31); err == nil {
		return name, nil
	}
	g, err := user.LookupGroup(name)
	if err != nil {
		return "", err
	}
	return g.Gid, nil
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

// text say where the page is. The link with the token is for a person's terminal; what may
// end up in a log names the file that has it.
func (d *doors) text(terminal bool) string {
	switch {
	case d.link == nil:
		return d.address
	case terminal:
		return d.link.text(d.address)
	}
	return fmt.Sprintf("%s (to read; the link that also takes commands is in %s)", d.address, d.link.path)
}

// start serves until stop. The pages outlive ctx: they show how a run that was interrupted
// comes to rest.
func (d *doors) start(ctx context.Context) {
	if d == nil {
		return
	}
	ctx, d.end = context.WithCancel(context.WithoutCancel(ctx))
	d.done = make(chan error, 2)
	go d.dashboard.Run(ctx)
	go func() {
		if d.port == nil {
			d.done <- nil
			return
		}
		d.done <- d.server.Serve(ctx, d.port)
	}()
	go func() {
		if d.socket == nil {
			d.done <- nil
			return
		}
		d.done <- d.server.ServeSocket(ctx, d.socket, local.Peer)
	}()
}

// stop ends the server, waits for it and takes the link away: the next process makes another.
func (d *doors) stop() error {
	switch {
	case d == nil:
		return nil
	case d.end == nil: // it never began
		return d.close()
	}
	d.end()
	d.endDrawing()
	d.drawer.Close()
	for range 2 {
		if err := <-d.done; err != nil && !errors.Is(err, net.ErrClosed) {
			return errors.Join(fmt.Errorf("the dashboard: %w", err), d.link.remove())
		}
	}
	return d.link.remove()
}

// close gives up addresses that nobody was served at.
func (d *doors) close() error {
	var errs []error
	if d.port != nil {
		errs = append(errs, d.port.Close())
	}
	if d.socket != nil {
		errs = append(errs, d.socket.Close())
	}
	d.endDrawing()
	return errors.Join(append(errs, d.link.remove())...)
}

// openPanel makes the place where commands to the run come in and its status comes out.
// Transports that people reach it by attach themselves to it.
func (s *session) openPanel(deps *loop.Deps) error {
	unique := make([]byte, 16)
	if _, err := io.ReadFull(s.Env.Random, unique); err != nil {
		return fmt.Errorf("name the session: %w", err)
	}
	s.panel = control.NewPanel(hex.EncodeToString(unique))
	s.Setup.Options.Run = plan.RunNames{ID: s.run.ID, Name: s.run.Name, Site: s.run.Site, Journal: s.Path}
	deps.Panel = s.panel
	return nil
}
