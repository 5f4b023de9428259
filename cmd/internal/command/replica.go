package command

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/state/engine"
)

// engineEtcd is the value of --engine for a state that several emulators share.
const engineEtcd = "etcd"

// replicaProgram is the program that links etcd's client.
const replicaProgram = programName + "-replica"

// Etcd says where etcd keeps the state that replicas share.
type Etcd struct {
	Endpoints          []string // URLs
	Prefix             string   // of all keys
	TLS                *tls.Config
	Username, Password string
}

// etcdOpener is Program's.
type etcdOpener = func(context.Context, Etcd) (engine.Elected, error)

// etcdFlags say where the state is that several emulators share, and what this one is
// among them.
type etcdFlags struct {
	endpoints, prefix           string
	ca, cert, key               string
	user, passwordFile          string
	replica                     string
	advertise, advertiseControl string
	read                        string

	opener etcdOpener
}

// The values of --read.
const (
	readLeader = "leader"
	readLocal  = "local"
)

func (f *etcdFlags) define(flags *pflag.FlagSet) {
	flags.StringVar(&f.endpoints, "etcd-endpoints", "", "URLs of etcd's members, separated by commas, with --engine etcd")
	flags.StringVar(&f.prefix, "etcd-prefix", "/clbemu/", "beginning of all keys in etcd; replicas with the same one share their state")
	flags.StringVar(&f.ca, "etcd-ca", "", "file (PEM) with the certificates of authorities that sign etcd's (default: the system's)")
	flags.StringVar(&f.cert, "etcd-cert", "", "client certificate file (PEM) for etcd")
	flags.StringVar(&f.key, "etcd-key", "", "private key file (PEM) of that certificate")
	flags.StringVar(&f.user, "etcd-user", "", "user name in etcd")
	flags.StringVar(&f.passwordFile, "etcd-password-file", "", "file with the password of that user")
	flags.StringVar(&f.replica, "replica", "", "name of this replica among those that share the state (default: its control address)")
	flags.StringVar(&f.advertise, "advertise", "", "URL by which other replicas reach the API (default: from --listen)")
	flags.StringVar(&f.advertiseControl, "advertise-control", "", "URL by which other replicas reach the control API (default: from --control-listen)")
	flags.StringVar(&f.read, "read", readLeader, "where a replica reads while it follows: leader passes calls on, local answers with what it knows, and says in a header how old that may be")
}

// check refuses what does not go together.
func (f *etcdFlags) check(engine string, flags *pflag.FlagSet) error {
	switch {
	case f.read != readLeader && f.read != readLocal:
		return fmt.Errorf("--read is %s or %s, not %q", readLeader, readLocal, f.read)
	case engine != engineEtcd:
		return f.checkUnused(flags)
	case f.opener == nil:
		return fmt.Errorf("--engine %s needs %s: type %[2]s serve with the same flags", engineEtcd, replicaProgram)
	case f.endpoints == "":
		return errors.New("--engine etcd needs --etcd-endpoints, such as http://127.0.0.1:2379")
	case (f.cert == "") != (f.key == ""):
		return errors.New("--etcd-cert and --etcd-key go together")
	case (f.user == "") != (f.passwordFile == ""):
		return errors.New("--etcd-user and --etcd-password-file go together")
	}
	return f.checkURLs(flags)
}

// checkUnused refuses flags that only replicas have.
func (f *etcdFlags) checkUnused(flags *pflag.FlagSet) error {
	needs := "--engine " + engineEtcd
	if f.opener == nil {
		needs = fmt.Sprintf("%s: type %[1]s serve --engine %s with the same flags", replicaProgram, engineEtcd)
	}
	for _, name := range []string{"etcd-endpoints", "etcd-ca", "etcd-cert", "etcd-key", "etcd-user", "etcd-password-file", "replica", "advertise", "advertise-control"} {
		if flags.Lookup(name).Value.String() != "" {
			return fmt.Errorf("--%s needs %s", name, needs)
		}
	}
	return nil
}

// checkURLs refuses URLs by which no other replica reaches this one.
func (f *etcdFlags) checkURLs(flags *pflag.FlagSet) error {
	for name, text := range map[string]string{"advertise": f.advertise, "advertise-control": f.advertiseControl} {
		if u, err := url.Parse(text); text != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
			return fmt.Errorf("--%s is a URL such as http://10.0.0.1:9600, not %q", name, text)
		}
	}
	for name, pair := range map[string][2]string{"listen": {flags.Lookup("listen").Value.String(), f.advertise}, "control-listen": {flags.Lookup("control-listen").Value.String(), f.advertiseControl}} {
		host, _, err := net.SplitHostPort(pair[0])
		if ip := net.ParseIP(host); err == nil && pair[1] == "" && (host == "" || ip != nil && ip.IsUnspecified()) {
			advertise := map[string]string{"listen": "advertise", "control-listen": "advertise-control"}[name]
			return fmt.Errorf("other replicas can't reach --%s %s by that address: name one with --%s", name, pair[0], advertise)
		}
	}
	return nil
}

// open connects to etcd.
func (f *etcdFlags) open(ctx context.Context) (*emulator.Replica, error) {
	cfg := Etcd{Prefix: f.prefix, Username: f.user}
	for text := range strings.SplitSeq(f.endpoints, ",") {
		if text = strings.TrimSpace(text); text != "" {
			cfg.Endpoints = append(cfg.Endpoints, text)
		}
	}
	if f.passwordFile != "" {
		text, err := readPath(f.passwordFile)
		if err != nil {
			return nil, ofFile(fmt.Errorf("--etcd-password-file: %w", err))
		}
		cfg.Password = strings.TrimSpace(string(text))
	}
	var err error
	if cfg.TLS, err = f.tls(); err != nil {
		return nil, ofFile(err)
	}
	shared, err := f.opener(ctx, cfg)
	if err != nil {
		return nil, cannot(err)
	}
	return &emulator.Replica{State: shared, Name: f.replica, API: f.advertise, Control: f.advertiseControl, ReadLocally: f.read == readLocal}, nil
}

// reopenPause is between two tries to reach etcd again.
const reopenPause = time.Second

// reopen connects to etcd again, however long that takes, unless etcd lacks what this process
// has read: then it must end. It returns nil once ctx ends.
func (f *etcdFlags) reopen(ctx context.Context, to zerolog.Logger) (*emulator.Replica, error) {
	said := ""
	for ctx.Err() == nil {
		replica, err := f.open(ctx)
		if err == nil || errors.Is(err, engine.ErrReplaced) {
			return replica, err
		}
		if why := err.Error(); why != said && ctx.Err() == nil {
			to.Warn().Err(err).Msg("etcd can't be opened, and is tried again")
			said = why
		}
		select {
		case <-time.After(reopenPause):
		case <-ctx.Done():
		}
	}
	return nil, nil
}

// tls returns the TLS configuration, or nil without flags for certificates; etcd's client then
// takes the system's authorities for https.
func (f *etcdFlags) tls() (*tls.Config, error) {
	if f.ca == "" && f.cert == "" {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if f.ca != "" {
		text, err := readPath(f.ca)
		if err != nil {
			return nil, fmt.Errorf("--etcd-ca: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("--etcd-ca: %s has no certificate in PEM", f.ca)
		}
	}
	if f.cert != "" {
		pair, err := tls.LoadX509KeyPair(f.cert, f.key)
		if err != nil {
			return nil, fmt.Errorf("--etcd-cert and --etcd-key: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
