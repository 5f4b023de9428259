package vpc

import (
	"errors"
	"fmt"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var routeEntriesActions = []gateway.Action{
	gateway.Write("CreateRouteEntries", createRouteEntries),
	gateway.Write("DeleteRouteEntries", deleteRouteEntries),
}

// The refusals of this file.
var (
	errDestinationTaken = refusals.New("DestinationTaken", 400, "InvalidCIDRBlock.Duplicate",
		"Specified CIDR block is already exists.", "CLB-0300")
	errEntryNotFound = refusals.New("EntryNotFound", 400, "InvalidRouteEntry.NotFound",
		"Route entry not exists.", "CLB-0300")
	errEntryInTransit = refusals.New("EntryInTransit", 400, "IncorrectRouteEntryStatus",
		"Some route entry status blocked this operation.", "CLB-0350")
)

type createRouteEntriesRequest struct {
	RegionID     string     `rpc:"RegionId,required"`
	RouteEntries []newEntry `rpc:"RouteEntries,required,max=50"`
	gateway.Trial
}

type newEntry struct {
	RouteTableID         string `rpc:"RouteTableId,required"`
	DestinationCIDRBlock string `rpc:"DstCidrBlock,required"`
	IPVersion            int    `rpc:"IpVersion"`
	NextHopID            string `rpc:"NextHop,required"`
	NextHopType          string `rpc:"NextHopType,required"`
	Name                 string `rpc:"Name,len=1..128"`
	Description          string `rpc:"Description,len=1..256"`
}

// routeEntriesResult counts the entries that were changed and says why the others were
// not; its lists have no wrapper.
type routeEntriesResult struct {
	SuccessCount       int           `rpc:"SuccessCount"`
	FailedCount        int           `rpc:"FailedCount"`
	FailedRouteEntries []failedEntry `rpc:"FailedRouteEntries"`
}

type failedEntry struct {
	RouteEntryID         string `rpc:"RouteEntryId"`
	DestinationCIDRBlock string `rpc:"DstCidrBlock"`
	NextHopID            string `rpc:"NextHop"`
	FailedCode           string `rpc:"FailedCode"`
	FailedMessage        string `rpc:"FailedMessage"`
}

type createRouteEntriesResponse struct {
	routeEntriesResult
	RouteEntryIDs []string `rpc:"RouteEntryIds"`
}

// createRouteEntries creates as many entries as it can: the answer is a success that
// lists the failed ones; evidence CLB-0307.
func createRouteEntries(tx *state.Tx, req *createRouteEntriesRequest) (*createRouteEntriesResponse, error) {
	resp := &createRouteEntriesResponse{}
	others := changingVPCs(tx.View)
	for _, wanted := range req.RouteEntries {
		id, err := putNewEntry(tx, others, wanted)
		if err == nil {
			resp.RouteEntryIDs = append(resp.RouteEntryIDs, id)
			resp.SuccessCount++
			continue
		}
		failed := failedEntry{DestinationCIDRBlock: wanted.DestinationCIDRBlock, NextHopID: wanted.NextHopID}
		if err := resp.fail(failed, "CreateRouteEntry", err); err != nil {
			return nil, err
		}
	}
	return resp, nil
}

func putNewEntry(tx *state.Tx, others changing, wanted newEntry) (string, error) {
	isIPv6 := strings.Contains(wanted.DestinationCIDRBlock, ":")
	if wanted.IPVersion != 0 && (wanted.IPVersion == 6) != isIPv6 {
		return "", errCIDRMalformed.Of(wanted.DestinationCIDRBlock)
	}
	return putCustomEntry(tx, others, &kinds.RouteEntry{
		RouteTableID:         wanted.RouteTableID,
		DestinationCIDRBlock: wanted.DestinationCIDRBlock,
		NextHopType:          wanted.NextHopType,
		NextHopID:            wanted.NextHopID,
		Name:                 wanted.Name,
		Description:          wanted.Description,
	})
}

type deleteRouteEntriesRequest struct {
	RegionID     string       `rpc:"RegionId,required"`
	RouteEntries []namedEntry `rpc:"RouteEntries,max=50"`
	gateway.Trial
}

type namedEntry struct {
	RouteTableID         string `rpc:"RouteTableId,required"`
	RouteEntryID         string `rpc:"RouteEntryId"`
	DestinationCIDRBlock string `rpc:"DstCidrBlock"`
	NextHopID            string `rpc:"NextHop"`
}

func deleteRouteEntries(tx *state.Tx, req *deleteRouteEntriesRequest) (*routeEntriesResult, error) {
	resp := &routeEntriesResult{}
	others := changingVPCs(tx.View)
	for _, named := range req.RouteEntries {
		err := removeEntry(tx, others, named.request())
		if err == nil {
			resp.SuccessCount++
			continue
		}
		failed := failedEntry{
			RouteEntryID:         named.RouteEntryID,
			DestinationCIDRBlock: named.DestinationCIDRBlock,
			NextHopID:            named.NextHopID,
		}
		if err := resp.fail(failed, "DeleteRouteEntry", err); err != nil {
			return nil, err
		}
	}
	return resp, nil
}

// request names the entry as DeleteRouteEntry does, by its id if it has one.
func (e namedEntry) request() *deleteRouteEntryRequest {
	if e.RouteEntryID != "" {
		return &deleteRouteEntryRequest{RouteEntryID: e.RouteEntryID}
	}
	return &deleteRouteEntryRequest{RouteTableID: e.RouteTableID, DestinationCIDRBlock: e.DestinationCIDRBlock, NextHopID: e.NextHopID}
}

// failedCodes are the codes within an answer of success, where they are not those
// of the action for one entry. CCM takes them all for success.
var failedCodes = map[state.Fact]string{
	errDestinationTaken.Fact(): "VPC_ROUTE_ENTRY_CIDR_BLOCK_DUPLICATE",
	errEntryInTransit.Fact():   "VPC_ROUTE_ENTRY_STATUS_ERROR",
	errEntryNotFound.Fact():    "VPC_ROUTER_ENTRY_NOT_EXIST",
	state.NotFound:             "VPC_ROUTER_ENTRY_NOT_EXIST",
}

// fail notes why an entry was not changed, as the action for one entry puts it.
// An error that is no refusal fails the whole call.
func (r *routeEntriesResult) fail(entry failedEntry, action string, err error) error {
	var refusal *state.Error
	if !errors.As(err, &refusal) {
		return err
	}
	row, ok := errorTable().Row(action, refusal)
	if !ok {
		return err
	}
	entry.FailedCode, entry.FailedMessage = row.Code, row.Message
	if strings.Contains(row.Message, "%s") {
		entry.FailedMessage = fmt.Sprintf(row.Message, refusal.ID)
	}
	isTable := refusal.Kind == kinds.RouteTables.Kind()
	if code, ok := failedCodes[refusal.Fact]; ok && !isTable {
		entry.FailedCode = code
	}
	r.FailedCount++
	r.FailedRouteEntries = append(r.FailedRouteEntries, entry)
	return nil
}
