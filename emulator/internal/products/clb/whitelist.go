package clb

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// whiteListActions are about a listener's own white list, from
// before there were access control lists.
var whiteListActions = []gateway.Action{
	change("AddListenerWhiteListItem", addListenerWhiteListItem),
	change("RemoveListenerWhiteListItem", removeListenerWhiteListItem),
	change("SetListenerAccessControlStatus", setListenerAccessControlStatus),
	gateway.Read("DescribeListenerAccessControlAttribute", describeListenerAccessControlAttribute),
}

// The refusals of this file.
var (
	errWhiteListDisabled = refusals.New("WhiteListDisabled", 400, "Operation.NotAllowed",
		"WhiteList is Disabled while Acl is Enabled", "CLB-0200")
	errSourceItemsInvalid = refusals.New("SourceItemsInvalid", 400, "InvalidParameter.SourceItems",
		"The specified SourceItems %s is invalid.", "CLB-0203")
	errSourceItemMalformed = refusals.New("SourceItemMalformed", 400, "InvalidParameter.SourceItems",
		"The specified SourceItems %s is invalid.", "CLB-0203").
		In(400, "InvalidAddress", "%s,neither an IPv4 address nor a block", "CLB-0585", "AddListenerWhiteListItem")
	errWhiteListOfIPv6 = refusals.New("WhiteListOfIPv6", 400, "OperationFailed.ActionNotSupport",
		"The loadbalancer of ipv6 does not support such action.", "CLB-0200")
)

// The words of the API for a white list that is on or off.
const (
	openWhiteList  = "open_white_list"
	closeWhiteList = "close"
)

type whiteListRequest struct {
	RegionID         string         `rpc:"RegionId"`
	LoadBalancerID   string         `rpc:"LoadBalancerId,required"`
	ListenerPort     int            `rpc:"ListenerPort,required,min=1,max=65535"`
	ListenerProtocol kinds.Protocol `rpc:"ListenerProtocol,enum=tcp|udp|http|https"`
}

func (req *whiteListRequest) LoadBalancerOf(*state.View) (string, error) {
	return req.LoadBalancerID, nil
}

// edit changes the white list of the listener, which needs no time to settle.
func (req *whiteListRequest) edit(tx *state.Tx, change func(*kinds.Listener) error) (*gateway.Empty, error) {
	l, err := findListener(tx.View, req.LoadBalancerID, req.ListenerPort, req.ListenerProtocol)
	if err != nil {
		return nil, err
	}
	return &gateway.Empty{}, kinds.Listeners.Edit(tx, l.ID(), change)
}

type whiteListItemsRequest struct {
	whiteListRequest
	SourceItems string `rpc:"SourceItems,required"`
}

// items returns the addresses and blocks of the comma list.
func (req *whiteListItemsRequest) items() []string {
	list := commaList(req.SourceItems)
	for i, item := range list {
		list[i] = strings.TrimSpace(item)
	}
	return listing.Unique(list)
}

// Validate requires IPv4 addresses and blocks.
func (req *whiteListItemsRequest) Validate() error {
	for _, item := range req.items() {
		address, _, _ := strings.Cut(item, "/")
		if ip, err := netip.ParseAddr(address); err != nil || !ip.Is4() {
			return errSourceItemMalformed.Of(item)
		}
		if _, err := netip.ParsePrefix(item); err != nil && address != item {
			return errSourceItemMalformed.Of(item)
		}
	}
	return nil
}

type addWhiteListItemsRequest struct{ whiteListItemsRequest }

// Validate requires items that are not all addresses, for which access control is closed.
func (req *addWhiteListItemsRequest) Validate() error {
	for _, item := range req.items() {
		if item == "0.0.0.0" || item == "0.0.0.0/0" {
			return errSourceItemsInvalid.Of(item)
		}
	}
	return req.whiteListItemsRequest.Validate()
}

// addListenerWhiteListItem keeps the list as it is: an item that is on the list
// already is no error. CLB-0121.
func addListenerWhiteListItem(tx *state.Tx, req *addWhiteListItemsRequest) (*gateway.Empty, error) {
	return req.edit(tx, func(l *kinds.Listener) error {
		if l.AclStatus == kinds.On {
			return errWhiteListDisabled
		}
		items := slices.DeleteFunc(req.items(), func(item string) bool { return slices.Contains(l.WhiteList, item) })
		if err := tx.Use(kinds.QuotaWhiteList, l.ID(), len(items)); err != nil {
			return err
		}
		l.WhiteList = slices.Concat(l.WhiteList, items)
		return nil
	})
}

func removeListenerWhiteListItem(tx *state.Tx, req *whiteListItemsRequest) (*gateway.Empty, error) {
	return req.edit(tx, func(l *kinds.Listener) error {
		gone := req.items()
		l.WhiteList = slices.DeleteFunc(slices.Clone(l.WhiteList), func(item string) bool { return slices.Contains(gone, item) })
		return nil
	})
}

type setListenerAccessControlStatusRequest struct {
	whiteListRequest
	AccessControlStatus string `rpc:"AccessControlStatus,required,enum=open_white_list|close"`
}

func setListenerAccessControlStatus(tx *state.Tx, req *setListenerAccessControlStatusRequest) (*gateway.Empty, error) {
	lb, err := kinds.LoadBalancers.Get(tx.View, req.LoadBalancerID)
	if err != nil {
		return nil, err
	}
	if lb.AddressIPVersion == ipv6 {
		return nil, errWhiteListOfIPv6
	}
	return req.edit(tx, func(l *kinds.Listener) error {
		if req.AccessControlStatus == closeWhiteList {
			l.WhiteListStatus = kinds.Off
			return nil
		}
		if l.AclStatus == kinds.On {
			return errWhiteListDisabled
		}
		l.WhiteListStatus = kinds.On
		return nil
	})
}

type describeListenerAccessControlAttributeResponse struct {
	AccessControlStatus string `rpc:"AccessControlStatus"`
	SourceItems         string `rpc:"SourceItems"`
}

func describeListenerAccessControlAttribute(v *state.View, req *whiteListRequest) (*describeListenerAccessControlAttributeResponse, error) {
	l, err := findListener(v, req.LoadBalancerID, req.ListenerPort, req.ListenerProtocol)
	if err != nil {
		return nil, err
	}
	resp := &describeListenerAccessControlAttributeResponse{AccessControlStatus: closeWhiteList, SourceItems: strings.Join(l.WhiteList, ",")}
	if l.WhiteListStatus == kinds.On {
		resp.AccessControlStatus = openWhiteList
	}
	return resp, nil
}
