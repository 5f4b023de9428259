package world_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/world"
)

// base is a small world, line by line, for the tests to break.
const base = `accounts:
  - id: "1"
    defaultRegion: cn-test
    defaultResourceGroup: rg-1
    resourceGroups: [{id: rg-1}]
    accessKeys: [{id: key, secret: s}]
  - id: "2"
    defaultRegion: cn-far
    defaultResourceGroup: rg-2
    resourceGroups: [{id: rg-2}]
regions:
  - id: cn-test
    zones: [{id: cn-test-a}, {id: cn-test-b}]
    zonePairs: [{master: cn-test-a, slave: cn-test-b}]
    publicCidrBlock: 198.18.0.0/24
  - id: cn-far
    zones: [{id: cn-far-a}]
    zonePairs: []
    publicCidrBlock: 198.18.1.0/24
vpcs:
  - id: vpc-1
    cidrBlock: 192.168.0.0/16
    ipv6CidrBlock: 2001:db8::/56
    systemRouteTable: vtb-1
  - id: vpc-2
    cidrBlock: 192.168.0.0/16
    systemRouteTable: vtb-2
vSwitches:
  - id: vsw-1
    vpc: vpc-1
    zone: cn-test-a
    cidrBlock: 192.168.1.0/24
    ipv6CidrBlock: 2001:db8::/64
  - id: vsw-2
    vpc: vpc-2
    zone: cn-test-b
    cidrBlock: 192.168.0.0/29
securityGroups:
  - {id: sg-2, vpc: vpc-2}
instances:
  - id: i-1
    vSwitch: vsw-1
    networkInterface: eni-1
    privateIpAddress: 192.168.1.1
    ipv6Address: 2001:db8::1
  - id: i-2
    vSwitch: vsw-2
    networkInterface: eni-2
`

// column matches a problem's column, which the tests of yamlfile hold.
var column = regexp.MustCompile(`(?m)^(w\.yaml:\d+):\d+: `)

// TestParseErrors proves that each mistake is reported with the line and field
// at which it stands. A case adds lines to the base world, or replaces some.
func TestParseErrors(t *testing.T) {
	added := strings.Count(base, "\n") + 1 // the line of what a case adds
	at := func(field, reason string) string { return fmt.Sprintf("w.yaml:%d: %s: %s", added, field, reason) }
	tests := []struct {
		name         string
		old, new     string // old "" adds new at the end
		want         []string
		wantContains bool // want is only part of the lines
	}{
		{name: "syntax", old: "vpcs:\n", new: "vpcs: [\n",
			want: []string{"w.yaml:21: "}, wantContains: true},
		{name: "unknown field", new: "vpc: []\n", want: []string{at("vpc", "there is no such field: do you mean vpcs?")}},
		{name: "unknown field inside", old: "    zone: cn-test-b\n", new: "    zone: cn-test-b\n    colour: red\n",
			want: []string{"w.yaml:37: vSwitches[1].colour: there is no such field: there are cidrBlock, default, description, id, ipv6CidrBlock, name, resourceGroup, routeTable, tags, vpc, zone"}},
		{name: "duplicate key", old: "    vpc: vpc-2\n", new: "    vpc: vpc-2\n    vpc: vpc-1\n",
			want: []string{"w.yaml:36: vSwitches[1].vpc: it is here twice, on line 35 too"}},
		{name: "missing field", old: "    zone: cn-test-b\n", new: "",
			want: []string{"w.yaml:34: vSwitches[1].zone: it is missing"}},
		{name: "null", new: "eips: [{id: }]\n", want: []string{at("eips[0].id", "it has no value")}},
		{name: "list for a value", new: "eips: [{id: []}]\n", want: []string{at("eips[0].id", "want a text")}},
		{name: "value for a list", new: "eips: none\n", want: []string{at("eips", "want a list")}},
		{name: "value for a mapping", new: "eips: [none]\n", want: []string{at("eips[0]", "want fields, such as id: …")}},
		{name: "alias", new: "eips: &a []\nserverCertificates: *a\n",
			want: []string{fmt.Sprintf("w.yaml:%d: serverCertificates: aliases are not taken: write the value out", added+1)}},
		{name: "control character", new: "eips: [{id: \"eip-\\x00\"}]\n",
			want: []string{at("eips[0].id", "it holds a control character")}},
		{name: "form of an id", new: "eips: [{id: vpc-1}]\n",
			want: []string{at("eips[0].id", `"vpc-1" is not a valid EIP id, want the form eip-…`)}},
		{name: "duplicate id", old: "id: vpc-2", new: "id: vpc-1",
			want:         []string{"w.yaml:25: vpcs[1].id: there is another VPC vpc-1"},
			wantContains: true},
		{name: "OIDC provider without a name", old: "accessKeys: [{id: key, secret: s}]", new: "accessKeys: [{id: key, secret: s}]\n    oidcProviders: [{name: '', issuer: i, clientIds: [a], keys: '{\"keys\": [{\"kty\": \"EC\", \"crv\": \"P-256\", \"kid\": \"a\", \"x\": \"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4\", \"y\": \"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM\"}]}'}]",
			want: []string{"w.yaml:7: accounts[0].oidcProviders[0].name: an OIDC provider has a name, such as ack-rrsa-c1"}},
		{name: "OIDC provider twice", old: "accessKeys: [{id: key, secret: s}]", new: "accessKeys: [{id: key, secret: s}]\n    oidcProviders: [{name: r, issuer: i, clientIds: [a], keys: '{\"keys\": [{\"kty\": \"EC\", \"crv\": \"P-256\", \"kid\": \"a\", \"x\": \"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4\", \"y\": \"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM\"}]}'}, {name: r, issuer: i, clientIds: [a], keys: '{\"keys\": [{\"kty\": \"EC\", \"crv\": \"P-256\", \"kid\": \"a\", \"x\": \"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4\", \"y\": \"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM\"}]}'}]",
			want: []string{"w.yaml:7: accounts[0].oidcProviders[1].name: there is another OIDC provider r"}},
		{name: "OIDC provider without an issuer", old: "accessKeys: [{id: key, secret: s}]", new: "accessKeys: [{id: key, secret: s}]\n    oidcProviders: [{name: r, issuer: '', clientIds: [a], keys: '{\"keys\": [{\"kty\": \"EC\", \"crv\": \"P-256\", \"kid\": \"a\", \"x\": \"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4\", \"y\": \"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM\"}]}'}]",
			want: []string{"w.yaml:7: accounts[0].oidcProviders[0].issuer: OIDC provider r has an issuer, as the iss of its tokens is"}},
		{name: "OIDC provider without clients", old: "accessKeys: [{id: key, secret: s}]", new: "accessKeys: [{id: key, secret: s}]\n    oidcProviders: [{name: r, issuer: i, clientIds: [], keys: '{\"keys\": [{\"kty\": \"EC\", \"crv\": \"P-256\", \"kid\": \"a\", \"x\": \"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4\", \"y\": \"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM\"}]}'}]",
			want: []string{"w.yaml:7: accounts[0].oidcProviders[0].name: OIDC provider r needs one of clientIds, such as sts.aliyuncs.com"}},
		{name: "private keys of an OIDC provider", old: "accessKeys: [{id: key, secret: s}]", new: "accessKeys: [{id: key, secret: s}]\n    oidcProviders: [{name: r, issuer: i, clientIds: [a], keys: '{\"keys\": [{\"kty\": \"oct\", \"kid\": \"a\", \"k\": \"AAAA\"}]}'}]",
			want: []string{"w.yaml:7: accounts[0].oidcProviders[0].keys: the keys of OIDC provider r: it needs public keys with a kid, and nothing else: give what `kubectl get --raw /openid/v1/jwks` prints"}},
		{name: "no keys of an OIDC provider", old: "accessKeys: [{id: key, secret: s}]", new: "accessKeys: [{id: key, secret: s}]\n    oidcProviders: [{name: r, issuer: i, clientIds: [a], keys: x}]",
			want: []string{"w.yaml:7: accounts[0].oidcProviders[0].keys: the keys of OIDC provider r: it is no JSON Web Key Set: invalid character 'x' looking for beginning of value: give what `kubectl get --raw /openid/v1/jwks` prints"}},
		{name: "access key twice", old: "accessKeys: [{id: key, secret: s}]", new: "accessKeys: [{id: key, secret: s}, {id: key, secret: t}]",
			want: []string{"w.yaml:6: accounts[0].accessKeys[1].id: there is another AccessKey key"}},
		{name: "bad word", old: "secret: s}", new: "secret: s, status: On}",
			want: []string{`w.yaml:6: accounts[0].accessKeys[0].status: "On" is not one of Active, Inactive`}},
		{name: "unknown year", new: "clouds: 2020\n", want: []string{at("clouds", `"2020" is not one of today, 2021, 2024`)}},
		{name: "neither true nor false", old: "zonePairs: []", new: "zonePairs: []\n    payBySpecSold: some",
			want: []string{`w.yaml:19: regions[1].payBySpecSold: "some" is not one of false, true`}},
		{name: "unknown region", old: "defaultRegion: cn-far", new: "defaultRegion: cn-near",
			want: []string{"w.yaml:8: accounts[1].defaultRegion: there is no Region cn-near"}},
		{name: "resource group of another account", old: "defaultResourceGroup: rg-2", new: "defaultResourceGroup: rg-1",
			want: []string{"w.yaml:9: accounts[1].defaultResourceGroup: rg-1 is a resource group of account 1"}},
		{name: "zone of another region", old: "zones: [{id: cn-far-a}]", new: "zones: [{id: cn-test-a}]",
			want: []string{"w.yaml:17: regions[1].zones[0].id: there is another zone cn-test-a, in region cn-test"}},
		{name: "zone twice", old: "{id: cn-test-a}, {id: cn-test-b}", new: "{id: cn-test-a}, {id: cn-test-b}, {id: cn-test-b}",
			want: []string{"w.yaml:13: regions[0].zones[2].id: there is another zone cn-test-b"}},
		{name: "sold out in no zone", old: "zonePairs: []", new: "zonePairs: []\n    soldOut: [{zone: cn-test-a, addressType: vpc}]",
			want: []string{
				"w.yaml:19: regions[1].soldOut[0].zone: region cn-far has no zone cn-test-a",
				`w.yaml:19: regions[1].soldOut[0].addressType: "vpc" is not one of internet, intranet`,
			}},
		{name: "no zone", old: "zones: [{id: cn-far-a}]", new: "zones: []",
			want: []string{"w.yaml:16: regions[1].id: region cn-far needs at least one zone"}},
		{name: "unknown zone in a pair", old: "slave: cn-test-b", new: "slave: cn-far-a",
			want: []string{"w.yaml:14: regions[0].zonePairs[0].slave: region cn-test has no zone cn-far-a"}},
		{name: "public blocks overlap", old: "198.18.1.0/24", new: "198.18.0.0/16",
			want: []string{"w.yaml:19: regions[1].publicCidrBlock: 198.18.0.0/16 overlaps 198.18.0.0/24 of region cn-test"}},
		{name: "unknown zone", old: "zone: cn-test-b", new: "zone: cn-far-a",
			want: []string{"w.yaml:36: vSwitches[1].zone: region cn-test has no zone cn-far-a"}},
		{name: "bad CIDR", old: "cidrBlock: 192.168.1.0/24", new: "cidrBlock: 192.168.1.0/33",
			want: []string{`w.yaml:32: vSwitches[0].cidrBlock: "192.168.1.0/33" is not a CIDR block of IPv4 addresses`}},
		{name: "CIDR of the other family", old: "cidrBlock: 192.168.1.0/24", new: "cidrBlock: 2001:db8::/64",
			want: []string{`w.yaml:32: vSwitches[0].cidrBlock: "2001:db8::/64" is not a CIDR block of IPv4 addresses`}},
		{name: "CIDR with host bits", old: "cidrBlock: 192.168.1.0/24", new: "cidrBlock: 192.168.1.1/24",
			want: []string{"w.yaml:32: vSwitches[0].cidrBlock: 192.168.1.1/24 has bits set behind its prefix, write 192.168.1.0/24"}},
		{name: "CIDR too small", old: "192.168.0.0/29", new: "192.168.0.0/30",
			want: []string{"w.yaml:37: vSwitches[1].cidrBlock: 192.168.0.0/30 is too small a block, the prefix is at most /29"}},
		{name: "vSwitch outside its VPC", old: "192.168.0.0/29", new: "10.0.0.0/24",
			want: []string{"w.yaml:37: vSwitches[1].cidrBlock: 10.0.0.0/24 is outside VPC vpc-2 (192.168.0.0/16)"}},
		{name: "default vSwitch elsewhere", old: "    cidrBlock: 192.168.0.0/29\n", new: "    cidrBlock: 192.168.0.0/29\n    default: true\n",
			want: []string{"w.yaml:38: vSwitches[1].default: VPC vpc-2 is not the default one, so it has no default vSwitch"}},
		{name: "two default VPCs", old: "    systemRouteTable: vtb-1\n  - id: vpc-2\n", new: "    systemRouteTable: vtb-1\n    default: true\n  - id: vpc-2\n    default: true\n",
			want: []string{"w.yaml:27: vpcs[1].default: vpc-1 is the default VPC of cn-test already"}},
		{name: "vSwitches overlap", old: "vpc-2\n    zone: cn-test-b\n    cidrBlock: 192.168.0.0/29", new: "vpc-1\n    zone: cn-test-b\n    cidrBlock: 192.168.1.8/29",
			want: []string{"w.yaml:37: vSwitches[1].cidrBlock: 192.168.1.8/29 overlaps 192.168.1.0/24 of vSwitch vsw-1"}},
		{name: "IPv6 outside the VPC", old: "2001:db8::/64", new: "2001:db9::/64",
			want:         []string{"w.yaml:33: vSwitches[0].ipv6CidrBlock: 2001:db9::/64 is outside VPC vpc-1 (2001:db8::/56)"},
			wantContains: true},
		{name: "no IPv6 in the VPC", old: "    cidrBlock: 192.168.0.0/29\n", new: "    cidrBlock: 192.168.0.0/29\n    ipv6CidrBlock: 2001:db8::/64\n",
			want: []string{"w.yaml:38: vSwitches[1].ipv6CidrBlock: VPC vpc-2 has no IPv6 block for 2001:db8::/64 to lie in"}},
		{name: "address outside the vSwitch", old: "privateIpAddress: 192.168.1.1", new: "privateIpAddress: 192.168.2.1",
			want: []string{"w.yaml:44: instances[0].privateIpAddress: 192.168.2.1 is not a usable address of vsw-1 (192.168.1.0/24): the first and the last three are reserved"}},
		{name: "reserved address", old: "privateIpAddress: 192.168.1.1", new: "privateIpAddress: 192.168.1.253",
			want: []string{"w.yaml:44: instances[0].privateIpAddress: 192.168.1.253 is not a usable address of vsw-1 (192.168.1.0/24): the first and the last three are reserved"}},
		{name: "not an address", old: "privateIpAddress: 192.168.1.1", new: "privateIpAddress: 192.168.1",
			want: []string{`w.yaml:44: instances[0].privateIpAddress: "192.168.1" is not an IPv4 address in its usual spelling`}},
		{name: "address taken", new: "networkInterfaces: [{id: eni-3, vSwitch: vsw-1, privateIpAddresses: [192.168.1.1]}]\n",
			want: []string{at("networkInterfaces[0].privateIpAddresses[0]", "192.168.1.1 is taken by NetworkInterface eni-1")}},
		{name: "IPv6 address taken", new: "networkInterfaces: [{id: eni-3, vSwitch: vsw-1, ipv6Addresses: ['2001:db8::1']}]\n",
			want: []string{at("networkInterfaces[0].ipv6Addresses[0]", "2001:db8::1 is taken by eni-1")}},
		{name: "IPv6 address outside", new: "networkInterfaces: [{id: eni-3, vSwitch: vsw-2, ipv6Addresses: ['2001:db8::2']}]\n",
			want: []string{at("networkInterfaces[0].ipv6Addresses[0]", "2001:db8::2 is not in the IPv6 block of vSwitch vsw-2 (it has none)")}},
		{name: "vSwitch full", new: "networkInterfaces: [{id: eni-3, vSwitch: vsw-2, privateIpAddresses: [192.168.0.1, 192.168.0.2, 192.168.0.3, 192.168.0.4]}]\n",
			want: []string{"w.yaml:48: instances[1].networkInterface: vsw-2 (192.168.0.0/29) has no free address left"}},
		{name: "interface on an instance elsewhere", new: "networkInterfaces: [{id: eni-3, vSwitch: vsw-2, instance: i-1}]\n",
			want: []string{
				at("networkInterfaces[0].instance", "instance i-1 is in zone cn-test-a, vSwitch vsw-2 in cn-test-b"),
				at("networkInterfaces[0].instance", "instance i-1 is in VPC vpc-1, vSwitch vsw-2 in vpc-2"),
			}},
		{name: "bad MAC address", new: "networkInterfaces: [{id: eni-3, vSwitch: vsw-2, macAddress: abc}]\n",
			want: []string{at("networkInterfaces[0].macAddress", `"abc" is not a MAC address such as 00:16:3e:00:00:01`)}},
		{name: "security group of another VPC", new: "networkInterfaces: [{id: eni-3, vSwitch: vsw-1, securityGroups: [sg-2, sg-3]}]\n",
			want: []string{
				at("networkInterfaces[0].securityGroups[0]", "sg-2 is a security group of VPC vpc-2, not of vpc-1"),
				at("networkInterfaces[0].securityGroups[1]", "there is no SecurityGroup sg-3"),
			}},
		{name: "route table of another VPC", old: "    cidrBlock: 192.168.0.0/29\n", new: "    cidrBlock: 192.168.0.0/29\n    routeTable: vtb-1\n",
			want: []string{"w.yaml:38: vSwitches[1].routeTable: vtb-1 is a route table of VPC vpc-1, not of vpc-2"}},
		{name: "route to what the cloud keeps", new: "routeEntries: [{routeTable: vtb-1, destinationCidrBlock: 100.64.1.0/24, nextHop: i-1}]\n",
			want: []string{at("routeEntries[0].destinationCidrBlock", "100.64.1.0/24 lies in 100.64.0.0/10, which the cloud keeps for itself")}},
		{name: "route twice", new: "routeEntries: [{routeTable: vtb-1, destinationCidrBlock: 192.168.1.0/24, nextHop: i-1}]\n",
			want: []string{at("routeEntries[0].destinationCidrBlock", "route table vtb-1 has a route to 192.168.1.0/24 already")}},
		{name: "next hop in another VPC", new: "routeEntries: [{routeTable: vtb-1, destinationCidrBlock: 172.16.0.0/24, nextHop: i-2}]\n",
			want: []string{at("routeEntries[0].nextHop", "i-2 is in VPC vpc-2, the route table in vpc-1")}},
		{name: "unknown next hop", new: "routeEntries: [{routeTable: vtb-1, destinationCidrBlock: 172.16.0.0/24, nextHopType: NetworkInterface, nextHop: eni-9}]\n",
			want: []string{at("routeEntries[0].nextHop", "there is no NetworkInterface eni-9")}},
		{name: "EIP outside its region", new: "eips: [{id: eip-1, ipAddress: 198.18.1.5}]\n",
			want: []string{at("eips[0].ipAddress", "198.18.1.5 is not a usable address of public:cn-test (198.18.0.0/24): the first and the last three are reserved")}},
		{name: "EIP on something of another account", new: "eips: [{id: eip-1, account: '2', instance: i-1}]\n",
			want: []string{at("eips[0].instance", "i-1 belongs to account 1 in cn-test, the EIP to 2 in cn-far")}},
		{name: "two EIPs on one instance", new: "eips: [{id: eip-1, instance: i-1}, {id: eip-2, instance: i-1}]\n",
			want: []string{at("eips[1].instance", "i-1 has EIP eip-1 already")}},
		{name: "bad bandwidth", new: "eips: [{id: eip-1, bandwidth: fast}]\n",
			want: []string{at("eips[0].bandwidth", `"fast" is not a number from 1 to 1000`)}},
		{name: "not a certificate", new: "serverCertificates: [{id: c, name: c, certificate: abc}]\n",
			want: []string{at("serverCertificates[0].certificate", "is not a certificate in PEM form, which starts with -----BEGIN CERTIFICATE-----")}},
		{name: "long tag", new: "eips: [{id: eip-1, tags: {k: " + strings.Repeat("v", 129) + "}}]\n",
			want: []string{at("eips[0].tags.k", "a tag value has at most 128 characters")}},
		{name: "all together, in order of line", old: "    cidrBlock: 192.168.0.0/29\n", new: "    cidrBlock: 192.168.0.0/29\n    colour: red\neips: [{id: eip-1, instance: i-9}]\n",
			want: []string{
				"w.yaml:38: vSwitches[1].colour: there is no such field: there are cidrBlock, default, description, id, ipv6CidrBlock, name, resourceGroup, routeTable, tags, vpc, zone",
				"w.yaml:39: eips[0].instance: there is no Instance i-9",
			}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			text := base + test.new
			if test.old != "" {
				text = strings.Replace(base, test.old, test.new, 1)
			}
			w, err := world.Parse("w.yaml", []byte(text))
			var got []string
			if err != nil {
				got = strings.Split(column.ReplaceAllString(err.Error(), "$1: "), "\n")
			}
			if err == nil && w == nil || err != nil && w != nil {
				t.Errorf("Parse = %v, %v, want a world or an error", w, err)
			}
			switch {
			case test.wantContains && !slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, test.want[0]) }):
				t.Errorf("Parse = %q, want a line that starts with %q", got, test.want[0])
			case !test.wantContains && !slices.Equal(got, test.want):
				t.Errorf("Parse = %q\nwant %q", got, test.want)
			}
		})
	}
}

// FuzzParse proves that no file makes the parser panic, and that what parses
// can be planted and leaves a consistent state.
func FuzzParse(f *testing.F) {
	f.Add([]byte(base))
	f.Add(world.DefaultText)
	f.Add([]byte(balancedWorld()))
	f.Add([]byte(called("  - {product: Slb, action: CreateAccessControlList, id: acl-office, parameters: {AclName: office}}\n")))
	f.Add([]byte("accounts: [{id: 1, tags: {a: b}}]\neips: &a [*a]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if w, err := world.Parse("fuzz.yaml", text); err == nil {
			mustPlant(t, w)
		}
	})
}
