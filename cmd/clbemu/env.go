package main

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/emulator/target"
)

// envFlags are the settings of clbemu env.
type envFlags struct {
	shell, server, accessKeyID, accessKeySecret, region string
	tls                                                 bool
}

func newEnv() *cobra.Command {
	f := &envFlags{}
	cmd := &cobra.Command{
		Use:   "env",
		Short: "Print the environment that points clients at the emulator",
		Long: `Print the environment variables that make a Cloud Controller Manager, SDKs and
Terraform call the emulator, and give the aliyun CLI its key and region. What they
do not cover is told on standard error.`,
		Example: `  eval "$(clbemu env)"
  clbemu env --shell fish | source
  clbemu env --shell powershell | Out-String | Invoke-Expression
  clbemu env --shell dotenv > clbemu.env`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.print(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.shell, "shell", "sh", "sh, fish, powershell or dotenv")
	flags.StringVar(&f.server, "server", defaultServer, "URL of the API")
	flags.BoolVar(&f.tls, "tls", false, "the API is served by HTTPS")
	flags.StringVar(&f.accessKeyID, "access-key-id", "testid", "access key of the world")
	flags.StringVar(&f.accessKeySecret, "access-key-secret", "testsecret", "its secret")
	flags.StringVar(&f.region, "region", "cn-hangzhou", "region of the world")
	return cmd
}

// shells are how each puts a variable into its environment.
var shells = map[string]func(name, value string) string{
	"sh": func(name, value string) string {
		return fmt.Sprintf("export %s='%s'", name, strings.ReplaceAll(value, "'", `'\''`))
	},
	"fish": func(name, value string) string {
		return fmt.Sprintf("set -gx %s '%s'", name, strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(value))
	},
	"powershell": func(name, value string) string {
		return fmt.Sprintf("$Env:%s = '%s'", name, strings.ReplaceAll(value, "'", "''"))
	},
	"dotenv": func(name, value string) string { return name + "=" + value },
}

func (f *envFlags) print(cmd *cobra.Command) error {
	set, ok := shells[f.shell]
	if !ok {
		return usage(fmt.Errorf("--shell is one of %s, not %q",
			strings.Join(slices.Sorted(maps.Keys(shells)), ", "), f.shell))
	}
	server, err := url.Parse(f.server)
	if err != nil || server.Host == "" || server.Scheme != "http" && server.Scheme != "https" {
		return usage(fmt.Errorf("--server is a URL such as %s, not %q", defaultServer, f.server))
	}
	if f.tls {
		server.Scheme = "https"
	}
	environment := target.Environment{API: server, AccessKeyID: f.accessKeyID, AccessKeySecret: f.accessKeySecret, Region: f.region}
	for _, v := range environment.Variables() {
		fmt.Fprintln(cmd.OutOrStdout(), set(v[0], v[1]))
	}
	fmt.Fprint(cmd.ErrOrStderr(), notCovered)
	if server.Scheme == "https" {
		fmt.Fprintln(cmd.ErrOrStderr(), "# Clients must trust the certificate: ca.pem in the data folder, unless --tls-cert gave another.")
	}
	return nil
}

// notCovered warns of what these variables leave as it is. Evidence CLB-0453,
// CLB-0456 and CLB-0457.
const notCovered = `# Not covered: the Cloud Controller Manager has no such variable for PrivateZone, ALB, SLS, CAS
# and ESS; those calls reach the real cloud, which does not know the access key above. EFLO
# calls come here and are refused, as they are not emulated.
# Terraform makes listeners by HTTPS alone: it wants  serve --tls  and SSL_CERT_FILE=ca.pem.
# The aliyun CLI calls the real cloud unless each call has  --endpoint HOST:PORT --insecure  (no
# --insecure with TLS).
`
