package ecs

import (
	"cmp"
	"encoding/base64"
	"iter"
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var instanceAttributeActions = []gateway.Action{
	gateway.Read("DescribeInstanceAttribute", describeInstanceAttribute),
	gateway.Write("ModifyInstanceAttribute", modifyInstanceAttribute),
	gateway.Read("DescribeInstanceStatus", describeInstanceStatus),
	gateway.Read("DescribeUserData", describeUserData),
	gateway.Read("DescribeInstanceRamRole", describeInstanceRAMRole),
	gateway.Read("DescribeInstanceMaintenanceAttributes", describeInstanceMaintenanceAttributes),
	gateway.Read("DescribeInstanceAttachmentAttributes", describeInstanceAttachmentAttributes),
}

type describeInstanceAttributeRequest struct {
	InstanceID string `rpc:"InstanceId,required"`
}

type describeInstanceAttributeResponse struct {
	InstanceID              string          `rpc:"InstanceId"`
	InstanceName            string          `rpc:"InstanceName"`
	HostName                string          `rpc:"HostName"`
	Description             string          `rpc:"Description"`
	RegionID                string          `rpc:"RegionId"`
	ZoneID                  string          `rpc:"ZoneId"`
	Status                  string          `rpc:"Status"`
	StoppedMode             string          `rpc:"StoppedMode"`
	InstanceType            string          `rpc:"InstanceType"`
	CPU                     int             `rpc:"Cpu,omitempty"`
	Memory                  int             `rpc:"Memory,omitempty"`
	ImageID                 string          `rpc:"ImageId"`
	SerialNumber            string          `rpc:"SerialNumber"`
	InstanceChargeType      string          `rpc:"InstanceChargeType"`
	InternetChargeType      string          `rpc:"InternetChargeType"`
	InternetMaxBandwidthIn  int             `rpc:"InternetMaxBandwidthIn"`
	InternetMaxBandwidthOut int             `rpc:"InternetMaxBandwidthOut"`
	InstanceNetworkType     string          `rpc:"InstanceNetworkType"`
	IOOptimized             string          `rpc:"IoOptimized"`
	EnableJumboFrame        bool            `rpc:"EnableJumboFrame"`
	CreationTime            string          `rpc:"CreationTime"`
	ExpiredTime             string          `rpc:"ExpiredTime"`
	SecurityGroupIDs        []string        `rpc:"SecurityGroupIds>SecurityGroupId"`
	PublicIPAddress         ipAddresses     `rpc:"PublicIpAddress"`
	InnerIPAddress          ipAddresses     `rpc:"InnerIpAddress"`
	EIPAddress              attributeEIP    `rpc:"EipAddress"`
	VPCAttributes           vpcAttributes   `rpc:"VpcAttributes"`
	OperationLocks          []operationLock `rpc:"OperationLocks>LockReason"`
}

type attributeEIP struct {
	AllocationID       string `rpc:"AllocationId"`
	IPAddress          string `rpc:"IpAddress"`
	Bandwidth          int    `rpc:"Bandwidth"`
	InternetChargeType string `rpc:"InternetChargeType"`
}

// describeInstanceAttribute shows of an instance what DescribeInstances does, in the
// words of an older call.
func describeInstanceAttribute(v *state.View, req *describeInstanceAttributeRequest) (*describeInstanceAttributeResponse, error) {
	i, err := kinds.Instances.Get(v, req.InstanceID)
	if err != nil {
		return nil, err
	}
	view := viewInstance(v, i)
	eip := view.EIPAddress
	return &describeInstanceAttributeResponse{
		InstanceID: view.InstanceID, InstanceName: view.InstanceName, HostName: view.HostName, Description: view.Description,
		RegionID: view.RegionID, ZoneID: view.ZoneID, Status: view.Status, StoppedMode: view.StoppedMode, InstanceType: view.InstanceType,
		CPU: view.CPU, Memory: view.Memory, ImageID: view.ImageID, SerialNumber: view.SerialNumber,
		InstanceChargeType: view.InstanceChargeType, InternetChargeType: view.InternetChargeType,
		InternetMaxBandwidthIn: view.InternetMaxBandwidthIn, InternetMaxBandwidthOut: view.InternetMaxBandwidthOut,
		InstanceNetworkType: view.InstanceNetworkType, IOOptimized: "optimized", CreationTime: view.CreationTime, ExpiredTime: view.ExpiredTime,
		SecurityGroupIDs: view.SecurityGroupIDs, PublicIPAddress: view.PublicIPAddress, InnerIPAddress: view.InnerIPAddress,
		EIPAddress:    attributeEIP{AllocationID: eip.AllocationID, IPAddress: eip.IPAddress, Bandwidth: eip.Bandwidth, InternetChargeType: eip.InternetChargeType},
		VPCAttributes: view.VPCAttributes,
	}, nil
}

type modifyInstanceAttributeRequest struct {
	InstanceID         string   `rpc:"InstanceId,required"`
	InstanceName       string   `rpc:"InstanceName,len=2..128"`
	HostName           string   `rpc:"HostName,len=2..64"`
	Description        string   `rpc:"Description,len=2..256"`
	DeletionProtection *bool    `rpc:"DeletionProtection"`
	UserData           string   `rpc:"UserData"`
	SecurityGroupIDs   []string `rpc:"SecurityGroupIds,max=16"`
}

// Validate implements the gateway's check of shape.
func (r *modifyInstanceAttributeRequest) Validate() error {
	if _, err := base64.StdEncoding.DecodeString(r.UserData); err != nil {
		return errUserDataInvalid
	}
	return nil
}

// modifyInstanceAttribute changes what the request has; the user data only while the
// instance is stopped.
func modifyInstanceAttribute(tx *state.Tx, req *modifyInstanceAttributeRequest) (*gateway.Empty, error) {
	err := kinds.Instances.Edit(tx, req.InstanceID, func(i *kinds.Instance) error {
		if req.UserData != "" && i.Status != kinds.InstanceStopped {
			return errInstanceNotStopped
		}
		i.Name, i.HostName = cmp.Or(req.InstanceName, i.Name), cmp.Or(req.HostName, i.HostName)
		i.Description, i.UserData = cmp.Or(req.Description, i.Description), cmp.Or(req.UserData, i.UserData)
		if req.DeletionProtection != nil {
			i.DeletionProtection = *req.DeletionProtection
		}
		return nil
	})
	if err != nil || len(req.SecurityGroupIDs) == 0 {
		return &gateway.Empty{}, err
	}
	primary := primaryInterface(tx.View, req.InstanceID)
	return &gateway.Empty{}, kinds.NetworkInterfaces.Edit(tx, primary.ID, func(n *kinds.NetworkInterface) error {
		return join(tx.View, n, req.SecurityGroupIDs)
	})
}

// numbered is a page of a list of instances.
type numbered struct {
	PageNumber int `rpc:"PageNumber,default=1,min=1"`
	PageSize   int `rpc:"PageSize,default=10,min=1,max=100"`
}

// counted holds a response's page and total.
type counted struct {
	TotalCount int `rpc:"TotalCount"`
	PageNumber int `rpc:"PageNumber"`
	PageSize   int `rpc:"PageSize"`
}

// pageOf cuts a page out of views of the instances, in order of id.
func pageOf[T any](instances iter.Seq[*kinds.Instance], keep func(*kinds.Instance) bool, view func(*kinds.Instance) T, page numbered) ([]T, counted) {
	var kept []*kinds.Instance
	for i := range instances {
		if keep(i) {
			kept = append(kept, i)
		}
	}
	slices.SortFunc(kept, func(a, b *kinds.Instance) int { return cmp.Compare(a.ID, b.ID) })
	var views []T
	for _, i := range listing.Page(kept, page.PageNumber, page.PageSize) {
		views = append(views, view(i))
	}
	return views, counted{TotalCount: len(kept), PageNumber: page.PageNumber, PageSize: page.PageSize}
}

func instancesHere(v *state.View) iter.Seq[*kinds.Instance] {
	return kinds.InstancesByRegion.InScope(v)
}

type describeInstanceStatusRequest struct {
	numbered
	RegionID    string   `rpc:"RegionId,required"`
	ZoneID      string   `rpc:"ZoneId"`
	InstanceIDs []string `rpc:"InstanceId,max=100"`
}

type describeInstanceStatusResponse struct {
	counted
	Statuses []instanceStatus `rpc:"InstanceStatuses>InstanceStatus"`
}

type instanceStatus struct {
	InstanceID string `rpc:"InstanceId"`
	Status     string `rpc:"Status"`
}

func describeInstanceStatus(v *state.View, req *describeInstanceStatusRequest) (*describeInstanceStatusResponse, error) {
	keep := func(i *kinds.Instance) bool {
		return listing.Among(req.InstanceIDs, i.ID) && listing.Matches(req.ZoneID, i.ZoneID)
	}
	views, counted := pageOf(instancesHere(v), keep, func(i *kinds.Instance) instanceStatus { return instanceStatus{i.ID, i.Status} }, req.numbered)
	return &describeInstanceStatusResponse{counted: counted, Statuses: views}, nil
}

type describeUserDataRequest struct {
	RegionID   string `rpc:"RegionId,required"`
	InstanceID string `rpc:"InstanceId,required"`
}

type describeUserDataResponse struct {
	RegionID   string `rpc:"RegionId"`
	InstanceID string `rpc:"InstanceId"`
	UserData   string `rpc:"UserData"`
}

func describeUserData(v *state.View, req *describeUserDataRequest) (*describeUserDataResponse, error) {
	i, err := kinds.Instances.Get(v, req.InstanceID)
	if err != nil {
		return nil, err
	}
	return &describeUserDataResponse{RegionID: i.RegionID, InstanceID: i.ID, UserData: i.UserData}, nil
}

type describeInstanceRAMRoleRequest struct {
	PageNumber  int      `rpc:"PageNumber,default=1,min=1"`
	PageSize    int      `rpc:"PageSize,default=10,min=1,max=50"`
	RegionID    string   `rpc:"RegionId,required"`
	InstanceIDs []string `rpc:"InstanceIds,json"`
	RAMRoleName string   `rpc:"RamRoleName"`
}

type describeInstanceRAMRoleResponse struct {
	RegionID   string            `rpc:"RegionId"`
	TotalCount int               `rpc:"TotalCount"`
	Sets       []instanceRAMRole `rpc:"InstanceRamRoleSets>InstanceRamRoleSet"`
}

type instanceRAMRole struct {
	InstanceID  string `rpc:"InstanceId"`
	RAMRoleName string `rpc:"RamRoleName"`
}

// describeInstanceRAMRole lists the named instances, also those that have no role, or
// those that have the role.
func describeInstanceRAMRole(v *state.View, req *describeInstanceRAMRoleRequest) (*describeInstanceRAMRoleResponse, error) {
	if len(req.InstanceIDs) == 0 && req.RAMRoleName == "" {
		return nil, errParameterMissing.Of("InstanceIds")
	}
	keep := func(i *kinds.Instance) bool {
		return listing.Among(req.InstanceIDs, i.ID) && listing.Matches(req.RAMRoleName, i.RAMRoleName)
	}
	views, counted := pageOf(instancesHere(v), keep, func(i *kinds.Instance) instanceRAMRole { return instanceRAMRole{i.ID, i.RAMRoleName} },
		numbered{req.PageNumber, req.PageSize})
	return &describeInstanceRAMRoleResponse{RegionID: v.Scope().RegionID, TotalCount: counted.TotalCount, Sets: views}, nil
}

type describeInstanceMaintenanceAttributesRequest struct {
	numbered
	RegionID    string   `rpc:"RegionId,required"`
	InstanceIDs []string `rpc:"InstanceId,max=100"`
}

type describeInstanceMaintenanceAttributesResponse struct {
	counted
	Attributes []maintenanceAttribute `rpc:"MaintenanceAttributes>MaintenanceAttribute"`
}

type maintenanceAttribute struct {
	InstanceID          string              `rpc:"InstanceId"`
	ActionOnMaintenance actionOnMaintenance `rpc:"ActionOnMaintenance"`
	NotifyOnMaintenance bool                `rpc:"NotifyOnMaintenance"`
	Windows             []maintenanceWindow `rpc:"MaintenanceWindows>MaintenanceWindow"`
}

type actionOnMaintenance struct {
	DefaultValue    string   `rpc:"DefaultValue"`
	Value           string   `rpc:"Value"`
	SupportedValues []string `rpc:"SupportedValues>SupportedValue"`
}

type maintenanceWindow struct {
	StartTime string `rpc:"StartTime"`
	EndTime   string `rpc:"EndTime"`
}

// describeInstanceMaintenanceAttributes shows what every instance has that was never
// changed, as clbemu maintains nothing. Evidence CLB-0385.
func describeInstanceMaintenanceAttributes(v *state.View, req *describeInstanceMaintenanceAttributesRequest) (*describeInstanceMaintenanceAttributesResponse, error) {
	keep := func(i *kinds.Instance) bool { return listing.Among(req.InstanceIDs, i.ID) }
	views, counted := pageOf(instancesHere(v), keep, func(i *kinds.Instance) maintenanceAttribute {
		return maintenanceAttribute{InstanceID: i.ID, ActionOnMaintenance: actionOnMaintenance{
			DefaultValue: "AutoRecover", Value: "AutoRecover", SupportedValues: []string{"Stop", "AutoRecover"}}}
	}, req.numbered)
	return &describeInstanceMaintenanceAttributesResponse{counted: counted, Attributes: views}, nil
}

type describeInstanceAttachmentAttributesRequest struct {
	numbered
	RegionID    string   `rpc:"RegionId,required"`
	InstanceIDs []string `rpc:"InstanceIds,required,json"`
}

type describeInstanceAttachmentAttributesResponse struct {
	counted
	Instances []attachmentAttribute `rpc:"Instances>Instance"`
}

type attachmentAttribute struct {
	InstanceID                      string `rpc:"InstanceId"`
	PrivatePoolOptionsMatchCriteria string `rpc:"PrivatePoolOptionsMatchCriteria"`
	PrivatePoolOptionsID            string `rpc:"PrivatePoolOptionsId"`
}

// describeInstanceAttachmentAttributes: no instance is in a private pool. Evidence CLB-0385.
func describeInstanceAttachmentAttributes(v *state.View, req *describeInstanceAttachmentAttributesRequest) (*describeInstanceAttachmentAttributesResponse, error) {
	keep := func(i *kinds.Instance) bool { return listing.Among(req.InstanceIDs, i.ID) }
	views, counted := pageOf(instancesHere(v), keep, func(i *kinds.Instance) attachmentAttribute {
		return attachmentAttribute{InstanceID: i.ID, PrivatePoolOptionsMatchCriteria: "None"}
	}, req.numbered)
	return &describeInstanceAttachmentAttributesResponse{counted: counted, Instances: views}, nil
}
