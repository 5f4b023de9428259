package command

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/clbemu/clbemu/cmd/internal/spans"
	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/emulator/target/private"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/faults"
)

// closeTimeout limits how long calls in flight may take to finish after a signal.
const closeTimeout = 10 * time.Second

// serveFlags are the settings of clbemu serve.
type serveFlags struct {
	listen, controlListen, controlToken string
	controlTokenFile                    string
	dnsListen, debugListen              string
	dataDir, engine, world, fork        string
	faults                              string
	auth, instance                      string
	allowedHost                         string
	unsignedRemote                      bool
	tls, proxy                          bool
	tlsCert, tlsKey                     string
	seed                                uint64
	logFormat, logLevel                 string
	autoENI                             string
	journalFile                         string
	journalSize                         int64 // MiB
	dataPlane, dataPlaneDirect          string
	dataPlaneInterface, dataPlaneSource string
	dataPlaneListeners                  int
	accessLog                           bool
	etcd                                etcdFlags
}

const (
	apiPort        = "9600"
	controlPort    = "9601"
	defaultListen  = "127.0.0.1:" + apiPort
	defaultControl = "127.0.0.1:" + controlPort
	defaultDataDir = "./clbemu-data"
)

// serveGroups groups the flags by subject.
const serveGroups = `State: data-dir engine fork world faults seed
Addresses: listen control-listen dns-listen debug-listen
Who may call: auth unsigned-remote allowed-host control-token control-token-file tls tls-cert tls-key proxy
The cluster in the cloud: instance auto-eni
Packets: data-plane data-plane-interface data-plane-source data-plane-max-listeners data-plane-direct access-log
Journal and logs: journal-file journal-size log-level log-format
Replicas, in clbemu-replica and in the image: etcd-endpoints etcd-prefix etcd-ca etcd-cert etcd-key etcd-user etcd-password-file replica advertise advertise-control read
General: config help`

func newServe(openEtcd etcdOpener) *cobra.Command {
	f := &serveFlags{etcd: etcdFlags{opener: openEtcd}}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the emulator",
		Long: `Run the emulator until it gets SIGTERM or SIGINT.

Each flag can also be set in the environment (--data-dir is CLBEMU_DATA_DIR) and
in the file of --config (data-dir: ...). The command line wins over the
environment, and the environment over the file.`,
		Example: `  clbemu serve
  clbemu serve --engine memory --seed 1
  clbemu serve --world world.yaml --faults faults.yaml --data-dir /tmp/cloud
  clbemu serve --fork ./clbemu-data
  clbemu serve --listen 0.0.0.0:9600 --tls
  clbemu-replica serve --engine etcd --etcd-endpoints http://127.0.0.1:2379`,
		Args:        noArgs,
		Annotations: map[string]string{flagGroups: serveGroups},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.serve(cmd)
		},
	}
	f.define(cmd.Flags())
	return cmd
}

func (f *serveFlags) define(flags *pflag.FlagSet) {
	flags.String(configFlag, "", "YAML file with settings, named like these flags")
	flags.StringVar(&f.listen, "listen", defaultListen, "address of the cloud's API and the metadata service")
	flags.StringVar(&f.controlListen, "control-listen", defaultControl, "address of the control API")
	flags.StringVar(&f.controlToken, "control-token", "", "token of the control API, required unless it listens on loopback")
	flags.StringVar(&f.controlTokenFile, "control-token-file", "", "file with that token, used unless --control-token is given; created with a random token if missing")
	flags.StringVar(&f.dnsListen, "dns-listen", "", "address of a DNS server for the names of Network Load Balancers, such as 127.0.0.1:9653 (default: none)")
	flags.StringVar(&f.debugListen, "debug-listen", "", "loopback address that serves profiles for go tool pprof at /debug/pprof/, such as 127.0.0.1:6060 (default: none)")
	flags.StringVar(&f.dataDir, "data-dir", defaultDataDir, "folder of the state")
	flags.StringVar(&f.engine, "engine", string(emulator.Bolt), "storage of the state: bbolt, memory, or etcd, which several emulators share, in clbemu-replica and in the image")
	flags.StringVar(&f.fork, "fork", "", "serve a throw-away copy of the state in this folder of a stopped emulator")
	flags.StringVar(&f.world, "world", "", "world file to plant into an empty store (default: clbemu world show)")
	flags.StringVar(&f.faults, "faults", "", "file of fault rules that are in force before the first call; a rule that the state holds unchanged keeps its counters")
	flags.StringVar(&f.auth, "auth", authStrict, "strict verifies signatures, off accepts any call")
	flags.BoolVar(&f.unsignedRemote, "unsigned-remote", false, "allow other machines to reach an emulator with --auth off")
	flags.StringVar(&f.allowedHost, "allowed-host", "", "host names that clients use for the API, separated by commas, such as *.example; addresses, localhost and *.aliyuncs.com are always allowed")
	flags.StringVar(&f.autoENI, "auto-eni", "", "CIDR blocks of pods, separated by commas: a lookup of an address in them creates its network interface")
	flags.StringVar(&f.instance, "instance", "", "ECS instance whose metadata is served (default: the first running one)")
	flags.BoolVar(&f.tls, "tls", false, "serve the API over HTTPS, with a generated certificate unless one is given")
	flags.StringVar(&f.tlsCert, "tls-cert", "", "certificate file (PEM) for HTTPS")
	flags.StringVar(&f.tlsKey, "tls-key", "", "private key file (PEM) for HTTPS")
	flags.BoolVar(&f.proxy, "proxy", false, "let clients use the API's address as their HTTP proxy, for hosts of *.aliyuncs.com alone, with a generated certificate unless one is given; clbemu env --proxy prints their environment")
	flags.StringVar(&f.dataPlane, "data-plane", string(emulator.Ports), "ports answers for each listener at a port of 127.0.0.1, addresses at the load balancer's own addresses and ports (Linux, needs NET_ADMIN), off answers for none")
	flags.StringVar(&f.dataPlaneInterface, "data-plane-interface", "lo", "network interface that gets the load balancers' addresses with --data-plane addresses")
	flags.StringVar(&f.dataPlaneSource, "data-plane-source", sourceOwn, "address that servers of TCP and UDP listeners see with --data-plane addresses: own for clbemu's, transparent for the client's, CIDR blocks for the client's if it is in one of them; the client's needs routes for the answers")
	flags.IntVar(&f.dataPlaneListeners, "data-plane-max-listeners", 1000, "number of listeners that the data plane answers for")
	flags.StringVar(&f.dataPlaneDirect, "data-plane-direct", "", "CIDR blocks of servers that this machine reaches at their own addresses, separated by commas, such as a kind cluster's")
	flags.BoolVar(&f.accessLog, "access-log", false, "record in the journal each connection, UDP session and HTTP request that the data plane forwards, up to 50 a second")
	flags.Uint64Var(&f.seed, "seed", 0, "make the ids of a new store repeatable (0: random)")
	flags.StringVar(&f.journalFile, "journal-file", "", "append every call and change to this file, as JSON lines")
	flags.Int64Var(&f.journalSize, "journal-size", 64, "size in MiB at which the journal file is renamed to FILE.1 and a new one started")
	flags.StringVar(&f.logFormat, "log-format", logAuto, "auto, console or json")
	flags.StringVar(&f.logLevel, "log-level", "warn", "debug, info, warn or error")
	f.etcd.define(flags)
}

// maxJournalSize is a terabyte, in MiB.
const maxJournalSize = 1 << 20

// maxDataPlaneListeners leaves ports for others.
const maxDataPlaneListeners = 10_000

// The values of --data-plane-source, in addition to CIDR blocks.
const (
	sourceOwn         = "own"
	sourceTransparent = "transparent"
)

// The values of --auth.
const (
	authStrict = "strict"
	authOff    = "off"
)

// addressFree refuses an address that is taken before anything is created, and says when
// it is another clbemu that has it.
func addressFree(ctx context.Context, flag, address string) error {
	l, err := net.Listen("tcp", address)
	if err == nil {
		return l.Close()
	}
	if !errors.Is(err, syscall.EADDRINUSE) {
		return nil // the emulator reports it
	}
	who := ""
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if version, err := (&controlclient.Client{URL: "http://" + address}).Version(ctx); err == nil {
		who = fmt.Sprintf(": another clbemu (%s) uses it, see clbemu get --server http://%s", version.Version, address)
	}
	return fmt.Errorf("%s is in use%s; choose another address with %s", address, who, flag)
}

func (f *serveFlags) serve(cmd *cobra.Command) error {
	if err := f.etcd.check(f.engine, cmd.Flags()); err != nil {
		return usage(err)
	}
	cfg, err := f.config(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	takeStandardLog(cfg.Log)
	ctx := cmd.Context()
	if err := errors.Join(addressFree(ctx, "--listen", cfg.Listen), addressFree(ctx, "--control-listen", cfg.ControlListen)); err != nil {
		return cannot(err)
	}
	if f.controlToken == "" && f.controlTokenFile != "" {
		if cfg.ControlToken, err = keptToken(f.controlTokenFile); err != nil {
			return cannot(fmt.Errorf("--control-token-file: %w", err))
		}
	}
	traces, err := spans.Provider(os.Getenv, programName, version().Version, func(err error) { cfg.Log.Warn().Err(err).Msg("traces") })
	if err != nil {
		return usage(err)
	}
	if traces != nil {
		cfg.Tracer = traces.Tracer("github.com/clbemu/clbemu")
		defer func() {
			ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
			defer cancel()
			_ = traces.Shutdown(ending) // what can't be sent is reported
		}()
	}
	profiles, err := startProfiling(f.debugListen) // of the start too
	if err != nil {
		return cannot(err)
	}
	defer profiles.Close()
	announce := func(e *emulator.Emulator) error {
		return f.announce(printing(cmd), e, cfg.ControlToken, profiles.address)
	}
	if f.engine == engineEtcd {
		if cfg.Replica, err = f.etcd.open(ctx); err != nil {
			return err
		}
	}
	for {
		next, err := f.serveOnce(ctx, cfg, announce)
		if next == nil {
			return err
		}
		cfg.Replica = next
		announce = func(*emulator.Emulator) error { return nil } // others call it as before
	}
}

// serveOnce runs an emulator until ctx ends or it fails. A replica that has lost the lead keeps
// its listeners, which answer with the reason, until it can follow: then next is what another
// emulator is to serve.
func (f *serveFlags) serveOnce(ctx context.Context, cfg emulator.Config, announce func(*emulator.Emulator) error) (next *emulator.Replica, err error) {
	e, err := opened(ctx, cfg)
	if e == nil {
		return nil, cannot(err)
	}
	if err = e.Start(); err == nil {
		if err = announce(e); err == nil {
			err = e.Wait(ctx)
		}
	}
	if errors.Is(err, emulator.ErrDeposed) {
		cfg.Log.Warn().Err(err).Msg("this replica no longer leads, and follows once it reaches etcd")
		next, err = f.etcd.reopen(ctx, cfg.Log)
	}
	// The signal has ended ctx, and closing takes its own time.
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	closed := e.Close(closing)
	if next != nil && closed != nil { // what is wrong with etcd was said
		cfg.Log.Warn().Err(closed).Msg("the end of a term")
		closed = nil
	}
	return next, cannot(errors.Join(err, closed))
}

// opened calls emulator.New, and returns no emulator if ctx ends first: opening files may take its
// time, or wait for others for ever. It closes an emulator that comes too late.
func opened(ctx context.Context, cfg emulator.Config) (*emulator.Emulator, error) {
	type outcome struct {
		e   *emulator.Emulator
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		e, err := emulator.New(ctx, cfg)
		done <- outcome{e, err}
	}()
	select {
	case o := <-done:
		return o.e, o.err
	case <-ctx.Done():
	}
	go func() {
		if o := <-done; o.e != nil {
			_ = o.e.Close(ctx) // no reader is left
		}
	}()
	return nil, nil
}

// config turns the flags into the emulator's configuration.
func (f *serveFlags) config(stderr io.Writer) (cfg emulator.Config, err error) {
	if err := f.check(); err != nil {
		return cfg, usage(err)
	}
	log, err := newLog(stderr, f.logFormat, f.logLevel)
	if err != nil {
		return cfg, usage(err)
	}
	cfg = emulator.Config{
		Engine: emulator.EngineName(f.engine), DataDir: f.dataDir, StrictAuth: f.auth == authStrict, Seed: f.seed, Log: log,
		InstanceID: f.instance, Fork: f.fork, UnsignedRemote: f.unsignedRemote,
		Journal: journal.Config{File: f.journalFile, FileSize: f.journalSize << 20},
		Listen:  f.listen, ControlListen: f.controlListen, DNSListen: f.dnsListen, ControlToken: f.controlToken, Version: version(),
		DataPlane: emulator.DataPlane(f.dataPlane), MaxListeners: f.dataPlaneListeners, AccessLog: f.accessLog,
		DataPlaneInterface: f.dataPlaneInterface, Apart: private.Player{},
	}
	if f.world != "" {
		if cfg.World, err = world.Load(f.world); err != nil {
			return cfg, ofFile(err)
		}
	}
	if cfg.Faults, err = f.readFaults(); err != nil {
		return cfg, err
	}
	if cfg.AllowedHosts, err = hosts(f.allowedHost); err != nil {
		return cfg, usage(fmt.Errorf("--allowed-host: %w", err))
	}
	if cfg.AutoENI, err = blocks(f.autoENI); err != nil {
		return cfg, usage(fmt.Errorf("--auto-eni: %w", err))
	}
	if cfg.DirectBackends, err = blocks(f.dataPlaneDirect); err != nil {
		return cfg, usage(fmt.Errorf("--data-plane-direct: %w", err))
	}
	if cfg.Transparent, err = f.transparent(); err != nil {
		return cfg, usage(err)
	}
	certificate, err := f.certificate(cfg.World, cfg.AllowedHosts)
	if err != nil {
		return cfg, err
	}
	if certificate != nil && f.tlsCert == "" {
		if cfg.CAFile, err = filepath.Abs(filepath.Join(f.dataDir, emulator.CAFile)); err != nil {
			return cfg, cannot(err)
		}
	}
	if f.tls || f.tlsCert != "" {
		cfg.TLS = certificate
	}
	if f.proxy {
		cfg.Proxy = certificate
	}
	return cfg, nil
}

// check refuses values of flags that mean nothing.
func (f *serveFlags) check() error {
	if f.auth != authStrict && f.auth != authOff {
		return fmt.Errorf("--auth is %s or %s, not %q", authStrict, authOff, f.auth)
	}
	if f.engine != string(emulator.Bolt) && f.engine != string(emulator.Memory) && f.engine != engineEtcd {
		return fmt.Errorf("--engine is %s, %s or %s, not %q", emulator.Bolt, emulator.Memory, engineEtcd, f.engine)
	}
	for name, address := range map[string]string{"listen": f.listen, "control-listen": f.controlListen, "dns-listen": f.dnsListen} {
		if name == "dns-listen" && address == "" {
			continue
		}
		if _, _, err := net.SplitHostPort(address); err != nil {
			return fmt.Errorf("--%s is host:port, not %q", name, address)
		}
	}
	if err := checkDebugListen(f.debugListen); err != nil {
		return err
	}
	if err := f.checkDataPlane(); err != nil {
		return err
	}
	if f.journalSize < 1 || f.journalSize > maxJournalSize {
		return fmt.Errorf("--journal-size is 1 to %d MiB, not %d", int64(maxJournalSize), f.journalSize)
	}
	return nil
}

// readFaults reads the rules that are in force from the start.
func (f *serveFlags) readFaults() ([]faults.Rule, error) {
	if f.faults == "" {
		return nil, nil
	}
	text, err := readPath(f.faults)
	if err != nil {
		return nil, ofFile(err)
	}
	rules, err := faults.ParseFile(f.faults, text, emulator.Names().ResolveFault)
	return rules, ofFile(err)
}

func (f *serveFlags) checkDataPlane() error {
	if !slices.Contains(emulator.DataPlanes, emulator.DataPlane(f.dataPlane)) {
		return fmt.Errorf("--data-plane is %s, %s or %s, not %q", emulator.Ports, emulator.Addresses, emulator.NoPackets, f.dataPlane)
	}
	if f.dataPlaneListeners < 1 || f.dataPlaneListeners > maxDataPlaneListeners {
		return fmt.Errorf("--data-plane-max-listeners is 1 to %d, not %d", maxDataPlaneListeners, f.dataPlaneListeners)
	}
	if f.dataPlaneSource != sourceOwn && f.dataPlane != string(emulator.Addresses) {
		return fmt.Errorf("--data-plane-source %s needs --data-plane %s: clients of others come from 127.0.0.1", f.dataPlaneSource, emulator.Addresses)
	}
	return nil
}

// transparent returns the blocks of clients whose addresses servers see.
func (f *serveFlags) transparent() ([]netip.Prefix, error) {
	switch f.dataPlaneSource {
	case sourceOwn:
		return nil, nil
	case sourceTransparent:
		return []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}, nil
	}
	clients, err := prefixes(f.dataPlaneSource)
	if err != nil || clients == nil {
		return nil, fmt.Errorf("--data-plane-source is %s, %s or CIDR blocks of clients, not %q", sourceOwn, sourceTransparent, f.dataPlaneSource)
	}
	return clients, nil
}

// packets describes where load balancers answer.
func (f *serveFlags) packets() string {
	switch emulator.DataPlane(f.dataPlane) {
	case emulator.Addresses:
		return "answered at the load balancers' addresses, on " + f.dataPlaneInterface
	case emulator.Ports:
		return "answered at ports of 127.0.0.1: clbemu get lb NAME shows them"
	}
	return "not answered"
}

// certificate returns the TLS configuration, or nil for HTTP without a proxy. A generated one
// covers the names of the cloud and of regions, which a wildcard of one label leaves out.
func (f *serveFlags) certificate(w *world.World, allowed []string) (*tls.Config, error) {
	switch {
	case (f.tlsCert == "") != (f.tlsKey == ""):
		return nil, usage(errors.New("--tls-cert and --tls-key go together"))
	case f.tlsCert != "":
		config, err := emulator.LoadTLS(f.tlsCert, f.tlsKey)
		return config, ofFile(err)
	case !f.tls && !f.proxy:
		return nil, nil
	}
	hosts := append([]string{"localhost", "127.0.0.1", "::1", "*.aliyuncs.com"}, allowed...)
	if w == nil {
		w = world.Default()
	}
	for _, region := range w.RegionIDs() {
		hosts = append(hosts, "*."+region+".aliyuncs.com")
	}
	if host, _, _ := net.SplitHostPort(f.listen); host != "" && host != "0.0.0.0" && host != "::" {
		hosts = append(hosts, host)
	}
	config, err := emulator.GenerateTLS(f.dataDir, hosts)
	return config, cannot(err)
}

// announcement is the JSON that serve prints when the emulator has started.
type announcement struct {
	Version controlapi.Version `json:"version"`
	API     string             `json:"api"`
	Control string             `json:"control"`
	Console string             `json:"console"`
	State   string             `json:"state"`
	Packets string             `json:"packets"`
	DNS     string             `json:"dns,omitempty"`
	Debug   string             `json:"debug,omitempty"`
}

// announce prints the addresses and the next steps. It prints a token of the control
// API only if it comes from a file, since no user chose it.
func (f *serveFlags) announce(p *printer, e *emulator.Emulator, token, profiles string) error {
	control := reachable(e.ControlAddr())
	env := "clbemu env"
	if control != defaultControl {
		env += " --server " + control
	}
	kept := f.dataDir
	switch {
	case f.fork != "":
		kept = "a copy of " + f.fork + ", gone when clbemu ends"
	case f.engine == string(emulator.Memory):
		kept = "in memory, gone when clbemu ends"
	case f.engine == engineEtcd:
		kept = "in etcd, " + f.etcd.prefix + " of " + f.etcd.endpoints
	}
	said := announcement{Version: version(), API: f.apiURL(e), Control: "http://" + control, State: kept, Packets: f.packets()}
	said.Console = said.Control + "/"
	if f.controlToken == "" && token != "" {
		said.Console += "#token=" + url.QueryEscape(token)
	}
	more := ""
	if address := e.DNSAddr(); address != "" {
		said.DNS = reachable(address)
		more = "  DNS      " + said.DNS + "\n"
	}
	if profiles != "" {
		said.Debug = "http://" + profiles + profilePath
		more += "  debug    " + said.Debug + "\n"
	}
	return p.show(said, func(s *terminal.Screen) error {
		s.Printf("clbemu %s\n  API      %s\n  control  %s\n%s  state    %s\n  packets  %s\nConsole: %s\nTo point clients here: eval \"$(%s)\"\n",
			said.Version.Version, said.API, said.Control, more, said.State, said.Packets, said.Console, env)
		return nil
	})
}

// apiURL returns the address at which clients on this machine find the cloud's API.
func (f *serveFlags) apiURL(e *emulator.Emulator) string {
	scheme := "http"
	if f.tls || f.tlsCert != "" {
		scheme = "https"
	}
	return scheme + "://" + reachable(e.Addr())
}
