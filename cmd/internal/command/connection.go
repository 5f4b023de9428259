package command

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/clbemu/clbemu/emulator/apiclient"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/products"
	"github.com/clbemu/clbemu/emulator/target"
)

// connection says which running emulator a command is about. --server means the same
// wherever there is one: its control API. --cloud chooses one of its clouds.
type connection struct{ server, token, tokenFile, cloud string }

func (f *connection) define(flags *pflag.FlagSet) {
	flags.StringVar(&f.server, "server", "http://"+defaultControl, "control API of a running emulator")
	flags.StringVar(&f.token, "control-token", "", "token of the control API")
	flags.StringVar(&f.tokenFile, "control-token-file", "", "file with that token, used unless --control-token is given")
	flags.StringVar(&f.cloud, "cloud", controlapi.DefaultCloud, "cloud of that emulator, as clbemu cloud list names it")
}

// forked returns the name of the cloud, or "" for the default one.
func (f *connection) forked() string {
	if f.cloud == controlapi.DefaultCloud {
		return ""
	}
	return f.cloud
}

// flags returns the flags by which another command is about the same cloud.
func (f *connection) flags() (text string) {
	if f.forked() != "" {
		text += " --cloud " + f.cloud
	}
	if f.server != "http://"+defaultControl {
		text += " --server " + f.server
	}
	return text
}

// client returns a client of the cloud that the flags choose.
func (f *connection) client() (*controlclient.Client, error) { return f.clientOf(f.forked()) }

// clientOf returns a client of a cloud, or "" for the default one.
func (f *connection) clientOf(cloud string) (*controlclient.Client, error) {
	server, err := address(f.server, controlPort)
	if err != nil {
		return nil, usage(fmt.Errorf("--server takes the address of the control API, such as %s: %w", defaultControl, err))
	}
	token := f.token
	if token == "" && f.tokenFile != "" {
		if token, err = readToken(f.tokenFile); err != nil {
			return nil, usage(fmt.Errorf("--control-token-file: %w", err))
		}
	}
	if cloud != "" {
		server = server.JoinPath("clouds", url.PathEscape(cloud))
	}
	return &controlclient.Client{URL: server.String(), Token: token}, nil
}

// address reads where a server is: a URL, or its host and perhaps port alone.
func address(text, port string) (*url.URL, error) {
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	server, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q is not an address", text)
	case server.Hostname() == "" || server.Scheme != "http" && server.Scheme != "https" || strings.Trim(server.Path, "/") != "" || server.RawQuery != "":
		return nil, fmt.Errorf("%q is not host:port", text)
	}
	if server.Port() == "" {
		server.Host = net.JoinHostPort(server.Hostname(), port)
	}
	return &url.URL{Scheme: server.Scheme, Host: server.Host}, nil
}

// addRemote gives a command that needs a running emulator its flags.
func addRemote(cmd *cobra.Command, do func(cmd *cobra.Command, args []string, c *controlclient.Client) error) *cobra.Command {
	f := &connection{}
	f.define(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := f.client()
		if err != nil {
			return err
		}
		return withExitCode(do(cmd, args, c))
	}
	return cmd
}

// withExitCode gives an error the exit code that the control API's answer asks for, or
// else the code of what can't be done.
func withExitCode(err error) error {
	refused, elsewhere := (*controlclient.Refused)(nil), (*controlclient.Elsewhere)(nil)
	switch {
	case errors.As(err, &elsewhere):
		return usage(fmt.Errorf("%w: --server takes the address of the control API, such as %s", err, defaultControl))
	case !errors.As(err, &refused) || !refused.Wrong():
		return cannot(err)
	case refused.Status == http.StatusNotFound, refused.Method == http.MethodGet:
		return usage(err) // the query names an unknown resource
	}
	return failed(err)
}

// clientFlags say where a client of the cloud finds it, and which key it uses.
type clientFlags struct {
	connection
	api, accessKeyID, accessKeySecret string
	described                         *controlapi.Server // once the emulator was asked
}

func (f *clientFlags) define(flags *pflag.FlagSet) {
	f.connection.define(flags)
	flags.StringVar(&f.api, "api", "", "cloud's API as clients reach it (default: as --server says)")
	flags.StringVar(&f.accessKeyID, "access-key-id", apiclient.AccessKeyID, "access key of the world")
	flags.StringVar(&f.accessKeySecret, "access-key-secret", apiclient.AccessKeySecret, "its secret")
}

// keyID returns the access key's id as clients send it, which chooses the cloud.
func (f *clientFlags) keyID() string {
	if cloud := f.forked(); cloud != "" {
		return cloud + "." + f.accessKeyID
	}
	return f.accessKeyID
}

// cloudAPI returns the address of the cloud's API and a client that trusts it: from the
// flag, or else from the running emulator.
func (f *clientFlags) cloudAPI(ctx context.Context) (*url.URL, *http.Client, error) {
	if f.api != "" {
		api, err := address(f.api, apiPort)
		if err != nil {
			return nil, nil, usage(fmt.Errorf("--api takes the address of the cloud's API, such as http://%s: %w", defaultListen, err))
		}
		return api, nil, nil
	}
	described, err := f.describe(ctx)
	if err != nil {
		return nil, nil, err
	}
	api, err := url.Parse(described.API)
	if err != nil || api.Host == "" {
		return nil, nil, cannot(fmt.Errorf("%s does not report the address of its cloud API: give it with --api", f.server))
	}
	return api, trusting(described.Certificate), nil
}

// describe returns how clients find the running emulator, which it asks once.
func (f *clientFlags) describe(ctx context.Context) (controlapi.Server, error) {
	if f.described == nil {
		described, err := f.ask(ctx)
		if err != nil {
			return described, err
		}
		f.described = &described
	}
	return *f.described, nil
}

// ask asks the running emulator how clients find it.
func (f *clientFlags) ask(ctx context.Context) (described controlapi.Server, err error) {
	c, err := f.client()
	if err != nil {
		return described, err
	}
	if described, err = c.Server(ctx); err != nil {
		return described, withExitCode(err)
	}
	if described.Replicas == nil || f.forked() == "" {
		return described, nil
	}
	// The leader answered, and the called replica takes the calls as well.
	if c, err = f.clientOf(""); err != nil {
		return described, err
	}
	asked, err := c.Server(ctx)
	if err != nil {
		return described, withExitCode(err)
	}
	described.API, described.Certificate = asked.API, asked.Certificate
	return described, nil
}

// endpoints returns the variables for the addresses of products: those of the running emulator or,
// if a flag gives the API's address, of the products that this program knows.
func (f *clientFlags) endpoints(ctx context.Context) ([]string, error) {
	if f.api != "" {
		return target.Endpoints(products.All()), nil
	}
	described, err := f.describe(ctx)
	return described.Endpoints(), err
}

// trusting returns a client that trusts a certificate, or nil if there is none to trust.
func trusting(certificate string) *http.Client {
	if certificate == "" {
		return nil
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(certificate))
	// No connection serves two calls: a broken one is one call's matter.
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: pool}}}
}
