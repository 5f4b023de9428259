package ecs

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// networkVPC is the network that everything here is in; the classic one is gone.
const networkVPC = "vpc"

type instanceView struct {
	InstanceID              string              `rpc:"InstanceId"`
	InstanceName            string              `rpc:"InstanceName"`
	HostName                string              `rpc:"HostName"`
	Hostname                string              `rpc:"Hostname"`
	Description             string              `rpc:"Description"`
	RegionID                string              `rpc:"RegionId"`
	ZoneID                  string              `rpc:"ZoneId"`
	Status                  string              `rpc:"Status"`
	StoppedMode             string              `rpc:"StoppedMode"`
	InstanceType            string              `rpc:"InstanceType"`
	InstanceTypeFamily      string              `rpc:"InstanceTypeFamily"`
	CPU                     int                 `rpc:"Cpu,omitempty"`
	Memory                  int                 `rpc:"Memory,omitempty"` // MiB
	ImageID                 string              `rpc:"ImageId"`
	OSType                  string              `rpc:"OSType"`
	OSName                  string              `rpc:"OSName,omitempty"`
	OSNameEn                string              `rpc:"OSNameEn,omitempty"`
	SerialNumber            string              `rpc:"SerialNumber"`
	InstanceChargeType      string              `rpc:"InstanceChargeType"`
	InternetChargeType      string              `rpc:"InternetChargeType"`
	InternetMaxBandwidthOut int                 `rpc:"InternetMaxBandwidthOut"`
	InternetMaxBandwidthIn  int                 `rpc:"InternetMaxBandwidthIn"`
	SpotStrategy            string              `rpc:"SpotStrategy"`
	InstanceNetworkType     string              `rpc:"InstanceNetworkType"`
	IOOptimized             bool                `rpc:"IoOptimized"`
	DeviceAvailable         bool                `rpc:"DeviceAvailable"`
	DeletionProtection      bool                `rpc:"DeletionProtection"`
	ResourceGroupID         string              `rpc:"ResourceGroupId"`
	CreationTime            string              `rpc:"CreationTime"`
	StartTime               string              `rpc:"StartTime"`
	ExpiredTime             string              `rpc:"ExpiredTime"`
	SecurityGroupIDs        []string            `rpc:"SecurityGroupIds>SecurityGroupId"`
	InnerIPAddress          ipAddresses         `rpc:"InnerIpAddress"`
	PublicIPAddress         ipAddresses         `rpc:"PublicIpAddress"`
	EIPAddress              eipAddress          `rpc:"EipAddress"`
	VPCAttributes           vpcAttributes       `rpc:"VpcAttributes"`
	NetworkInterfaces       []instanceInterface `rpc:"NetworkInterfaces>NetworkInterface"`
	MetadataOptions         metadataOptions     `rpc:"MetadataOptions"`
	OperationLocks          []operationLock     `rpc:"OperationLocks>LockReason"`
	Tags                    []tagging.Shown     `rpc:"Tags>Tag"`
}

type ipAddresses struct {
	IPAddresses []string `rpc:"IpAddress"`
}

type eipAddress struct {
	AllocationID         string `rpc:"AllocationId"`
	IPAddress            string `rpc:"IpAddress"`
	Bandwidth            int    `rpc:"Bandwidth"`
	InternetChargeType   string `rpc:"InternetChargeType"`
	IsSupportUnassociate bool   `rpc:"IsSupportUnassociate"`
}

type vpcAttributes struct {
	VPCID            string      `rpc:"VpcId"`
	VSwitchID        string      `rpc:"VSwitchId"`
	PrivateIPAddress ipAddresses `rpc:"PrivateIpAddress"`
	NATIPAddress     string      `rpc:"NatIpAddress"`
}

type instanceInterface struct {
	NetworkInterfaceID string         `rpc:"NetworkInterfaceId"`
	Type               string         `rpc:"Type"`
	MacAddress         string         `rpc:"MacAddress"`
	PrimaryIPAddress   string         `rpc:"PrimaryIpAddress"`
	PrivateIPSets      []privateIPSet `rpc:"PrivateIpSets>PrivateIpSet"`
	IPv6Sets           []ipv6Set      `rpc:"Ipv6Sets>Ipv6Set"`
}

type metadataOptions struct {
	HTTPEndpoint string `rpc:"HttpEndpoint"`
	HTTPTokens   string `rpc:"HttpTokens"`
}

type operationLock struct {
	LockReason string `rpc:"LockReason"`
	LockMsg    string `rpc:"LockMsg"`
}

// viewInstance shows an instance with what is on it. The cloud writes the year 2099 for an instance
// that does not expire.
func viewInstance(v *state.View, i *kinds.Instance) instanceView {
	view := instanceView{
		InstanceID:         i.ID,
		InstanceName:       i.Name,
		HostName:           i.HostName,
		Hostname:           i.HostName,
		Description:        i.Description,
		RegionID:           i.RegionID,
		ZoneID:             i.ZoneID,
		Status:             i.Status,
		StoppedMode:        "Not-applicable",
		CPU:                instanceTypes()[i.InstanceType].Cores,
		Memory:             instanceTypes()[i.InstanceType].Memory << 10,
		InstanceType:       i.InstanceType,
		InstanceTypeFamily: typeFamily(i.InstanceType),
		ImageID:            i.ImageID,
		OSType:             "linux",
		SerialNumber:       i.SerialNumber,
		InstanceChargeType: i.InstanceChargeType,
		SpotStrategy:       i.SpotStrategy,
		IOOptimized:        true,
		DeviceAvailable:    true,
		DeletionProtection: i.DeletionProtection,
		ResourceGroupID:    i.ResourceGroupID,
		CreationTime:       gateway.Minute(i.CreateTime),
		StartTime:          gateway.Minute(i.CreateTime),
		ExpiredTime:        "2099-12-31T15:59Z",
		MetadataOptions:    metadataOptions{HTTPEndpoint: "enabled", HTTPTokens: "optional"},
		Tags:               tagging.ShownOf(v, kinds.TagInstance, i.ID),
	}
	view.InternetMaxBandwidthIn, view.InternetMaxBandwidthOut = i.InternetMaxBandwidthIn, i.InternetMaxBandwidthOut
	view.MetadataOptions.HTTPTokens = cmp.Or(i.HTTPTokens, view.MetadataOptions.HTTPTokens)
	if image, ok := findImage(i.ImageID); ok {
		view.OSName, view.OSNameEn = image.OSName, image.OSNameEn
	}
	if i.Status == kinds.InstanceStopped {
		view.StoppedMode = cmp.Or(i.StoppedMode, view.StoppedMode)
	}
	view.showNetwork(v, i)
	return view
}

// showNetwork adds the instance's addresses and interfaces. Its private addresses
// and its security groups are the primary interface's.
func (view *instanceView) showNetwork(v *state.View, i *kinds.Instance) {
	primary := primaryInterface(v, i.ID)
	view.InstanceNetworkType = networkVPC
	view.InternetChargeType = internetChargeType(&kinds.EIP{})
	view.SecurityGroupIDs = slices.Clone(primary.SecurityGroupIDs)
	view.PublicIPAddress = ipAddresses{slices.Clone(i.PublicIPAddresses)}
	view.VPCAttributes = vpcAttributes{
		VPCID: i.VPCID, VSwitchID: i.VSwitchID, PrivateIPAddress: ipAddresses{slices.Clone(primary.PrivateIPAddresses)},
	}
	if eip, ok := kinds.EIPsByInstance.First(v, i.ID); ok {
		view.EIPAddress = viewEIPAddress(eip)
		view.InternetChargeType = eip.InternetChargeType
	}
	for n := range kinds.NetworkInterfacesByInstance.List(v, i.ID) {
		view.NetworkInterfaces = append(view.NetworkInterfaces, instanceInterface{
			NetworkInterfaceID: n.ID,
			Type:               n.Type,
			MacAddress:         n.MacAddress,
			PrimaryIPAddress:   primaryAddress(n),
			PrivateIPSets:      privateIPSets(n, nil),
			IPv6Sets:           ipv6Sets(n),
		})
	}
}

func viewEIPAddress(eip *kinds.EIP) eipAddress {
	// The world and the Vpc API write bandwidths as numbers only.
	bandwidth, err := strconv.Atoi(eip.Bandwidth)
	if err != nil {
		bandwidth = 0
	}
	return eipAddress{
		AllocationID:         eip.ID,
		IPAddress:            eip.IPAddress,
		Bandwidth:            bandwidth,
		InternetChargeType:   eip.InternetChargeType,
		IsSupportUnassociate: true,
	}
}
