package link

// Keys are those that say where a broker is and who logs in there.
type Keys struct {
	Broker       string   `toml:"broker" required:"true" doc:"the broker's address, such as tcp://127.0.0.1:1883, or tls://HOST:8883 encrypted"`
	Cluster      []string `toml:"cluster" doc:"further nodes of the same clustered broker, addresses like broker; the next one is tried when a node does not answer"`
	ClientID     string   `toml:"client_id" doc:"name at the broker, which must be the only one of this name; absent: \"tuner-\" and random digits"`
	Username     string   `toml:"username" doc:"user name at the broker; absent: none"`
	PasswordFile string   `toml:"password_file" doc:"file whose first line is the password, which keeps it out of this file"`
	PasswordCred string   `toml:"password_credential" doc:"systemd credential (LoadCredential=) whose first line is the password"`
	PasswordEnv  string   `toml:"password_env" doc:"environment variable that holds the password, which keeps it out of this file"`
	CAFile       string   `toml:"ca_file" doc:"tls: file of the certificates, in PEM form, that vouch for the broker's; absent: the system's"`
	CertFile     string   `toml:"cert_file" doc:"tls: file of this client's certificate, in PEM form; absent: none"`
	KeyFile      string   `toml:"key_file" doc:"tls: file of the certificate's private key, in PEM form and not encrypted"`
	ServerName   string   `toml:"server_name" doc:"tls: the name that the broker's certificate must hold; absent: the host of broker"`
}
