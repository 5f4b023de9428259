package command

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/emulator/target"
)

// lookUp finds a variable of an environment.
func lookUp(environment []string, name string) (string, bool) {
	for _, v := range slices.Backward(environment) {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// clients compares the clients' endpoint variables with the emulator's addresses.
func (d *doctor) clients(whose string, environment []string, server *controlapi.Server) {
	api, err := url.Parse(server.API)
	if err != nil || server.API == "" {
		return
	}
	wanted := target.Environment{API: api, Endpoints: server.Endpoints(), AccessKeyID: d.keyID(), AccessKeySecret: d.accessKeySecret}.Variables()
	set, before := 0, len(d.list)
	env := "eval \"$(clbemu env" + d.flags() + ")\""
	for _, v := range wanted {
		value, ok := lookUp(environment, v[0])
		if !ok {
			continue
		}
		set++
		switch endpoint := strings.HasSuffix(v[0], "_ENDPOINT") && v[0] != "METADATA_ENDPOINT"; {
		case endpoint && strings.Contains(value, "://"):
			d.problem(whose, env, "%s=%s has a scheme, but clients need host:port", v[0], value)
		case strings.HasSuffix(v[0], "_ENDPOINT") && !sameAddress(value, v[1]):
			d.problem(whose, env, "%s=%s is not this emulator, which is %s", v[0], value, v[1])
		case v[0] == "ALICLOUD_CLIENT_SCHEME" && !strings.EqualFold(value, v[1]):
			d.problem(whose, env, "%s=%s, but the API is %s", v[0], value, v[1])
		case strings.Contains(v[0], "KEY_ID") && value != v[1]:
			d.note(whose, "give doctor the right key with --access-key-id", "%s=%s differs from the key %s", v[0], value, v[1])
		}
	}
	switch {
	case set == 0 && whose == d.judged:
		d.problem(whose, env, "no variable points the program here: it calls the real cloud")
	case set == 0:
		d.note(whose, env, "no variable points clients here: they call the real cloud")
	case len(d.list) == before:
		d.ok(whose, "clients call %s (%s)", api.Host, counted(set, "variable"))
	}
}

// sameAddress reports whether two texts, URLs or not, are the same host and port.
func sameAddress(a, b string) bool {
	bare := func(text string) string {
		_, rest, found := strings.Cut(text, "://")
		if !found {
			rest = text
		}
		return strings.Replace(strings.TrimSuffix(rest, "/"), "localhost", "127.0.0.1", 1)
	}
	return bare(a) == bare(b)
}

// proxies finds proxies that take calls of the emulator. Go spares addresses of this
// machine on its own, and other clients do not.
func (d *doctor) proxies(environment []string, api string) {
	host := "127.0.0.1"
	if u, err := url.Parse(api); err == nil && u.Hostname() != "" {
		host = u.Hostname()
	}
	spared := ""
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		if value, ok := lookUp(environment, name); ok && spared == "" {
			spared = value
		}
	}
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"} {
		if value, _ := lookUp(environment, name); value != "" && !bypassesProxy(spared, host) {
			d.problem("proxies", "export NO_PROXY="+strings.Trim(spared+","+host, ","), "clients other than Go programs send their calls to the proxy %s=%s, since NO_PROXY lacks %s", name, withoutUser(value), host)
			return
		}
	}
	d.ok("proxies", "none intercepts calls to %s", host)
}

// withoutUser returns the URL of a proxy without its user and password.
func withoutUser(proxy string) string {
	if u, err := url.Parse(proxy); err == nil {
		return u.Redacted()
	}
	return "(unreadable)"
}

func bypassesProxy(list, host string) bool {
	addr, _ := netip.ParseAddr(host)
	for entry := range strings.SplitSeq(list, ",") {
		entry = strings.TrimSpace(entry)
		if name, _, err := net.SplitHostPort(entry); err == nil {
			entry = name
		}
		block, err := netip.ParsePrefix(entry)
		if entry == "*" || entry == host || err == nil && block.Contains(addr) || strings.HasPrefix(entry, ".") && strings.HasSuffix(host, entry) {
			return true
		}
	}
	return false
}

// controller looks at the command line of a CCM, and at the environment that it has.
func (d *doctor) controller(ctx context.Context, c *controlclient.Client, server *controlapi.Server, answers bool, args []string) {
	if d.pid > 0 {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", d.pid))
		environment, noEnvironment := os.ReadFile(fmt.Sprintf("/proc/%d/environ", d.pid))
		if err != nil || noEnvironment != nil {
			d.problem("CCM", "", "can't read process %d: %v %v", d.pid, err, noEnvironment)
			return
		}
		args = strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
		d.clients(ofCCM, strings.Split(string(environment), "\x00"), server)
	}
	if len(args) == 0 {
		return
	}
	before := len(d.list)
	flags := ccmFlags(args[1:])
	if strings.Contains(args[0], "/") {
		d.checkFile("the program", args[0])
	}
	for _, name := range []string{"kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig", "client-ca-file", "tls-cert-file", "tls-private-key-file"} {
		if file := flags[name]; file != "" {
			d.checkFile("--"+name, file)
		}
	}
	if controllers, ok := flags["controllers"]; ok && !slices.ContainsFunc(strings.Split(controllers, ","), func(name string) bool { return name == "*" || name == "service" || name == "nlb" }) {
		d.problem("CCM", "--controllers=node,service", "--controllers=%s has neither service nor nlb: the CCM creates no load balancers", controllers)
	}
	if routes, ok := flags["configure-cloud-routes"]; !ok || routes != "false" {
		d.note("CCM", "--configure-cloud-routes=false --network=", "the CCM creates routes for the nodes' pod CIDRs, and can't when a node has none")
	}
	if file, ok := flags["cloud-config"]; !ok {
		d.problem("CCM", "--cloud-config cloud-config.json, as in `clbemu doctor --help`", "there is no --cloud-config: the CCM learns VPC and vSwitches from the metadata service only")
	} else {
		d.cloudConfig(ctx, c, answers, file)
	}
	if len(d.list) == before {
		d.ok("CCM", "its command line is fine")
	}
}

// checkFile wants a file that the command line names.
func (d *doctor) checkFile(what, file string) {
	if _, err := os.Stat(file); err != nil {
		d.problem(ofCCM, "", "%s: %v", what, err)
	}
}

// ccmFlags returns the flags of a command line: --name=value, --name value, or --name.
func ccmFlags(args []string) map[string]string {
	flags := make(map[string]string)
	for i, arg := range args {
		name, ok := strings.CutPrefix(arg, "-")
		if !ok {
			continue
		}
		name, value, given := strings.Cut(strings.TrimPrefix(name, "-"), "=")
		if !given && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			value = args[i+1]
		}
		flags[name] = value
	}
	return flags
}

// cloudConfig holds a CCM's file against what the emulated cloud has.
func (d *doctor) cloudConfig(ctx context.Context, c *controlclient.Client, answers bool, file string) {
	text, err := readPath(file)
	if err != nil {
		d.problem("CCM", "", "%v", err)
		return
	}
	var config struct {
		Global struct{ Region, VpcID, VswitchID, ZoneID string }
	}
	if err := json.Unmarshal(text, &config); err != nil {
		d.problem("CCM", "", "%s is not JSON: %v", file, err)
		return
	}
	if !answers {
		return
	}
	found, err := c.Resources(ctx, controlclient.Wanted{Kind: "vswitch"})
	if err != nil {
		d.problem("CCM", "", "%v", err)
		return
	}
	var regions, vpcs, vSwitches []string
	for _, s := range found.Resources {
		regions, vpcs = append(regions, s.Region), append(vpcs, s.Fields["vpc"])
		vSwitches = append(vSwitches, s.Fields["zone"]+":"+s.ID)
	}
	g := config.Global
	d.checkValue(file, "region", g.Region, regions)
	d.checkValue(file, "vpcid", g.VpcID, vpcs)
	for vSwitch := range strings.SplitSeq(g.VswitchID, ",") {
		if vSwitch = strings.TrimSpace(vSwitch); !strings.Contains(vSwitch, ":") && g.ZoneID != "" && vSwitch != "" {
			vSwitch = g.ZoneID + ":" + vSwitch
		}
		d.checkValue(file, "vswitchid", vSwitch, vSwitches)
	}
}

// checkValue wants one of the values that there are.
func (d *doctor) checkValue(file, key, value string, known []string) {
	slices.Sort(known)
	known = slices.Compact(known)
	switch {
	case value == "":
		d.note("CCM", "", "%s has no Global.%s", file, key)
	case !slices.Contains(known, value):
		d.problem("CCM", "list them with `clbemu get vswitches -o wide`", "%s: Global.%s is %s, which the emulated cloud does not have%s", file, key, value,
			names.DidYouMean(value, known, "there are "+strings.Join(known, ", ")))
	}
}
