package pull

import (
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
)

// computeKinds returns the kinds to which load balancers forward.
func computeKinds() []*kind { return []*kind{instances(), networkInterfaces()} }

func instances() *kind {
	return of(kinds.Instances, kind{
		lists: []read{{product: "Ecs", action: "DescribeInstances", list: "Instances.Instance", pages: byToken}},
		id:    "InstanceId", tags: "Tags.Tag", tag: kinds.TagInstance,
		chosen: func(p *Puller, r row) bool { return p.inVPCAt(r, "VpcAttributes.VpcId") },
		foreign: func(r row) string {
			if r.text("VpcAttributes.VpcId") == "" {
				return "clbemu has no instances of the classic network"
			}
			return ""
		},
	}, func(_ *builder, i *kinds.Instance, _ row) error {
		if i.HTTPTokens == "optional" {
			i.HTTPTokens = ""
		}
		if i.StoppedMode == "Not-applicable" {
			i.StoppedMode = ""
		}
		return nil
	})
}

func networkInterfaces() *kind {
	return of(kinds.NetworkInterfaces, kind{
		lists: []read{{product: "Ecs", action: "DescribeNetworkInterfaces", list: "NetworkInterfaceSets.NetworkInterfaceSet", pages: byToken}},
		id:    "NetworkInterfaceId", tags: "Tags.Tag", tag: kinds.TagNetworkInterface, chosen: (*Puller).inVPC,
	}, func(_ *builder, n *kinds.NetworkInterface, from row) error {
		if at := slices.Index(n.PrivateIPAddresses, from.text("PrivateIpAddress")); at > 0 {
			first := n.PrivateIPAddresses[at]
			n.PrivateIPAddresses = slices.Insert(slices.Delete(n.PrivateIPAddresses, at, at+1), 0, first)
		}
		return nil
	})
}
