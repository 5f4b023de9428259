package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/apiclient"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/journal"
)

// everyCommand runs a test for each command that does something.
func everyCommand(t *testing.T, test func(t *testing.T, cmd *cobra.Command)) {
	var walk func(cmd *cobra.Command)
	count := 0
	walk = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			walk(c)
		}
		if cmd.HasSubCommands() && cmd.Name() != "journal" && cmd.Name() != "quota" {
			return
		}
		count++
		t.Run(strings.TrimPrefix(cmd.CommandPath(), programName+" "), func(t *testing.T) { test(t, cmd) })
	}
	walk(plain.newRoot())
	if count < 30 {
		t.Errorf("there are %d commands, want all of them", count)
	}
}

// TestEveryCommand proves what holds for all commands: that help has an example which
// names the command, says what each flag is for, and that the flags which several have
// mean the same.
func TestEveryCommand(t *testing.T) {
	flags := make(map[string]string)
	everyCommand(t, func(t *testing.T, cmd *cobra.Command) {
		if !strings.Contains(cmd.Example, cmd.CommandPath()) {
			t.Errorf("the example is %q, want one that has %s", cmd.Example, cmd.CommandPath())
		}
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("it is about %q, want a line without a full stop", cmd.Short)
		}
		for line := range strings.Lines(cmd.Long) {
			if text := strings.TrimRight(line, "\n"); !strings.HasPrefix(text, "  ") && len(text) > 200 {
				t.Errorf("the help has a line of %d letters: %s", len(text), text)
			}
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" {
				t.Errorf("--%s is for nothing", f.Name)
			}
			if slices.Contains([]string{"server", "control-token", "api", "access-key-id", "access-key-secret"}, f.Name) && cmd.Name() != "serve" {
				meaning := strings.TrimSuffix(f.Usage, " (default: a private one for each scenario)")
				if flags[f.Name] == "" {
					flags[f.Name] = meaning
				}
				if flags[f.Name] != meaning {
					t.Errorf("--%s is %q, and elsewhere %q", f.Name, meaning, flags[f.Name])
				}
			}
			if f.Name == "json" || f.Name == "output" {
				t.Errorf("--%s is its own, and every command has it", f.Name)
			}
		})
	})
	if len(flags) != 5 {
		t.Errorf("the flags are %v", flags)
	}
}

// served returns an emulator in this process, for commands in this process.
func served(t *testing.T) (server string) {
	t.Helper()
	e, err := emulator.New(t.Context(), emulator.Config{Seed: 1, StrictAuth: true, Listen: "127.0.0.1:0", ControlListen: "127.0.0.1:0", Version: version(), DataPlane: emulator.Ports})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return "http://" + e.ControlAddr()
}

// executed returns what a command line prints in this process.
func executed(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, problems bytes.Buffer
	code = plain.run(t.Context(), args, &out, &problems)
	return code, out.String(), problems.String()
}

// jsonArgs maps each command to the arguments that show its JSON. A command that is not
// here runs without arguments.
var jsonArgs = map[string][]string{
	"explain":          {"ORDER.ARREARAGE"},
	"call":             {"DescribeRegions"},
	"quota apply":      {"slb_quota_instances_num", "100"},
	"url":              {"web"},
	"world set":        {"account.balance=7"},
	"world get":        {"account"},
	"world validate":   {"FILE:world.yaml"},
	"world import":     {"FILE:nodes.json"},
	"clock advance":    {"1h"},
	"clock scale":      {"60"},
	"fault add":        {"FILE:faults.yaml"},
	"fault delete":     {"--all"},
	"journal mark":     {"m"},
	"cloud create":     {"new"},
	"cloud reset":      {"a"},
	"cloud delete":     {"a"},
	"snapshot take":    {"s"},
	"snapshot restore": {"s"},
	"snapshot delete":  {"s"},
	"scenario run":     {"arrears"},
	"scenario watch":   {"arrears", "--", "false"},
	"scenario lint":    {"arrears"},
	"scenario show":    {"arrears"},
	"rehearse":         {"--data-dir", "DIR", "--trail", "FILE:events.json"},
	"state pull":       {"--policy"},
	"state import":     {"FILE:state.json"},
	"explore":          {"FILE:script.yaml"},
	"fidelity run":     {"--target", "cloud", "--region", "cn-hangzhou", "--endpoint", "Slb=API", "--endpoint", "Sts=API", "Slb/DescribeZones/answers-request-id"},
	"fidelity clean":   {"--region", "cn-hangzhou", "--endpoint", "Sts=API", "--ledger", "FILE:ledger"},
	"lint-service":     {"FILE:service.yaml"},
	"fidelity check":   {"FILE:events.json"},
	"upgrade-check":    {"--data-dir", "DIR"},
}

// ownOutput are the commands whose output is a file of its own form, or of a shell.
var ownOutput = []string{"mcp", "completion", "serve"}

// TestEveryCommandPrintsJSON proves that --json and -o yaml turn what every command
// says into one value, or for the journal one a line, and that nothing else is next to
// it on standard output.
func TestEveryCommandPrintsJSON(t *testing.T) {
	server, dir := served(t), t.TempDir()
	_, state, _ := executed(t, "state", "export", "--server", server)
	_, world, _ := executed(t, "world", "show")
	for name, text := range map[string]string{
		"state.json": state, "world.yaml": world, "faults.yaml": "{name: f, match: {action: DescribeVpcs}, effect: {delay: {fixed: 1ms}}}",
		"service.yaml": "kind: Service\nmetadata: {name: web}\nspec: {type: LoadBalancer}\n",
		"events.json":  `{"serviceName": "Slb", "eventName": "DescribeRegions"}`,
		"ledger":       "",
		"script.yaml":  "about: a\nclient: {steps: [{call: {action: DescribeLoadBalancers}}]}\n",
		"nodes.json":   `{"kind": "Node", "metadata": {"name": "worker"}, "spec": {"providerID": "cn-hangzhou.i-kind1"}, "status": {"addresses": [{"type": "InternalIP", "address": "172.18.0.2"}]}}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	data := filepath.Join(dir, "data")
	if code, _, problems := executed(t, "state", "import", "--data-dir", data, filepath.Join(dir, "state.json")); code != exitOK {
		t.Fatal(problems)
	}
	if code, _, problems := executed(t, "snapshot", "take", "s", "--server", server); code != exitOK {
		t.Fatal(problems)
	}
	described, err := (&controlclient.Client{URL: server}).Server(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("ALIBABA_CLOUD_ACCESS_KEY_ID", apiclient.AccessKeyID)
	t.Setenv("ALIBABA_CLOUD_ACCESS_KEY_SECRET", apiclient.AccessKeySecret)
	everyCommand(t, func(t *testing.T, cmd *cobra.Command) {
		name := strings.TrimPrefix(cmd.CommandPath(), programName+" ")
		if first, _, _ := strings.Cut(name, " "); slices.Contains(ownOutput, first) {
			return
		}
		args := strings.Fields(name)
		if cmd.Flags().Lookup("server") != nil && !strings.HasPrefix(name, "scenario") {
			args = append(args, "--server", server)
		}
		for _, form := range []string{"json", "yaml"} {
			line := append(slices.Clone(args), "-o", form)
			for _, arg := range jsonArgs[name] {
				if file, ok := strings.CutPrefix(arg, "FILE:"); ok {
					arg = filepath.Join(dir, file)
				}
				line = append(line, strings.NewReplacer("DIR", data, "API", described.API).Replace(arg))
			}
			if name == "url" {
				listening(t, server)
			}
			if name == "quota apply" {
				executed(t, "world", "set", "quota.slb_quota_instances_num=default", "--server", server)
			}
			if strings.HasPrefix(name, "cloud") {
				executed(t, "cloud", "create", "a", "--server", server)
				executed(t, "cloud", "delete", "new", "--server", server)
			}
			if strings.HasPrefix(name, "snapshot") {
				executed(t, "snapshot", "take", "s", "--server", server)
			}
			code, stdout, problems := executed(t, line...)
			if wanted := exitOK; code != wanted && name != "scenario watch" && name != "doctor" { // which find something

				t.Errorf("%v = %d, %s", line, code, problems)
			}
			n, err := values(form, stdout)
			if err != nil || n == 0 || n > 1 && name != "journal" {
				t.Errorf("%v prints %d values (%v):\n%s", line, n, err, stdout)
			}
		}
	})
}

// values counts the values of a form in a text.
func values(form, text string) (n int, err error) {
	var next func(any) error
	if form == "json" {
		next = json.NewDecoder(strings.NewReader(text)).Decode
	} else {
		next = yaml.NewDecoder(strings.NewReader(text)).Decode
	}
	for {
		var value any
		if err := next(&value); errors.Is(err, io.EOF) {
			return n, nil
		} else if err != nil {
			return n, err
		}
		if _, names := value.(map[string]any); !names {
			return n, fmt.Errorf("%v is no value with names, to which more can be added", value)
		}
		n++
	}
}

// TestServerFlag proves that --server is the control API for every command that has
// it, with a scheme or without, and that giving the other address by mistake is reported.
func TestServerFlag(t *testing.T) {
	server := served(t)
	api := func() string {
		var described struct{ API string }
		_, text, _ := executed(t, "env", "--json", "--server", server)
		var variables map[string]string
		if err := json.Unmarshal([]byte(text), &variables); err != nil {
			t.Fatal(err)
		}
		described.API = variables["SLB_ENDPOINT"]
		return described.API
	}()
	if code, out, problems := executed(t, "clock", "show", "--server", strings.TrimPrefix(server, "http://")); code != exitOK || out == "" {
		t.Errorf("without a scheme = %d, %s", code, problems)
	}
	secured := httptest.NewUnstartedServer(nil)
	secured.Config.ErrorLog = log.New(io.Discard, "", 0)
	secured.StartTLS()
	defer secured.Close()
	everyCommand(t, func(t *testing.T, cmd *cobra.Command) {
		name := strings.TrimPrefix(cmd.CommandPath(), programName+" ")
		flag := cmd.Flags().Lookup("server")
		if flag == nil || strings.HasPrefix(name, "scenario") || name == "doctor" || name == "wait" || name == "mcp" { // their own tests do that
			return
		}
		if flag.DefValue != "http://"+defaultControl {
			t.Errorf("the default is %s", flag.DefValue)
		}
		args := strings.Fields(name)
		for _, arg := range jsonArgs[name] {
			if file, ok := strings.CutPrefix(arg, "FILE:"); ok {
				arg = filepath.Join(t.TempDir(), file)
				if err := os.WriteFile(arg, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			args = append(args, arg)
		}
		for given, want := range map[string]struct {
			code int
			says string
		}{
			api: {exitUsage, "is not the control API: the cloud's API answers there: --server takes the address of the control API, such as 127.0.0.1:9601"},
			strings.Replace(secured.URL, "s:", ":", 1): {exitUsage, "is not the control API: something "},
			"127.0.0.1:1": {exitCannot, "nothing answers at http://127.0.0.1:1: is clbemu running"},
			"ftp://here":  {exitUsage, "is not host:port"},
		} {
			code, _, problems := executed(t, append(slices.Clone(args), "--server", given)...)
			if code != want.code || !strings.Contains(problems, want.says) {
				t.Errorf("--server %s = %d, %s, want %d and %q", given, code, problems, want.code, want.says)
			}
		}
	})
}

// TestMisspelt proves that commands suggest the intended command or flag, and reject
// a wrong value without a word of how they read it.
func TestMisspelt(t *testing.T) {
	lines := map[string]string{
		"jurnal":                            "do you mean journal?",
		"scenario lst":                      "do you mean list?",
		"jurnal --limit 5":                  "do you mean journal?",
		"scenario lst --local":              "do you mean list?",
		"world":                             "",
		"journal --folow":                   "unknown flag: --folow: do you mean --follow?",
		"journal --limit ten":               `--limit: want a whole number, not "ten"`,
		"journal --since -1":                `--since: want a whole number from 0, not "-1"`,
		"scenario run arrears -- true":      `it runs no program: use clbemu scenario watch NAME -- COMMAND`,
		"scenario watch --for soon -- true": `--for: want a duration, such as 90s or 5m, not "soon"`,
		"journal --follow=maybe":            `--follow: want true or false, not "maybe"`,
		"version -o jsn":                    "do you mean json?",
		"version --json -o yaml":            "can't be used together",
		"journal --user-agent=x":            "--user-agent: say --where userAgent=VALUE",
	}
	for _, field := range journal.Fields() {
		if newJournal().Flags().Lookup(field) == nil && !strings.HasPrefix(field, "params.") {
			lines["journal --"+field+" x"] = "unknown flag: --" + field + ": say --where " + field + "=VALUE"
		}
	}
	for line, want := range lines {
		code, _, problems := executed(t, strings.Fields(line)...)
		if want == "" {
			if code != exitOK {
				t.Errorf("%s = %d, %s", line, code, problems)
			}
			continue
		}
		if code != exitUsage || !strings.Contains(problems, want) || strings.Contains(problems, "strconv") || strings.Contains(problems, "parsing") {
			t.Errorf("%s = %d, %s, want %q", line, code, problems, want)
		}
	}
}
