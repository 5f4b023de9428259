package metadata

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// identity is the instance that a caller is, with what it is in.
type identity struct {
	instance  *kinds.Instance
	primary   *kinds.NetworkInterface
	vpc       *kinds.VPC
	vSwitch   *kinds.VSwitch
	elasticIP string
}

// identify finds the instance: the configured one, or the first that runs.
func (s *service) identify(v *state.View) (*identity, error) {
	instance, err := s.findInstance(v)
	if err != nil {
		return nil, err
	}
	self := &identity{instance: instance, primary: &kinds.NetworkInterface{}}
	if self.vpc, err = kinds.VPCs.Get(v, instance.VPCID); err != nil {
		return nil, err
	}
	if self.vSwitch, err = kinds.VSwitches.Get(v, instance.VSwitchID); err != nil {
		return nil, err
	}
	if n, ok := kinds.NetworkInterfacesByInstance.First(v, instance.ID, kinds.NetworkInterfacePrimary); ok {
		self.primary = n
	}
	if eip, ok := kinds.EIPsByInstance.First(v, instance.ID); ok {
		self.elasticIP = eip.IPAddress
	}
	return self, nil
}

func (s *service) findInstance(v *state.View) (*kinds.Instance, error) {
	if s.cfg.InstanceID != "" {
		return kinds.Instances.Get(v, s.cfg.InstanceID)
	}
	for i := range kinds.Instances.All(v) {
		if i.Status == kinds.InstanceRunning {
			return i, nil
		}
	}
	return nil, &state.Error{Fact: state.NotFound, Kind: kinds.Instances.Kind(), ID: "running"}
}

// values maps each path to an instance's value; a path with an empty value does not
// exist. The addresses of services are those that the cloud gives its instances.
var values = map[string]func(*identity) string{
	"meta-data/region-id":            func(i *identity) string { return i.instance.RegionID },
	"meta-data/zone-id":              func(i *identity) string { return i.instance.ZoneID },
	"meta-data/vpc-id":               func(i *identity) string { return i.vpc.ID },
	"meta-data/vswitch-id":           func(i *identity) string { return i.vSwitch.ID },
	"meta-data/vpc-cidr-block":       func(i *identity) string { return i.vpc.CIDRBlock },
	"meta-data/vswitch-cidr-block":   func(i *identity) string { return i.vSwitch.CIDRBlock },
	"meta-data/instance-id":          func(i *identity) string { return i.instance.ID },
	"meta-data/hostname":             func(i *identity) string { return cmp.Or(i.instance.HostName, i.instance.ID) },
	"meta-data/image-id":             func(i *identity) string { return i.instance.ImageID },
	"meta-data/serial-number":        func(i *identity) string { return i.instance.SerialNumber },
	"meta-data/owner-account-id":     func(i *identity) string { return i.instance.AccountID },
	"meta-data/mac":                  func(i *identity) string { return i.primary.MacAddress },
	"meta-data/private-ipv4":         func(i *identity) string { return privateIPv4(i.primary) },
	"meta-data/eipv4":                func(i *identity) string { return i.elasticIP },
	"meta-data/network-type":         func(*identity) string { return "vpc" },
	"meta-data/source-address":       func(*identity) string { return "http://mirrors.cloud.aliyuncs.com" },
	"meta-data/dns-conf/nameservers": func(*identity) string { return "100.100.2.136\n100.100.2.138" },
	"meta-data/ntp-conf/ntp-servers": func(*identity) string { return "ntp1.aliyun.com\nntp2.aliyun.com\nntp3.aliyun.com" },
	securityCredentials:              func(i *identity) string { return i.instance.RAMRoleName },
}

// securityCredentials is the folder of the instance's roles; what is in it is
// minted, not read.
const securityCredentials = "meta-data/ram/security-credentials/"

func privateIPv4(n *kinds.NetworkInterface) string {
	if len(n.PrivateIPAddresses) == 0 {
		return ""
	}
	return n.PrivateIPAddresses[0]
}

// lookUp returns the value at a path, or the list of a folder's entries: one name a line; the names
// of folders end with a slash. It finds a folder with and without the slash.
func lookUp(self *identity, path string) (string, error) {
	path = strings.Trim(path, "/")
	for _, name := range []string{path, path + "/"} {
		if value, ok := values[name]; ok && value(self) != "" {
			return value(self), nil
		}
	}
	folder := path + "/"
	if path == "" {
		folder = ""
	}
	names := make(map[string]bool)
	for name, value := range values {
		rest, within := strings.CutPrefix(name, folder)
		if !within || value(self) == "" {
			continue
		}
		child, _, isFolder := strings.Cut(rest, "/")
		if isFolder {
			child += "/"
		}
		names[child] = true
	}
	if len(names) == 0 {
		return "", errAbsent
	}
	return strings.Join(slices.Sorted(maps.Keys(names)), "\n"), nil
}
