package ecs

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var instanceRunActions = []gateway.Action{gateway.Write("RunInstances", runInstances).
	Refusing(errAmountInvalid, errDiskCategoryUnsupported, errDiskSizeInvalid, errInstanceChargeTypeNotFound, errInternetChargeTypeUnsupported, errTooManyTags)}

// The refusals of this file.
var (
	errInstanceTypeUnsupported = refusals.New("InstanceTypeUnsupported", 400, "InvalidInstanceType.ValueNotSupported",
		"The specified InstanceType does not exist or beyond the permitted range.", "CLB-0383")
	errImageNotFound = refusals.New("ImageNotFound", 404, "InvalidImageId.NotFound",
		"The specified ImageId does not exist.", "CLB-0383")
	errKeyPairNotFound = refusals.New("KeyPairNotFound", 404, "InvalidKeyPairName.NotFound",
		"The specified KeyPairName does not exist.", "CLB-0383")
	errLaunchTemplateNotFound = refusals.New("LaunchTemplateNotFound", 404, "InvalidLaunchTemplate.NotFound",
		"The specified LaunchTemplate is not found.", "CLB-0383")
	errAmountInvalid = refusals.New("AmountInvalid", 400, "InvalidAmount.NotSupported",
		"The specified Amount is not valid.", "CLB-0383")
	errUserDataInvalid = refusals.New("UserDataInvalid", 400, "InvalidUserData.Base64FormatInvalid",
		"The specified parameter UserData must be base64 encoded.", "CLB-0383")
	errDiskCategoryUnsupported = refusals.New("DiskCategoryUnsupported", 400, "InvalidSystemDiskCategory.ValueNotSupported",
		"The specified parameter SystemDisk.Category is not valid.", "CLB-0383")
	errDiskSizeInvalid = refusals.New("DiskSizeInvalid", 400, "InvalidSystemDiskSize.ValueNotSupported",
		"The specified parameter SystemDisk.Size is invalid.", "CLB-0383")
)

// networkErrors are about addresses of vSwitches.
var networkErrors = []gateway.ErrorRow{
	absent("CLB-0383", kinds.VSwitches.Kind(), "InvalidVSwitchId.NotFound", "The VSwitchId provided does not exist in our records."),
	refuse(403, "CLB-0383", kinds.NoFreeAddress, "InvalidVSwitchId.IpNotEnough", "The specified VSwitch %s has not enough IpAddress."),
	refuse(400, "CLB-0383", kinds.AddressOutside, "InvalidPrivateIpAddress.Malformed", "Specified private IP address %s is malformed or not in the vSwitch."),
	refuse(403, "CLB-0383", kinds.AddressTaken, "InvalidPrivateIpAddress.Duplicated", "Specified private IP address %s is duplicated."),
}

type runInstancesRequest struct {
	tagged
	RegionID         string `rpc:"RegionId,required"`
	ZoneID           string `rpc:"ZoneId"`
	InstanceType     string `rpc:"InstanceType"`
	ImageID          string `rpc:"ImageId"`
	ImageFamily      string `rpc:"ImageFamily"`
	VSwitchID        string `rpc:"VSwitchId"`
	PrivateIPAddress string `rpc:"PrivateIpAddress"`
	ipv6Request
	SecurityGroupID         string             `rpc:"SecurityGroupId"`
	SecurityGroupIDs        []string           `rpc:"SecurityGroupIds,max=16"`
	NetworkInterfaces       []interfaceRequest `rpc:"NetworkInterface,max=16"`
	InstanceName            string             `rpc:"InstanceName,len=2..128"`
	HostName                string             `rpc:"HostName,len=2..64"`
	Description             string             `rpc:"Description,len=2..256"`
	UniqueSuffix            bool               `rpc:"UniqueSuffix"`
	Amount                  int                `rpc:"Amount,default=1,min=1,max=100,invalid=AmountInvalid"`
	InstanceChargeType      string             `rpc:"InstanceChargeType,default=PostPaid,enum=PrePaid|PostPaid,invalid=InstanceChargeTypeNotFound"`
	InternetChargeType      string             `rpc:"InternetChargeType,enum=PayByBandwidth|PayByTraffic,invalid=InternetChargeTypeUnsupported"`
	InternetMaxBandwidthIn  int                `rpc:"InternetMaxBandwidthIn,min=0,max=200"`
	InternetMaxBandwidthOut int                `rpc:"InternetMaxBandwidthOut,min=0,max=100"`
	SpotStrategy            string             `rpc:"SpotStrategy,default=NoSpot,enum=NoSpot|SpotWithPriceLimit|SpotAsPriceGo"`
	SystemDiskCategory      string             `rpc:"SystemDisk.Category,default=cloud_essd,enum=cloud_essd|cloud_efficiency|cloud_ssd|cloud_auto|cloud,invalid=DiskCategoryUnsupported"`
	SystemDiskLevel         string             `rpc:"SystemDisk.PerformanceLevel,enum=PL0|PL1|PL2|PL3"`
	SystemDiskSize          int                `rpc:"SystemDisk.Size,default=40,min=20,max=2048,invalid=DiskSizeInvalid"`
	SystemDiskName          string             `rpc:"SystemDisk.DiskName"`
	SystemDiskDescription   string             `rpc:"SystemDisk.Description"`
	SystemDiskEncrypted     bool               `rpc:"SystemDisk.Encrypted"`
	DataDisks               []dataDisk         `rpc:"DataDisk,max=16"`
	UserData                string             `rpc:"UserData"`
	KeyPairName             string             `rpc:"KeyPairName"`
	RAMRoleName             string             `rpc:"RamRoleName"`
	HTTPTokens              string             `rpc:"HttpTokens,enum=optional|required"`
	ResourceGroupID         string             `rpc:"ResourceGroupId"`
	DeletionProtection      bool               `rpc:"DeletionProtection"`
	LaunchTemplateID        string             `rpc:"LaunchTemplateId"`
	LaunchTemplateName      string             `rpc:"LaunchTemplateName"`
	ClientToken             string             `rpc:"ClientToken"`
	gateway.Trial
}

// interfaceRequest is a network interface of a new instance. The primary one may say
// what the request itself says too.
type interfaceRequest struct {
	InstanceType     string   `rpc:"InstanceType,default=Secondary,enum=Primary|Secondary"`
	VSwitchID        string   `rpc:"VSwitchId"`
	PrimaryIPAddress string   `rpc:"PrimaryIpAddress"`
	SecurityGroupID  string   `rpc:"SecurityGroupId"`
	SecurityGroupIDs []string `rpc:"SecurityGroupIds,max=16"`
	Name             string   `rpc:"NetworkInterfaceName"`
	Description      string   `rpc:"Description"`
	ipv6Request
}

// ipv6Request asks for IPv6 addresses of an interface: the named ones, or a number of them.
type ipv6Request struct {
	IPv6Addresses []string `rpc:"Ipv6Address,max=10"`
	IPv6Count     int      `rpc:"Ipv6AddressCount,min=0,max=10"`
}

func (r interfaceRequest) groups() []string {
	return slices.Concat(given(r.SecurityGroupID), r.SecurityGroupIDs)
}

type dataDisk struct {
	Category           string `rpc:"Category,default=cloud_essd"`
	PerformanceLevel   string `rpc:"PerformanceLevel"`
	Size               int    `rpc:"Size,default=40,min=20,max=65536"`
	DiskName           string `rpc:"DiskName"`
	Description        string `rpc:"Description"`
	Device             string `rpc:"Device"`
	Encrypted          bool   `rpc:"Encrypted"`
	DeleteWithInstance *bool  `rpc:"DeleteWithInstance"`
}

// given returns a list of the one value, or nil if it is "".
func given(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

// Validate implements the gateway's check of shape.
func (r *runInstancesRequest) Validate() error {
	if n := slices.IndexFunc(r.NetworkInterfaces, func(n interfaceRequest) bool { return n.InstanceType == kinds.NetworkInterfacePrimary }); n >= 0 {
		primary := r.NetworkInterfaces[n]
		r.VSwitchID, r.PrivateIPAddress = cmp.Or(r.VSwitchID, primary.VSwitchID), cmp.Or(r.PrivateIPAddress, primary.PrimaryIPAddress)
		r.SecurityGroupIDs = append(r.SecurityGroupIDs, primary.groups()...)
		r.NetworkInterfaces = slices.Delete(r.NetworkInterfaces, n, n+1)
	}
	r.SecurityGroupIDs = slices.Concat(given(r.SecurityGroupID), r.SecurityGroupIDs)
	switch {
	case r.LaunchTemplateID != "" || r.LaunchTemplateName != "":
		return errLaunchTemplateNotFound
	case r.InstanceType == "":
		return errParameterMissing.Of("InstanceType")
	case !typeForm().MatchString(r.InstanceType):
		return errInstanceTypeUnsupported
	case r.ImageID == "" && r.ImageFamily == "":
		return errParameterMissing.Of("ImageId")
	case len(r.SecurityGroupIDs) == 0:
		return errParameterMissing.Of("SecurityGroupId")
	case r.KeyPairName != "":
		return errKeyPairNotFound
	}
	if _, err := base64.StdEncoding.DecodeString(r.UserData); err != nil {
		return errUserDataInvalid
	}
	return r.checkNew()
}

type runInstancesResponse struct {
	InstanceIDs []string `rpc:"InstanceIdSets>InstanceIdSet"`
}

// runInstances creates instances with their interfaces and disks, and starts them. No
// machine is behind one. Evidence CLB-0383.
func runInstances(tx *state.Tx, req *runInstancesRequest) (*runInstancesResponse, error) {
	launch, err := state.Once(tx, "RunInstances", req.ClientToken, req, kinds.Instances, func() (string, error) { return putInstances(tx, req) })
	if err != nil {
		return nil, err
	}
	resp := &runInstancesResponse{}
	for i := range kinds.InstancesByRegion.List(tx.View, tx.Scope().AccountID, tx.Scope().RegionID) {
		if i.LaunchID == launch {
			resp.InstanceIDs = append(resp.InstanceIDs, i.ID)
		}
	}
	slices.Sort(resp.InstanceIDs)
	return resp, nil
}

// putInstances creates the instances of one call and returns the id of the first.
func putInstances(tx *state.Tx, req *runInstancesRequest) (launch string, err error) {
	sw, err := vSwitchFor(tx.View, req.VSwitchID, req.ZoneID)
	if err != nil {
		return "", err
	}
	image, err := imageFor(tx.View, req.ImageID, req.ImageFamily)
	if err != nil {
		return "", err
	}
	if req.ResourceGroupID != "" {
		if _, err := kinds.ResourceGroupOf(tx.View, req.ResourceGroupID); err != nil {
			return "", err
		}
	}
	for n := range req.Amount {
		i := req.instance(tx, sw, image)
		launch = cmp.Or(launch, i.ID)
		i.LaunchID = launch
		if req.UniqueSuffix && req.InstanceName != "" {
			i.Name = fmt.Sprintf("%s%03d", i.Name, n+1)
		}
		if err := req.put(tx, sw, i); err != nil {
			return "", err
		}
	}
	return launch, nil
}

// vSwitchFor returns the named vSwitch, or the default one of the zone.
func vSwitchFor(v *state.View, id, zoneID string) (*kinds.VSwitch, error) {
	if id != "" {
		return kinds.VSwitches.Get(v, id)
	}
	for sw := range kinds.VSwitchesByRegion.InScope(v) {
		if sw.IsDefault && listing.Matches(zoneID, sw.ZoneID) {
			return sw, nil
		}
	}
	return nil, errParameterMissing.Of("VSwitchId")
}

// imageFor returns the id of an image that is public, or that an instance of the world has.
func imageFor(v *state.View, id, family string) (string, error) {
	for _, i := range images {
		if i.ImageID == id || id == "" && i.Family == family {
			return i.ImageID, nil
		}
	}
	for i := range kinds.InstancesByRegion.InScope(v) {
		if id != "" && i.ImageID == id {
			return id, nil
		}
	}
	return "", errImageNotFound.Of(id)
}

func (r *runInstancesRequest) instance(tx *state.Tx, sw *kinds.VSwitch, image string) *kinds.Instance {
	i := &kinds.Instance{
		Owner: sw.Owner, ID: tx.NewID(kinds.Instances.Kind()), HostName: r.HostName, Description: r.Description, ZoneID: sw.ZoneID,
		Status: kinds.InstancePending, VPCID: sw.VPCID, VSwitchID: sw.ID, InstanceType: r.InstanceType, ImageID: image,
		InstanceChargeType: r.InstanceChargeType, SpotStrategy: r.SpotStrategy, RAMRoleName: r.RAMRoleName, ResourceGroupID: r.ResourceGroupID,
		DeletionProtection: r.DeletionProtection, CreateTime: tx.Now(), UserData: r.UserData, HTTPTokens: r.HTTPTokens,
		InternetMaxBandwidthIn: r.InternetMaxBandwidthIn, InternetMaxBandwidthOut: r.InternetMaxBandwidthOut,
	}
	i.Name = cmp.Or(r.InstanceName, i.ID)
	i.HostName = cmp.Or(r.HostName, "iZ"+strings.TrimPrefix(i.ID, "i-")+"Z")
	i.Disks = r.disks(tx)
	return i
}

// disks returns the system disk, whose device is xvda, and the data disks.
func (r *runInstancesRequest) disks(tx *state.Tx) []kinds.Disk {
	disks := []kinds.Disk{{ID: newDiskID(tx), Name: r.SystemDiskName, Description: r.SystemDiskDescription, Type: kinds.DiskSystem, Device: "/dev/xvda",
		Category: r.SystemDiskCategory, PerformanceLevel: r.SystemDiskLevel, Size: r.SystemDiskSize, Encrypted: r.SystemDiskEncrypted, DeleteWithInstance: true}}
	for n, d := range r.DataDisks {
		disks = append(disks, kinds.Disk{ID: newDiskID(tx), Name: d.DiskName, Description: d.Description, Type: kinds.DiskData,
			Device: cmp.Or(d.Device, "/dev/xvd"+string(rune('b'+n))), Category: d.Category, PerformanceLevel: d.PerformanceLevel, Size: d.Size,
			Encrypted: d.Encrypted, DeleteWithInstance: d.DeleteWithInstance == nil || *d.DeleteWithInstance})
	}
	for n := range disks {
		if disks[n].Category == "cloud_essd" {
			disks[n].PerformanceLevel = cmp.Or(disks[n].PerformanceLevel, "PL1")
		}
	}
	return disks
}

// put adds the instance with its interfaces, and begins its life.
func (r *runInstancesRequest) put(tx *state.Tx, sw *kinds.VSwitch, i *kinds.Instance) error {
	if r.InternetMaxBandwidthOut > 0 {
		region, err := kinds.Regions.Get(tx.View, i.RegionID)
		if err != nil {
			return err
		}
		ip, err := kinds.AllocateAddress(tx, kinds.PublicPool(i.RegionID), region.PublicCIDRBlock, "", kinds.Instances.Kind(), i.ID)
		if err != nil {
			return err
		}
		i.AssignedIPAddress, i.PublicIPAddresses = ip, []string{ip}
	}
	kinds.Instances.Put(tx, i)
	tagging.Set(tx, kinds.TagInstance, i.ID, r.tags())
	primary := interfaceRequest{InstanceType: kinds.NetworkInterfacePrimary, VSwitchID: sw.ID, PrimaryIPAddress: r.PrivateIPAddress, SecurityGroupIDs: r.SecurityGroupIDs, ipv6Request: r.ipv6Request}
	for _, n := range append([]interfaceRequest{primary}, r.NetworkInterfaces...) {
		if _, err := putInterface(tx, i, newInterface{
			interfaceRequest: n, addresses: given(n.PrimaryIPAddress), resourceGroupID: i.ResourceGroupID}); err != nil {
			return err
		}
	}
	state.Enter(tx, kinds.StageInstancePending, i.ID)
	return nil
}
