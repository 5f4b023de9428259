package command

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/emulator/products"
	"github.com/clbemu/clbemu/emulator/target"
)

// envFlags are the settings of clbemu env.
type envFlags struct {
	clientFlags
	shell, region, ca string
	kind, proxy       bool
}

// Where deploy/kind/cluster.yaml puts the APIs of the clbemu in a kind cluster, and
// the token that deploy/kind/clbemu gives its control API.
const (
	kindAPI     = "http://127.0.0.1:9610"
	kindControl = "http://127.0.0.1:9611"
	kindToken   = "clbemu"
)

func newEnv() *cobra.Command {
	f := &envFlags{}
	cmd := &cobra.Command{
		Use:   "env",
		Short: "Print the environment that points clients at the emulator",
		Long: `Print the environment variables that make a Cloud Controller Manager, SDKs and
Terraform call the running emulator, and that give the aliyun CLI its key and region:

` + variablesText() + `

` + strings.TrimSpace(strings.ReplaceAll(strings.ReplaceAll(notCovered, "# ", ""), "Not covered", "They do not cover all")) + `

Give --api when clients reach the emulator under another name than this command does,
for example in a cluster; the command then contacts no emulator.`,
		Example: `  eval "$(clbemu env)"
  clbemu env --shell fish | source
  eval "$(clbemu env --kind)"
  eval "$(clbemu env --proxy)"
  clbemu env --shell powershell | Out-String | Invoke-Expression
  clbemu env --shell dotenv --api http://clbemu.clbemu.svc:9600 > clbemu.env`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.print(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.shell, "shell", "sh", "sh, fish, powershell or dotenv")
	f.define(flags)
	flags.StringVar(&f.region, "region", "cn-hangzhou", "region of the world")
	flags.BoolVar(&f.kind, "kind", false, "for the clbemu in the kind cluster of deploy/kind; sets up clbemu's own commands too")
	flags.BoolVar(&f.proxy, "proxy", false, "for clients that have no setting for endpoints: they call the cloud's own hosts, through the emulator as their HTTP proxy (serve --proxy)")
	flags.StringVar(&f.ca, "ca", "", "file with the certificate that clients must trust (default: the one that the emulator generated)")
	cmd.MarkFlagsMutuallyExclusive("kind", "api")
	cmd.MarkFlagsMutuallyExclusive("kind", "proxy")
	return cmd
}

// shells maps each shell to how it sets an environment variable.
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
	if f.kind {
		f.api = kindAPI
	}
	api, _, err := f.cloudAPI(cmd.Context())
	if err != nil {
		return err
	}
	endpoints, err := f.endpoints(cmd.Context())
	if err != nil {
		return err
	}
	ca, err := f.authority(cmd.Context())
	if err != nil {
		return err
	}
	variables := target.Environment{API: api, Endpoints: endpoints, Proxy: f.proxy, CAFile: ca, AccessKeyID: f.keyID(), AccessKeySecret: f.accessKeySecret, Region: f.region}.Variables()
	if f.kind {
		variables = append(variables, [2]string{"CLBEMU_API", kindAPI}, [2]string{"CLBEMU_SERVER", kindControl}, [2]string{"CLBEMU_CONTROL_TOKEN", kindToken})
	}
	own, err := f.ownVariables(cmd)
	if err != nil {
		return err
	}
	variables = append(variables, own...)
	all := make(map[string]string, len(variables))
	for _, v := range variables {
		all[v[0]] = v[1]
	}
	if err := printing(cmd).show(all, func(*terminal.Screen) error {
		for _, v := range variables {
			fmt.Fprintln(cmd.OutOrStdout(), set(v[0], v[1]))
		}
		return nil
	}); err != nil {
		return err
	}
	if _, terminal := terminal.New(cmd.OutOrStdout()).Width(); !terminal {
		return nil // a shell reads it, each time that one starts
	}
	if f.proxy {
		fmt.Fprint(cmd.ErrOrStderr(), proxied)
		return nil
	}
	fmt.Fprint(cmd.ErrOrStderr(), notCovered)
	return nil
}

// ownVariables returns the variables that make later commands of clbemu use the same emulator.
func (f *envFlags) ownVariables(cmd *cobra.Command) (variables [][2]string, err error) {
	for _, name := range []string{"server", "control-token", "control-token-file", "cloud", "api", "access-key-id", "access-key-secret"} {
		flag := cmd.Flags().Lookup(name)
		value := flag.Value.String()
		if f.kind && name != "cloud" || !flag.Changed && value == flag.DefValue {
			continue
		}
		if name == "control-token-file" { // which is read in other folders too
			if value, err = filepath.Abs(value); err != nil {
				return nil, usage(err)
			}
		}
		variables = append(variables, [2]string{"CLBEMU_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_")), value})
	}
	return variables, nil
}

// authority returns the file of the certificate that clients must trust, or "" if there is none. It
// refuses a proxy if the emulator is not one.
func (f *envFlags) authority(ctx context.Context) (string, error) {
	if f.ca != "" || f.api != "" {
		return f.ca, nil
	}
	described, err := f.describe(ctx)
	switch {
	case err != nil:
		return "", err
	case f.proxy && !described.Proxy:
		return "", cannot(fmt.Errorf("the emulator at %s is no proxy: start it by  clbemu serve --proxy", f.server))
	case described.CAFile == "":
		return "", nil
	}
	if _, err := os.Stat(described.CAFile); err != nil {
		return "", cannot(fmt.Errorf("clients must trust the certificate in %s on the emulator's machine: copy it, and give it by --ca", described.CAFile))
	}
	return described.CAFile, nil
}

// variablesText returns the help text about the variables.
func variablesText() string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, v := range clientVariables() {
		fmt.Fprintf(table, "  %s\t%s\n", v[0], v[1])
	}
	table.Flush()
	return strings.TrimRight(text.String(), "\n")
}

// clientVariables say who reads which variable.
func clientVariables() [][2]string {
	return [][2]string{
		{strings.Join(target.Endpoints(products.All()), ", "), "where a CCM and Terraform find each product"},
		{"EFLO_CONTROLLER_ENDPOINT", "the same for a CCM's calls about Lingjun nodes"},
		{"ALICLOUD_CLIENT_SCHEME", "HTTP or HTTPS, for a CCM"},
		{"METADATA_ENDPOINT", "where a CCM finds the metadata service"},
		{"ACCESS_KEY_ID, ACCESS_KEY_SECRET", "the key of a CCM"},
		{"ALIBABA_CLOUD_ACCESS_KEY_ID, ALIBABA_CLOUD_ACCESS_KEY_SECRET", "the key of SDKs and the aliyun CLI"},
		{"ALICLOUD_ACCESS_KEY, ALICLOUD_SECRET_KEY", "the key of Terraform"},
		{"ALIBABA_CLOUD_REGION_ID, ALICLOUD_REGION", "the region of SDKs, the aliyun CLI and Terraform"},
		{"ALIBABA_CLOUD_ACCOUNT_TYPE", "keeps Terraform from calling the real billing service"},
	}
}

// proxied warns of what else goes through a proxy.
const proxied = `# Programs with these variables reach hosts of *.aliyuncs.com and those of NO_PROXY, and no others.
# SSL_CERT_FILE replaces the authorities that Go programs trust. Use a shell for this alone.
`

// notCovered warns of what these variables leave as it is. Evidence CLB-0453,
// CLB-0456 and CLB-0457.
const notCovered = `# Not covered: the Cloud Controller Manager has no such variables for PrivateZone, ALB, SLS, CAS
# and ESS; those calls reach the real cloud, which does not know the access key above. EFLO
# calls reach the emulator, which rejects them as not emulated.
# Terraform creates listeners over HTTPS only: it needs  serve --tls.
# The aliyun CLI calls the real cloud unless each call has  --endpoint HOST:PORT --insecure  (no
# --insecure with TLS).
# serve --proxy  and  env --proxy  bring all of these calls here.
`
