package cloud

import (
	"context"
	"fmt"
	"os"

	"go.yaml.in/yaml/v3"
)

// What the default world has, which the instances are added to.
const (
	Region     = "cn-hangzhou"
	VPC        = "vpc-bp1clbemu000000000001"
	VSwitch    = "vsw-bp1clbemu000000000001"
	VSwitch2   = "vsw-bp1clbemu000000000002"
	RouteTable = "vtb-bp1clbemu000000000001"
	// ClusterID is the cluster's id in the cloud. CCM v2.9.1 takes its first 8 letters.
	ClusterID = "clbemu-e2e"
)

// Instance is an ECS instance, which a node can be.
type Instance struct {
	ID      string
	Address string
	// PodAddresses lists the addresses of a second network interface. Pods have them
	// where the CCM makes pods backends.
	PodAddresses     []string
	NetworkInterface string
}

// ProviderID returns a node's name for its instance.
func (i Instance) ProviderID() string { return Region + "." + i.ID }

// NewInstance returns the nth instance in addition to the default world's.
func NewInstance(n int) Instance {
	return Instance{
		ID:               fmt.Sprintf("i-e2e%017d", n),
		Address:          fmt.Sprintf("192.168.0.%d", 100+n),
		NetworkInterface: fmt.Sprintf("eni-e2e%015d", n),
		PodAddresses:     []string{fmt.Sprintf("192.168.0.%d", 150+n)},
	}
}

// WriteWorld writes the default world with more instances to a file.
func WriteWorld(ctx context.Context, file string, instances []Instance) error {
	base, err := command(ctx, nil, "world", "show")
	if err != nil {
		return err
	}
	world, err := worldWith([]byte(base), instances)
	if err != nil {
		return err
	}
	return os.WriteFile(file, world, 0o644)
}

// worldWith adds instances to a world file.
func worldWith(base []byte, instances []Instance) ([]byte, error) {
	var world map[string]any
	if err := yaml.Unmarshal(base, &world); err != nil {
		return nil, fmt.Errorf("read the default world: %w", err)
	}
	present, ok := world["instances"].([]any)
	if !ok {
		return nil, fmt.Errorf("the default world has no list of instances")
	}
	var interfaces []any
	for _, i := range instances {
		present = append(present, map[string]any{
			"id": i.ID, "vSwitch": VSwitch, "privateIpAddress": i.Address, "networkInterface": i.NetworkInterface + "p",
			"name": i.ID, "hostName": i.ID, "ramRole": "clbemu-node",
		})
		interfaces = append(interfaces, map[string]any{
			"id": i.NetworkInterface, "vSwitch": VSwitch, "instance": i.ID, "privateIpAddresses": i.PodAddresses,
		})
	}
	world["instances"], world["networkInterfaces"] = present, interfaces
	return yaml.Marshal(world)
}
