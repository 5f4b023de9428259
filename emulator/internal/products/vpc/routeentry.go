package vpc

import (
	"net/netip"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var routeEntryActions = []gateway.Action{
	gateway.Write("CreateRouteEntry", createRouteEntry),
	gateway.Write("DeleteRouteEntry", deleteRouteEntry),
	gateway.Read("DescribeRouteEntryList", describeRouteEntryList).Refusing(errIPVersionIllegal, errRouteEntryTypeIllegal),
}

// The refusals of this file.
var (
	errParameterMissing = refusals.New("ParameterMissing", 400, "MissingParameter",
		"Miss mandatory parameter.", "CLB-0300")
	errCIDRMalformed = refusals.New("CIDRMalformed", 400, "InvalidCidrBlock.Malformed",
		"Specified CIDR block is not valid.", "CLB-0300")
	errRouteEntryNameMalformed = refusals.New("RouteEntryNameMalformed", 400, "InvalidRouteEntryName.Malformed",
		"Specified RouteEntry name is not valid.", "CLB-0300")
	errDestinationReserved = refusals.New("DestinationReserved", 400, "InvalidDestinationCidrBlock",
		"The specified destinationCidrBlock must not included in black list cidr.", "CLB-0300")
	errRouteConflicts = refusals.New("RouteConflicts", 400, "RouteConflict.AlreadyExist",
		"Route conflict exists in routing table.", "CLB-0300")
	errIPv6NotEnabled = refusals.New("IPv6NotEnabled", 400, "OperationDenied.VpcIpv6NotEnabled",
		"IPv6 has not been enabled for the VPC.", "CLB-0300")
	errIPv6EntryOnCustomTable = refusals.New("IPv6EntryOnCustomTable", 400, "OperationDenied.Ipv6EntryOnCustomTable",
		"You cannot create any IPv6 route entry on a custom route table.", "CLB-0300")
	errNextHopTypeInvalid = refusals.New("NextHopTypeInvalid", 400, "InvalidNextHopType",
		`Specified parameter "NextHopType" is not valid.`, "CLB-0300")
	errNextHopTypeAndList = refusals.New("NextHopTypeAndList", 400, "InvalidNexthopTypeAndList.BothNotNull",
		"both nexthopType and nextHopList are not null.", "CLB-0300")
	errNextHopNeither = refusals.New("NextHopNeither", 400, "InvalidNexthopTypeAndList.BothNull",
		"both nexthopType and nextHopList are null.", "CLB-0300")
	errNextHopListSize = refusals.New("NextHopListSize", 400, "InvalidNexthopListSize",
		"nexthop size is illegal. Must be between 2 and 4.", "CLB-0300")
	errNextHopNotFound = refusals.New("NextHopNotFound", 400, "InvalidNextHop.NotFound",
		"Specified next hop does not exist.", "CLB-0300")
	errNextHopOutsideVPC = refusals.New("NextHopOutsideVPC", 404, "OperationFailed.InstanceDismatchCurrentVpc",
		"The specified instance does not exist in current vpc.", "CLB-0300")
	errNextHopWithoutIPv6 = refusals.New("NextHopWithoutIPv6", 400, "OperationFailed.NotSupportIPV6",
		"The specified next hop does not support IPv6.", "CLB-0300")
	errEntryNamedTwice = refusals.New("EntryNamedTwice", 400, "ParamExclusive.RouteEntryIdAndRouteTableIdOrDestCidrBlock",
		"RouteEntryId cannot come with RouteTableId or DestinationCidrBlock.", "CLB-0203")
	errEntryIsSystem = refusals.New("EntryIsSystem", 400, "OperationDenied",
		"Specified operation is denied as route entry type is system.", "CLB-0300")
	errOtherEntryInTransit = refusals.New("OtherEntryInTransit", 400, "TaskConflict",
		"The operation is too frequent, TaskConflict.", "CLB-0350").
		In(400, "TaskConflict", "The operation is too frequent, please wait a moment and try again.", "CLB-0350",
			"CreateRouteEntry")
	errNextHopIDAndList = refusals.New("NextHopIDAndList", 400, "ParamExclusive.NextHopIdAndList",
		"NextHopId and NextHopList cannot both be not null.", "CLB-0300")
	errNextHopMissing = refusals.New("NextHopMissing", 400, "InvalidNextHop",
		"Specified nexthop and nexthop list cannot both null.", "CLB-0300")
	errDeletedNextHopListSize = refusals.New("DeletedNextHopListSize", 400, "InvalidNextHopList.Size",
		"Nexthop list size should be between 2 and 16", "CLB-0300")
)

// The next hops that an entry can lead to here. The world has no others, so asking for
// one finds nothing.
const (
	nextHopInstance         = "Instance"
	nextHopNetworkInterface = "NetworkInterface"
	nextHopIPv6Gateway      = "IPv6Gateway"
	nextHopNATGateway       = "NatGateway"
)

// nextHop is an element of the list that spreads traffic over several.
type nextHop struct {
	ID     string `rpc:"NextHopId"`
	Type   string `rpc:"NextHopType"`
	Weight *int   `rpc:"Weight"`
}

type createRouteEntryRequest struct {
	RouteTableID         string    `rpc:"RouteTableId,required,missing=ParameterMissing"`
	DestinationCIDRBlock string    `rpc:"DestinationCidrBlock,required,missing=ParameterMissing"`
	NextHopID            string    `rpc:"NextHopId"`
	NextHopType          string    `rpc:"NextHopType,enum=Instance|HaVip|RouterInterface|NetworkInterface|VpnGateway|IPv6Gateway|NatGateway|Attachment|VpcPeer|Ipv4Gateway|GatewayEndpoint|Ecr,invalid=NextHopTypeInvalid"`
	NextHopList          []nextHop `rpc:"NextHopList"`
	Name                 string    `rpc:"RouteEntryName,len=1..128,invalid=RouteEntryNameMalformed"`
	Description          string    `rpc:"Description,len=1..256"`
	ClientToken          string    `rpc:"ClientToken"`
	gateway.Trial
}

// The number of next hops that one entry can spread traffic over; evidence
// CLB-0305.
const (
	minNextHops = 2
	maxNextHops = 4
)

// Validate implements the gateway's check of shape.
func (r *createRouteEntryRequest) Validate() error {
	hops := len(r.NextHopList)
	switch {
	case hops > 0 && r.NextHopType != "":
		return errNextHopTypeAndList
	case hops == 0 && r.NextHopType == "":
		return errNextHopNeither
	case hops > 0 && (hops < minNextHops || hops > maxNextHops):
		return errNextHopListSize
	}
	return plainText(r.Name, errRouteEntryNameMalformed)
}

type createRouteEntryResponse struct {
	RouteEntryID string `rpc:"RouteEntryId"`
}

func createRouteEntry(tx *state.Tx, req *createRouteEntryRequest) (*createRouteEntryResponse, error) {
	id, err := state.Once(tx, "CreateRouteEntry", req.ClientToken, req, kinds.RouteEntries, func() (string, error) {
		return putCustomEntry(tx, changingVPCs(tx.View), &kinds.RouteEntry{
			RouteTableID:         req.RouteTableID,
			DestinationCIDRBlock: req.DestinationCIDRBlock,
			NextHopType:          req.NextHopType,
			NextHopID:            req.NextHopID,
			Name:                 req.Name,
			Description:          req.Description,
		})
	})
	if err != nil {
		return nil, err
	}
	return &createRouteEntryResponse{RouteEntryID: id}, nil
}

// changing holds the VPCs whose routes another call is changing. A VPC takes one
// change at a time, and a batch is one change; evidence CLB-0350.
type changing map[string]bool

// changingVPCs must be asked before a call's own first change.
func changingVPCs(v *state.View) changing {
	vpcs := make(changing)
	for e := range kinds.RouteEntriesInTransit.List(v) {
		vpcs[e.VPCID] = true
	}
	return vpcs
}

func (c changing) check(vpcID string) error {
	if c[vpcID] {
		return errOtherEntryInTransit
	}
	return nil
}

// checkSettled refuses an entry that is on its way to another status.
func checkSettled(e *kinds.RouteEntry) error {
	if e.Status == kinds.RouteEntryPending || e.Status == kinds.RouteEntryDeleting {
		return errEntryInTransit
	}
	return nil
}

// putCustomEntry checks the entry, completes it and stores it. It changes nothing
// when it fails.
func putCustomEntry(tx *state.Tx, others changing, e *kinds.RouteEntry) (string, error) {
	table, err := kinds.RouteTables.Get(tx.View, e.RouteTableID)
	if err != nil {
		return "", err
	}
	destination, err := checkDestination(tx.View, table, e.DestinationCIDRBlock)
	if err != nil {
		return "", err
	}
	if err := others.check(table.VPCID); err != nil {
		return "", err
	}
	if err := tx.Use(kinds.QuotaRouteEntries, table.ID, 1); err != nil {
		return "", err
	}
	if err := checkNextHop(tx.View, table, e, destination); err != nil {
		return "", err
	}
	e.Owner = table.Owner
	e.ID = tx.NewID(kinds.RouteEntries.Kind())
	e.VPCID = table.VPCID
	e.Type = kinds.RouteTableCustom
	e.CreateTime = tx.Now()
	kinds.RouteEntries.Put(tx, e)
	state.Enter(tx, kinds.StageRouteEntryPending, e.ID)
	return e.ID, nil
}

// checkDestination refuses a block that the table leads to already, or that
// belongs to the cloud.
func checkDestination(v *state.View, table *kinds.RouteTable, text string) (netip.Prefix, error) {
	block, ok := parseCIDR(text)
	switch {
	case !ok:
		return block, errCIDRMalformed.Of(text)
	case within(block, netip.MustParsePrefix(kinds.ServiceBlock)):
		return block, errDestinationReserved.Of(text)
	}
	if e, ok := kinds.RouteEntriesByTable.First(v, table.ID, text); ok {
		return block, taken(e)
	}
	if block.Addr().Is4() {
		return block, nil
	}
	vpc, err := kinds.VPCs.Get(v, table.VPCID)
	switch {
	case err != nil:
		return block, err
	case vpc.IPv6CIDRBlock == "":
		return block, errIPv6NotEnabled
	case table.Type == kinds.RouteTableCustom:
		return block, errIPv6EntryOnCustomTable
	}
	return block, nil
}

// taken returns why an entry keeps others from its destination.
func taken(e *kinds.RouteEntry) error {
	if err := checkSettled(e); err != nil {
		return err
	}
	if e.Type == kinds.RouteTableCustom {
		return errDestinationTaken.Of(e.DestinationCIDRBlock)
	}
	return errRouteConflicts.Of(e.DestinationCIDRBlock)
}

func customEntries(v *state.View, routeTableID string) int {
	n := 0
	for e := range kinds.RouteEntriesByTable.List(v, routeTableID) {
		if e.Type == kinds.RouteTableCustom {
			n++
		}
	}
	return n
}

// checkNextHop finds what the entry leads to, which must be in the table's VPC
// and, for an IPv6 destination, must have an IPv6 address.
func checkNextHop(v *state.View, table *kinds.RouteTable, e *kinds.RouteEntry, destination netip.Prefix) error {
	switch vpcID, hasIPv6 := findNextHop(v, e.NextHopType, e.NextHopID); {
	case vpcID == "":
		return errNextHopNotFound.Of(e.NextHopID)
	case vpcID != table.VPCID:
		return errNextHopOutsideVPC.Of(e.NextHopID)
	case destination.Addr().Is4() && e.NextHopType == nextHopIPv6Gateway:
		return errNextHopTypeInvalid
	case destination.Addr().Is6() && !hasIPv6:
		return errNextHopWithoutIPv6.Of(e.NextHopID)
	}
	return nil
}

// findNextHop returns the VPC of a next hop, or "" if there is none.
func findNextHop(v *state.View, kind, id string) (vpcID string, hasIPv6 bool) {
	switch kind {
	case nextHopInstance:
		if i, ok := kinds.Instances.Find(v, id); ok {
			n, attached := kinds.NetworkInterfacesByInstance.First(v, i.ID, kinds.NetworkInterfacePrimary)
			return i.VPCID, attached && len(n.IPv6Addresses) > 0
		}
	case nextHopNetworkInterface:
		if n, ok := kinds.NetworkInterfaces.Find(v, id); ok {
			return n.VPCID, len(n.IPv6Addresses) > 0
		}
	case nextHopIPv6Gateway:
		if g, ok := kinds.IPv6Gateways.Find(v, id); ok {
			return g.VPCID, true
		}
	case nextHopNATGateway:
		if g, ok := kinds.NATGateways.Find(v, id); ok {
			return g.VPCID, false
		}
	}
	return "", false
}

type deleteRouteEntryRequest struct {
	RouteTableID         string         `rpc:"RouteTableId"`
	RouteEntryID         string         `rpc:"RouteEntryId"`
	DestinationCIDRBlock string         `rpc:"DestinationCidrBlock"`
	NextHopID            string         `rpc:"NextHopId"`
	NextHopList          []namedNextHop `rpc:"NextHopList"`
	gateway.Trial
}

// namedNextHop is a nextHop where its weight does not matter.
type namedNextHop struct {
	ID   string `rpc:"NextHopId"`
	Type string `rpc:"NextHopType"`
}

// maxDeletedNextHops limits the next hops that a deletion takes; evidence CLB-0305.
const maxDeletedNextHops = 16

// Validate implements the gateway's check of shape: a call names an entry by its id,
// or by its table, destination and next hops.
func (r *deleteRouteEntryRequest) Validate() error {
	hops := len(r.NextHopList)
	switch {
	case r.RouteEntryID != "" && (r.RouteTableID != "" || r.DestinationCIDRBlock != ""):
		return errEntryNamedTwice
	case r.RouteEntryID != "":
		return nil
	case r.RouteTableID == "":
		return errParameterMissing.Of("RouteTableId")
	case r.DestinationCIDRBlock == "":
		return errParameterMissing.Of("DestinationCidrBlock")
	case r.NextHopID != "" && hops > 0:
		return errNextHopIDAndList
	case r.NextHopID == "" && hops == 0:
		return errNextHopMissing
	case hops > 0 && (hops < minNextHops || hops > maxDeletedNextHops):
		return errDeletedNextHopListSize
	}
	return nil
}

func deleteRouteEntry(tx *state.Tx, req *deleteRouteEntryRequest) (*gateway.Empty, error) {
	if err := removeEntry(tx, changingVPCs(tx.View), req); err != nil {
		return nil, err
	}
	return &gateway.Empty{}, nil
}

func removeEntry(tx *state.Tx, others changing, req *deleteRouteEntryRequest) error {
	e, err := findRouteEntry(tx.View, req)
	if err != nil {
		return err
	}
	if e.Type == kinds.RouteTableSystem {
		return errEntryIsSystem
	}
	if err := checkSettled(e); err != nil {
		return err
	}
	if err := others.check(e.VPCID); err != nil {
		return err
	}
	state.Enter(tx, kinds.StageRouteEntryDeleting, e.ID)
	return nil
}

// findRouteEntry finds what the request names. No entry has several next hops,
// so a list of them names none.
func findRouteEntry(v *state.View, req *deleteRouteEntryRequest) (*kinds.RouteEntry, error) {
	if req.RouteEntryID != "" {
		return kinds.RouteEntries.Get(v, req.RouteEntryID)
	}
	if _, err := kinds.RouteTables.Get(v, req.RouteTableID); err != nil {
		return nil, err
	}
	if _, ok := parseCIDR(req.DestinationCIDRBlock); !ok {
		return nil, errCIDRMalformed.Of(req.DestinationCIDRBlock)
	}
	for e := range kinds.RouteEntriesByTable.List(v, req.RouteTableID, req.DestinationCIDRBlock) {
		if e.Type == kinds.RouteTableSystem || e.NextHopID == req.NextHopID {
			return e, nil
		}
	}
	return nil, errEntryNotFound.Of(req.DestinationCIDRBlock)
}
