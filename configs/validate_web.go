package configs

import (
	"fmt"
	"net"
)

// web checks [web]: whoever reaches the page can stop the run, so beyond this computer it
// asks for a token, and for TLS to keep it.
func (k *checker) web() {
	w := k.cfg.Web
	if w == nil {
		return
	}
	host, port, err := net.SplitHostPort(w.Listen)
	if err != nil || port == "" {
		k.bad("web.listen", fmt.Sprintf("must be HOST:PORT, got %q", w.Listen), `such as "127.0.0.1:8420"`)
		return
	}
	places := 0
	for _, place := range []string{w.TokenFile, w.TokenCredential, w.TokenEnv} {
		if place != "" {
			places++
		}
	}
	if places > 1 {
		k.bad("web", "the token is kept in more than one place", "keep one of token_file, token_credential and token_env")
	}
	if (w.CertFile == "") != (w.KeyFile == "") {
		k.bad("web", "cert_file and key_file go together", "name both, or neither")
	}
	if isLoopback(host) {
		return
	}
	if places == 0 {
		k.bad("web.listen", fmt.Sprintf("%q can be reached from other computers, and there is no token", w.Listen),
			"listen on 127.0.0.1, or keep a token in a file (token_file), a systemd credential (token_credential) or an environment variable (token_env)")
	}
	if w.CertFile == "" && !w.AllowInsecure {
		k.bad("web.listen", fmt.Sprintf("%q can be reached from other computers, and there is no TLS", w.Listen),
			"name cert_file and key_file, or set allow_insecure = true where the network is trusted")
	}
}

// isLoopback says that a host is this computer itself, whatever the network.
func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
