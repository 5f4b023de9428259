package ecs

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var instanceActions = []gateway.Action{
	gateway.Read("DescribeInstances", describeInstances).
		Refusing(errFilterKeyNotFound, errInstanceChargeTypeNotFound, errInternetChargeTypeUnsupported, errLockReasonNotFound, errNetworkTypeNotFound, errStatusNotFound, errTooManyTags),
	gateway.Write("DeleteInstance", deleteInstance),
	gateway.Write("DeleteInstances", deleteInstances),
}

// The refusals of this file.
var (
	errNetworkTypeNotFound = refusals.New("NetworkTypeNotFound", 404, "InvalidNetworkType.NotFound",
		"The specified InstanceNetworkType is not found.", "CLB-0300")
	errInstanceChargeTypeNotFound = refusals.New("InstanceChargeTypeNotFound", 404, "InvalidInstanceChargeType.NotFound",
		"The InstanceChargeType does not exist in our records.", "CLB-0300")
	errInternetChargeTypeUnsupported = refusals.New("InternetChargeTypeUnsupported", 404, "InvalidInternetChargeType.ValueNotSupported",
		"The specified InternetChargeType is not valid.", "CLB-0300")
	errStatusNotFound = refusals.New("StatusNotFound", 404, "InvalidStatus.NotFound",
		"The specified Status is not found.", "CLB-0300")
	errLockReasonNotFound = refusals.New("LockReasonNotFound", 404, "InvalidLockReason.NotFound",
		"The specified LockReason is not found.", "CLB-0300")
	errFilterKeyNotFound = refusals.New("FilterKeyNotFound", 404, "InvalidFilterKey.NotFound",
		"Invalid filter.%s.", "CLB-0300")
	errFilterValueInvalid = refusals.New("FilterValueInvalid", 404, "InvalidFilterValue",
		"Invalid filter.%s.", "CLB-0300")
	errHPCClusterNotFound = refusals.New("HPCClusterNotFound", 400, "InvalidHpcClusterId.NotFound",
		"The specified HpcClusterId is not found.", "CLB-0300")
)

// maxValues limits how many values a filter with a list in JSON takes.
const maxValues = 100

type describeInstancesRequest struct {
	tagged
	instanceTimes
	RegionID            string   `rpc:"RegionId,required"`
	VPCID               string   `rpc:"VpcId"`
	VSwitchID           string   `rpc:"VSwitchId"`
	ZoneID              string   `rpc:"ZoneId"`
	InstanceNetworkType string   `rpc:"InstanceNetworkType,enum=classic|vpc,invalid=NetworkTypeNotFound"`
	SecurityGroupID     string   `rpc:"SecurityGroupId"`
	InstanceIDs         []string `rpc:"InstanceIds,json"`
	PageNumber          int      `rpc:"PageNumber,default=1,min=1"`
	PageSize            int      `rpc:"PageSize,default=10,min=1,max=100"`
	NextToken           string   `rpc:"NextToken"`
	MaxResults          *int     `rpc:"MaxResults,min=1,max=100"`
	InnerIPAddresses    []string `rpc:"InnerIpAddresses,json"`
	PrivateIPAddresses  []string `rpc:"PrivateIpAddresses,json"`
	PublicIPAddresses   []string `rpc:"PublicIpAddresses,json"`
	EIPAddresses        []string `rpc:"EipAddresses,json"`
	RDMAIPAddresses     string   `rpc:"RdmaIpAddresses"`
	IPv6Addresses       []string `rpc:"Ipv6Address,max=100"`
	InstanceChargeType  string   `rpc:"InstanceChargeType,enum=PrePaid|PostPaid,invalid=InstanceChargeTypeNotFound"`
	InternetChargeType  string   `rpc:"InternetChargeType,enum=PayByBandwidth|PayByTraffic,invalid=InternetChargeTypeUnsupported"`
	InstanceName        string   `rpc:"InstanceName"`
	ImageID             string   `rpc:"ImageId"`
	Status              string   `rpc:"Status,enum=Pending|Running|Starting|Stopping|Stopped,invalid=StatusNotFound"`
	LockReason          string   `rpc:"LockReason,enum=financial|security|recycling|dedicatedhostfinancial|refunded,invalid=LockReasonNotFound"`
	IOOptimized         *bool    `rpc:"IoOptimized"`
	InstanceType        string   `rpc:"InstanceType"`
	InstanceTypeFamily  string   `rpc:"InstanceTypeFamily"`
	KeyPairName         string   `rpc:"KeyPairName"`
	ResourceGroupID     string   `rpc:"ResourceGroupId"`
	HPCClusterID        string   `rpc:"HpcClusterId"`
	gateway.Trial
}

// instanceTimes filters instances by time of creation. The times of expiry
// that the API has too select none: no instance expires.
type instanceTimes struct {
	Filter1Key   string `rpc:"Filter.1.Key,enum=CreationStartTime|CreationEndTime|ExpiredStartTime|ExpiredEndTime,invalid=FilterKeyNotFound"`
	Filter1Value string `rpc:"Filter.1.Value"`
	Filter2Key   string `rpc:"Filter.2.Key,enum=CreationStartTime|CreationEndTime|ExpiredStartTime|ExpiredEndTime,invalid=FilterKeyNotFound"`
	Filter2Value string `rpc:"Filter.2.Value"`
	Filter3Key   string `rpc:"Filter.3.Key,enum=CreationStartTime|CreationEndTime|ExpiredStartTime|ExpiredEndTime,invalid=FilterKeyNotFound"`
	Filter3Value string `rpc:"Filter.3.Value"`
	Filter4Key   string `rpc:"Filter.4.Key,enum=CreationStartTime|CreationEndTime|ExpiredStartTime|ExpiredEndTime,invalid=FilterKeyNotFound"`
	Filter4Value string `rpc:"Filter.4.Value"`

	from, until time.Time
	expiring    bool
}

func (r *instanceTimes) parse() error {
	for _, f := range [][2]string{
		{r.Filter1Key, r.Filter1Value}, {r.Filter2Key, r.Filter2Value},
		{r.Filter3Key, r.Filter3Value}, {r.Filter4Key, r.Filter4Value},
	} {
		if f[0] == "" {
			continue
		}
		at, err := time.Parse(gateway.MinuteForm, f[1])
		switch {
		case err != nil:
			return errFilterValueInvalid.Of(f[0])
		case f[0] == "CreationStartTime":
			r.from = at
		case f[0] == "CreationEndTime":
			r.until = at
		default:
			r.expiring = true
		}
	}
	return nil
}

func (r *instanceTimes) matches(created time.Time) bool {
	return !r.expiring && (r.from.IsZero() || !created.Before(r.from)) && (r.until.IsZero() || !created.After(r.until))
}

// Validate implements the gateway's check of shape.
func (r *describeInstancesRequest) Validate() error {
	for name, values := range map[string][]string{
		"InstanceIds": r.InstanceIDs, "PrivateIpAddresses": r.PrivateIPAddresses,
		"PublicIpAddresses": r.PublicIPAddresses, "EipAddresses": r.EIPAddresses, "InnerIpAddresses": r.InnerIPAddresses,
	} {
		if len(values) > maxValues {
			return gateway.Invalid(name)
		}
	}
	if r.HPCClusterID != "" {
		return errHPCClusterNotFound
	}
	if err := r.parse(); err != nil {
		return err
	}
	return r.checkFilter()
}

func (r *describeInstancesRequest) window() listing.Ask {
	return listing.AskBy(r.NextToken, r.MaxResults, r.PageNumber, r.PageSize)
}

type describeInstancesResponse struct {
	listing.Either
	Instances []instanceView `rpc:"Instances>Instance"`
}

func describeInstances(v *state.View, req *describeInstancesRequest) (*describeInstancesResponse, error) {
	hasTags := req.filter(v, kinds.TagInstance)
	var found []*kinds.Instance
	for i := range req.candidates(v) {
		if hasTags(i.ID) && req.matches(v, i) {
			found = append(found, i)
		}
	}
	slices.SortFunc(found, func(a, b *kinds.Instance) int { return strings.Compare(a.ID, b.ID) })
	instances, windowed, err := listing.CutEither(slices.Compact(found), func(i *kinds.Instance) string { return i.ID }, req.window())
	if err != nil {
		return nil, err
	}
	return &describeInstancesResponse{Either: windowed, Instances: listing.Views(v, instances, viewInstance)}, nil
}

// candidates yields the instances that the request names in a way that an index
// finds, or all; in any order, and maybe twice.
func (r *describeInstancesRequest) candidates(v *state.View) iter.Seq[*kinds.Instance] {
	switch {
	case len(r.InstanceIDs) > 0:
		return func(yield func(*kinds.Instance) bool) {
			for _, id := range r.InstanceIDs {
				if i, ok := kinds.Instances.Find(v, id); ok && !yield(i) {
					return
				}
			}
		}
	case r.VPCID != "" && len(r.PrivateIPAddresses) > 0:
		return func(yield func(*kinds.Instance) bool) {
			for n := range interfacesAt(v, r.VPCID, r.PrivateIPAddresses) {
				if i, ok := kinds.Instances.Find(v, n.InstanceID); ok && !yield(i) {
					return
				}
			}
		}
	case r.VSwitchID != "":
		return kinds.InstancesByVSwitch.List(v, r.VSwitchID)
	}
	return kinds.InstancesByRegion.InScope(v)
}

func (r *describeInstancesRequest) matches(v *state.View, i *kinds.Instance) bool {
	return !r.asksForNone() &&
		listing.Among(r.InstanceIDs, i.ID) &&
		listing.Matches(r.VPCID, i.VPCID) &&
		listing.Matches(r.VSwitchID, i.VSwitchID) &&
		listing.Matches(r.ZoneID, i.ZoneID) &&
		listing.Matches(r.InstanceNetworkType, networkVPC) &&
		listing.Matches(r.InstanceChargeType, i.InstanceChargeType) &&
		like(r.InstanceName, i.Name) &&
		listing.Matches(r.ImageID, i.ImageID) &&
		listing.Matches(r.Status, i.Status) &&
		listing.Matches(r.InstanceType, i.InstanceType) &&
		listing.Matches(r.InstanceTypeFamily, typeFamily(i.InstanceType)) &&
		listing.Matches(r.ResourceGroupID, i.ResourceGroupID) &&
		anyAmong(r.PublicIPAddresses, i.PublicIPAddresses) &&
		r.instanceTimes.matches(i.CreateTime) &&
		r.matchesNetwork(v, i)
}

// asksForNone reports whether the request filters by what no instance of the world
// has: a lock, an address in the classic network or for RDMA, a key pair, or the
// lack of I/O optimisation.
func (r *describeInstancesRequest) asksForNone() bool {
	return r.LockReason != "" || len(r.InnerIPAddresses) > 0 || r.RDMAIPAddresses != "" || r.KeyPairName != "" ||
		r.IOOptimized != nil && !*r.IOOptimized
}

func (r *describeInstancesRequest) matchesNetwork(v *state.View, i *kinds.Instance) bool {
	primary := primaryInterface(v, i.ID)
	eip, _ := kinds.EIPsByInstance.First(v, i.ID)
	if eip == nil {
		eip = &kinds.EIP{}
	}
	return anyAmong(r.PrivateIPAddresses, primary.PrivateIPAddresses) &&
		anyAmong(r.IPv6Addresses, primary.IPv6Addresses) &&
		(r.SecurityGroupID == "" || slices.Contains(primary.SecurityGroupIDs, r.SecurityGroupID)) &&
		listing.Among(r.EIPAddresses, eip.IPAddress) &&
		listing.Matches(r.InternetChargeType, internetChargeType(eip))
}

// primaryInterface returns the first network interface of an instance;
// its absence gives one without addresses.
func primaryInterface(v *state.View, instanceID string) *kinds.NetworkInterface {
	if n, ok := kinds.NetworkInterfacesByInstance.First(v, instanceID, kinds.NetworkInterfacePrimary); ok {
		return n
	}
	return &kinds.NetworkInterface{}
}

// internetChargeType returns the charge type of an instance: its EIP's, or by traffic.
func internetChargeType(eip *kinds.EIP) string { return cmp.Or(eip.InternetChargeType, "PayByTraffic") }

// typeFamily returns the family of an instance type: ecs.g7 of ecs.g7.large.
func typeFamily(instanceType string) string {
	if n := strings.LastIndexByte(instanceType, '.'); n > 0 {
		return instanceType[:n]
	}
	return instanceType
}
