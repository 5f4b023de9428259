package vpc

import (
	"cmp"
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/state"
)

var haVIPActions = []gateway.Action{
	gateway.Write("CreateHaVip", createHAVIP),
	gateway.Write("DeleteHaVip", deleteHAVIP),
	gateway.Write("ModifyHaVipAttribute", modifyHAVIPAttribute),
	gateway.Write("AssociateHaVip", associateHAVIP),
	gateway.Write("UnassociateHaVip", unassociateHAVIP),
	gateway.Read("DescribeHaVips", describeHAVIPs).Refusing(errHAVIPFilterKey),
}

// The refusals of this file.
var (
	errHAVIPStatusIncorrect = refusals.New("HAVIPStatusIncorrect", 400, "IncorrectHaVipStatus",
		"The status of the HaVip %s does not support this operation.", "CLB-0565")
	errHAVIPInUse = refusals.New("HAVIPInUse", 400, "DependencyViolation.Instance",
		"%s is associated with the HaVip.", "CLB-0565")
	errHAVIPOutsideVSwitch = refusals.New("HAVIPOutsideVSwitch", 400, "OperationDenied.VSwitchMismatch",
		"%s is not in the vSwitch of the HaVip.", "CLB-0565")
	errHAVIPAssociated = refusals.New("HAVIPAssociated", 400, "InvalidInstanceId.AlreadyAssociated",
		"%s is associated with the HaVip already.", "CLB-0565")
	errHAVIPMixed = refusals.New("HAVIPMixed", 400, "InvalidInstanceType.Mismatch",
		"The HaVip is associated with things of the type %s.", "CLB-0565")
	errHAVIPNotAssociated = refusals.New("HAVIPNotAssociated", 400, "InvalidInstanceId.NotAssociated",
		"%s is not associated with the HaVip.", "CLB-0565")
	errHAVIPFilterKey = refusals.New("HAVIPFilterKey", 400, "InvalidFilterKey.ValueNotSupported",
		"The filter %s is not supported.", "CLB-0565")
)

type createHAVIPRequest struct {
	tagged
	gatewayText
	RegionID        string `rpc:"RegionId,required"`
	VSwitchID       string `rpc:"VSwitchId,required"`
	IPAddress       string `rpc:"IpAddress"`
	ResourceGroupID string `rpc:"ResourceGroupId"`
	ClientToken     string `rpc:"ClientToken"`
}

// Validate implements the gateway's check of shape.
func (r *createHAVIPRequest) Validate() error {
	return cmp.Or(r.gatewayText.check(), r.tagged.check())
}

type createHAVIPResponse struct {
	ID        string `rpc:"HaVipId"`
	IPAddress string `rpc:"IpAddress"`
}

func createHAVIP(tx *state.Tx, req *createHAVIPRequest) (*createHAVIPResponse, error) {
	h, err := state.OnceMade(tx, "CreateHaVip", req.ClientToken, req, cloud.HAVIPs, func() (string, error) { return putHAVIP(tx, req) })
	if err != nil {
		return nil, err
	}
	return &createHAVIPResponse{h.ID, h.IPAddress}, nil
}

func putHAVIP(tx *state.Tx, req *createHAVIPRequest) (string, error) {
	s, err := cloud.VSwitches.Get(tx.View, req.VSwitchID)
	if err != nil {
		return "", err
	}
	group, err := cloud.ResourceGroupOf(tx.View, req.ResourceGroupID)
	if err != nil {
		return "", err
	}
	if err := tx.Use(cloud.QuotaHAVIPs, s.RegionID, 1); err != nil {
		return "", err
	}
	h := &cloud.HAVIP{Owner: s.Owner, ID: tx.NewID(cloud.HAVIPs.Kind()), VPCID: s.VPCID, VSwitchID: s.ID, Name: req.Name,
		Description: req.Description, ResourceGroupID: group, CreateTime: tx.Now()}
	h.IPAddress, err = cloud.AllocateAddress(tx, s.ID, s.CIDRBlock, req.IPAddress, cloud.HAVIPs.Kind(), h.ID)
	if err != nil {
		return "", err
	}
	cloud.HAVIPs.Put(tx, h)
	req.set(tx, cloud.TagHAVIP, h.ID)
	state.Enter(tx, cloud.StageHAVIPCreating, h.ID)
	return h.ID, nil
}

type deleteHAVIPRequest struct {
	RegionID    string `rpc:"RegionId,required"`
	ID          string `rpc:"HaVipId,required"`
	ClientToken string `rpc:"ClientToken"`
}

// deleteHAVIP deletes an address that nothing has or leads to. It needs no memory of
// its token: an HAVIP goes only once.
func deleteHAVIP(tx *state.Tx, req *deleteHAVIPRequest) (*gateway.Empty, error) {
	h, err := cloud.HAVIPs.Get(tx.View, req.ID)
	switch {
	case err != nil:
		return nil, err
	case len(h.InstanceIDs) > 0:
		return nil, errHAVIPInUse.Of(h.InstanceIDs[0])
	case h.Status != cloud.HAVIPAvailable:
		return nil, errHAVIPStatusIncorrect.Of(h.ID)
	}
	if eip, on := cloud.EIPsByInstance.First(tx.View, h.ID); on {
		return nil, errHAVIPInUse.Of(eip.ID)
	}
	if err := leadsNowhere(tx.View, h.ID); err != nil {
		return nil, err
	}
	state.Enter(tx, cloud.StageHAVIPDeleting, h.ID)
	return &gateway.Empty{}, nil
}

type modifyHAVIPAttributeRequest struct {
	gatewayText
	RegionID    string `rpc:"RegionId,required"`
	ID          string `rpc:"HaVipId,required"`
	ClientToken string `rpc:"ClientToken"`
}

// Validate implements the gateway's check of shape.
func (r *modifyHAVIPAttributeRequest) Validate() error { return r.gatewayText.check() }

func modifyHAVIPAttribute(tx *state.Tx, req *modifyHAVIPAttributeRequest) (*gateway.Empty, error) {
	return &gateway.Empty{}, state.EditOnce(tx, "ModifyHaVipAttribute", req.ClientToken, req, cloud.HAVIPs, req.ID, func(h *cloud.HAVIP) error {
		h.Name, h.Description = cmp.Or(req.Name, h.Name), cmp.Or(req.Description, h.Description)
		return nil
	})
}

type haVIPAssociationRequest struct {
	RegionID     string `rpc:"RegionId,required"`
	ID           string `rpc:"HaVipId,required"`
	InstanceID   string `rpc:"InstanceId,required"`
	InstanceType string `rpc:"InstanceType,default=EcsInstance,enum=EcsInstance|NetworkInterface"`
	ClientToken  string `rpc:"ClientToken"`
}

// associateHAVIP gives instances or interfaces of one vSwitch, but not both, the
// address: CLB-0565.
func associateHAVIP(tx *state.Tx, req *haVIPAssociationRequest) (*gateway.Empty, error) {
	return req.change(tx, "AssociateHaVip", func(h *cloud.HAVIP) error {
		vSwitchID, err := req.vSwitch(tx.View)
		switch {
		case err != nil:
			return err
		case vSwitchID != h.VSwitchID:
			return errHAVIPOutsideVSwitch.Of(req.InstanceID)
		case slices.Contains(h.InstanceIDs, req.InstanceID):
			return errHAVIPAssociated.Of(req.InstanceID)
		case !listing.Matches(h.InstanceType, req.InstanceType):
			return errHAVIPMixed.Of(h.InstanceType)
		}
		h.InstanceType, h.InstanceIDs = req.InstanceType, append(slices.Clone(h.InstanceIDs), req.InstanceID)
		return tx.Use(cloud.QuotaHAVIPInstances, h.ID, 1)
	}, cloud.StageHAVIPAssociating)
}

// vSwitch returns the vSwitch of the instance or interface.
func (r *haVIPAssociationRequest) vSwitch(v *state.View) (string, error) {
	if r.InstanceType == eipOnNetworkInterface {
		n, err := cloud.NetworkInterfaces.Get(v, r.InstanceID)
		if err != nil {
			return "", err
		}
		return n.VSwitchID, nil
	}
	i, err := cloud.Instances.Get(v, r.InstanceID)
	if err != nil {
		return "", err
	}
	return i.VSwitchID, nil
}

func unassociateHAVIP(tx *state.Tx, req *haVIPAssociationRequest) (*gateway.Empty, error) {
	return req.change(tx, "UnassociateHaVip", func(h *cloud.HAVIP) error {
		if !slices.Contains(h.InstanceIDs, req.InstanceID) || h.InstanceType != req.InstanceType {
			return errHAVIPNotAssociated.Of(req.InstanceID)
		}
		h.Drop(req.InstanceID)
		return nil
	}, cloud.StageHAVIPUnassociating)
}

func (r *haVIPAssociationRequest) change(tx *state.Tx, action string, change func(*cloud.HAVIP) error, stage state.Stage) (*gateway.Empty, error) {
	_, err := state.Once(tx, action, r.ClientToken, r, cloud.HAVIPs, func() (string, error) {
		var then cloud.HAVIPStatus
		err := cloud.HAVIPs.Edit(tx, r.ID, func(h *cloud.HAVIP) error {
			if h.Status != cloud.HAVIPAvailable && h.Status != cloud.HAVIPInUse {
				return errHAVIPStatusIncorrect.Of(h.ID)
			}
			err := change(h)
			then = h.Settled()
			return err
		})
		if err == nil {
			state.Enter(tx, stage, r.ID, string(then))
		}
		return r.ID, err
	})
	return &gateway.Empty{}, err
}

type haVIPFilter struct {
	Key    string   `rpc:"Key,enum=VpcId|VSwitchId|Status|IpAddress|HaVipId,invalid=HAVIPFilterKey"`
	Values []string `rpc:"Value,max=20"`
}

type describeHAVIPsRequest struct {
	listing.ByNumber
	listTagged
	RegionID        string        `rpc:"RegionId,required"`
	ResourceGroupID string        `rpc:"ResourceGroupId"`
	Filters         []haVIPFilter `rpc:"Filter"`
}

type describeHAVIPsResponse struct {
	listing.Numbered
	HAVIPs []haVIPView `rpc:"HaVips>HaVip"`
}

type haVIPView struct {
	ID               string            `rpc:"HaVipId"`
	VPCID            string            `rpc:"VpcId"`
	VSwitchID        string            `rpc:"VSwitchId"`
	RegionID         string            `rpc:"RegionId"`
	IPAddress        string            `rpc:"IpAddress"`
	Name             string            `rpc:"Name"`
	Description      string            `rpc:"Description"`
	Status           cloud.HAVIPStatus `rpc:"Status"`
	ChargeType       string            `rpc:"ChargeType"`
	InstanceType     string            `rpc:"AssociatedInstanceType"`
	InstanceIDs      []string          `rpc:"AssociatedInstances>associatedInstance"`       // the cloud's spelling
	EIPAddresses     []string          `rpc:"AssociatedEipAddresses>associatedEipAddresse"` // likewise
	MasterInstanceID string            `rpc:"MasterInstanceId"`
	ResourceGroupID  string            `rpc:"ResourceGroupId"`
	CreateTime       string            `rpc:"CreateTime"`
	Tags             []tagging.Tag     `rpc:"Tags>Tag"`
}

func describeHAVIPs(v *state.View, req *describeHAVIPsRequest) (*describeHAVIPsResponse, error) {
	hasTags := req.filter(v, cloud.TagHAVIP)
	var found []haVIPView
	for h := range cloud.HAVIPsByRegion.InScope(v) {
		if req.matches(h) && hasTags(h.ID) {
			found = append(found, viewHAVIP(v, h))
		}
	}
	list, page := listing.Number(found, req.PageNumber, req.PageSize)
	return &describeHAVIPsResponse{page, list}, nil
}

func (r *describeHAVIPsRequest) matches(h *cloud.HAVIP) bool {
	values := map[string]string{"VpcId": h.VPCID, "VSwitchId": h.VSwitchID, "Status": string(h.Status), "IpAddress": h.IPAddress, "HaVipId": h.ID}
	for _, f := range r.Filters {
		if f.Key != "" && !slices.Contains(f.Values, values[f.Key]) {
			return false
		}
	}
	return listing.Matches(r.ResourceGroupID, h.ResourceGroupID)
}

// viewHAVIP takes the first associated for the one that has the address: who
// has it they decide by ARP.
func viewHAVIP(v *state.View, h *cloud.HAVIP) haVIPView {
	view := haVIPView{ID: h.ID, VPCID: h.VPCID, VSwitchID: h.VSwitchID, RegionID: h.RegionID, IPAddress: h.IPAddress, Name: h.Name,
		Description: h.Description, Status: h.Status, ChargeType: "PostPaid", InstanceType: h.InstanceType, InstanceIDs: h.InstanceIDs,
		ResourceGroupID: h.ResourceGroupID, CreateTime: gateway.Second(h.CreateTime), Tags: tagging.Of(v, cloud.TagHAVIP, h.ID)}
	if len(h.InstanceIDs) > 0 {
		view.MasterInstanceID = h.InstanceIDs[0]
	}
	for eip := range cloud.EIPsByInstance.List(v, h.ID) {
		view.EIPAddresses = append(view.EIPAddresses, eip.IPAddress)
	}
	return view
}
