package nlb

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/products/nlb/changes"
	"github.com/clbemu/clbemu/state"
)

var serverActions = []gateway.Action{
	changes.ByJob(changing, "AddServersToServerGroup", addServersToServerGroup, ofServerGroupJob).Refusing(errServerDescriptionIllegal),
	changes.ByJob(changing, "UpdateServerGroupServersAttribute", updateServerGroupServersAttribute, ofServerGroupJob).
		Refusing(errServerDescriptionIllegal),
	changes.ByJob(changing, "RemoveServersFromServerGroup", removeServersFromServerGroup, ofServerGroupJob).
		Refusing(errServerDescriptionIllegal),
	gateway.Read("ListServerGroupServers", listServerGroupServers),
}

// The refusals of this file.
var (
	errServerTwice = refusals.New("ServerTwice", 400, "DuplicatedParam.Server",
		"The param of Server is duplicated.", "NLB-0001")
	errServerTypeMismatch = refusals.New("ServerTypeMismatch", 400, "Mismatch.ServerType",
		"The ServerType is mismatched for %s.", "NLB-0001")
	errServerPort = refusals.New("ServerPort", 400, "IllegalParam.RSPortConflictWithServerGroup",
		"The param of RSPortConflictWithServerGroup is illegal.", "NLB-0001")
	errServerIPIllegal = refusals.New("ServerIPIllegal", 400, "IllegalParam.IP",
		"The param of IP is illegal.", "NLB-0001")
	errIPv6Unsupported = refusals.New("IPv6Unsupported", 400, "OperationDenied.ServerGroupNotSupportIpv6",
		"The operation is not allowed because of ServerGroupNotSupportIpv6.", "NLB-0001")
	errInstanceUnknown = refusals.New("InstanceUnknown", 404, "ResourceNotFound.Ecs",
		"The specified resource of Ecs is not found.", "NLB-0001")
	errNetworkInterfaceUnknown = refusals.New("NetworkInterfaceUnknown", 404, "ResourceNotFound.Eni",
		"The specified resource Eni is not found.", "NLB-0001")
	errContainerUnknown = refusals.New("ContainerUnknown", 404, "ResourceNotFound.Eci",
		"The specified resource of Eci is not found.", "NLB-0001")
	errServerUnknown = refusals.New("ServerUnknown", 404, "ResourceNotFound.BackendServer",
		"The specified resource of BackendServer is not found.", "NLB-0001")
	errServerDescriptionIllegal = refusals.New("ServerDescriptionIllegal", 400, "IllegalParam.description",
		"The parameter description of server is illegal.", "NLB-0001")
	errServerTypeMissing = missing("ServerType")
)

// serverParam is an element of Servers.
type serverParam struct {
	ServerType  string  `rpc:"ServerType,words=Ecs|Eni|Eci|Ip,invalid=Illegal"`
	ServerID    string  `rpc:"ServerId,required"`
	ServerIP    string  `rpc:"ServerIp"`
	Port        int     `rpc:"Port,min=0,max=65535,invalid=Illegal"`
	Weight      *int    `rpc:"Weight,min=0,max=100,invalid=Illegal"`
	Description *string `rpc:"Description,len=2..256,invalid=ServerDescriptionIllegal"`
}

// serversRequest is about servers of a group.
type serversRequest struct {
	changes.Order
	ServerGroupID string        `rpc:"ServerGroupId,required"`
	Servers       []serverParam `rpc:"Servers,required,max=200,invalid=Illegal"`
}

// Validate enforces the rules of shape.
func (req *serversRequest) Validate() error {
	for i := range req.Servers {
		s := &req.Servers[i]
		switch {
		case s.ServerType == "":
			return errServerTypeMissing
		case s.ServerType == kinds.NLBServerIP && s.ServerIP == "":
			s.ServerIP = s.ServerID
		}
	}
	return nil
}

// indexOf finds the named member: by id and port, and by address where one
// is given.
func (s *serverParam) indexOf(members []kinds.NLBServer) int {
	return slices.IndexFunc(members, func(m kinds.NLBServer) bool {
		return m.ID == s.ServerID && m.Port == s.Port && (s.ServerIP == "" || m.IP == s.ServerIP)
	})
}

// changedGroup returns a copy of a group for a change.
func changedGroup(v *state.View, id string) (*kinds.NLBServerGroup, error) {
	g, err := availableGroup(v, id)
	if err != nil {
		return nil, err
	}
	changed := *g
	changed.Servers = slices.Clone(g.Servers)
	return &changed, nil
}

func addServersToServerGroup(tx *state.Tx, req *serversRequest) (*changes.Work, error) {
	changed, err := changedGroup(tx.View, req.ServerGroupID)
	if err != nil {
		return nil, err
	}
	for i := range req.Servers {
		s, err := admit(tx.View, changed, &req.Servers[i])
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(changed.Servers, func(m kinds.NLBServer) bool { return m.Is(s) }) {
			return nil, errServerTwice
		}
		s.Changing = "Adding"
		changed.Servers = append(changed.Servers, *s)
	}
	if err := useServers(tx.View, changed, len(req.Servers)); err != nil {
		return nil, err
	}
	return regroup(tx, changed), nil
}

// useServers refuses more servers than a group can have, and servers that are in too many
// groups. The added ones are the last of the group.
func useServers(v *state.View, g *kinds.NLBServerGroup, added int) error {
	already, _ := kinds.NLBServerGroups.Find(v, g.ID)
	ecis := g.ECIs() - already.ECIs()
	if err := v.Use(kinds.QuotaNLBECIs, g.ID, ecis); err != nil {
		return err
	}
	if err := v.Use(kinds.QuotaNLBServers, g.ID, added-ecis); err != nil {
		return err
	}
	for _, s := range g.Servers[len(g.Servers)-added:] {
		in := func(m kinds.NLBServer) bool { return m.ID == s.ID }
		if slices.ContainsFunc(already.Servers, in) {
			continue
		}
		if err := v.Use(kinds.QuotaNLBServerAdded, s.ID, 1); err != nil {
			return err
		}
	}
	for l := range kinds.NLBListenersByServerGroup.List(v, g.ID) {
		groups := kinds.NLBGroupsBehind(v, l.LoadBalancerID, "")
		groups[g.ID] = g
		if err := groups.Fit(v, l.LoadBalancerID); err != nil {
			return err
		}
	}
	return nil
}

// admit turns a parameter into a member of a group, or says why it can't be one.
func admit(v *state.View, g *kinds.NLBServerGroup, p *serverParam) (*kinds.NLBServer, error) {
	s := &kinds.NLBServer{Type: p.ServerType, ID: p.ServerID, IP: p.ServerIP, Port: p.Port, Weight: 100}
	set(&s.Weight, p.Weight)
	set(&s.Description, p.Description)
	switch {
	case (s.Type == kinds.NLBServerIP) != (g.Type == kinds.NLBGroupOfIPs):
		return nil, errServerTypeMismatch.Of(s.Type + " and " + g.Type)
	case g.AnyPortEnabled != (s.Port == 0):
		return nil, errServerPort
	}
	vpcID, err := locate(v, s)
	switch {
	case err != nil:
		return nil, err
	case s.Type != kinds.NLBServerIP && vpcID != g.VPCID:
		return nil, errVPCMismatch.Of(s.ID + " and " + g.ID)
	}
	if s.IP == "" {
		return s, nil
	}
	ip, err := netip.ParseAddr(s.IP)
	switch {
	case err != nil:
		return nil, errServerIPIllegal
	case ip.Is6() && g.AddressIPVersion != dualStack:
		return nil, errIPv6Unsupported
	case s.Type == kinds.NLBServerIP && !private(v, g.VPCID, ip):
		return nil, errServerIPIllegal
	}
	return s, nil
}

// Blocks of servers' addresses, next to those that netip knows as private ones: of the shared
// one the cloud's own services have a part.
var (
	sharedBlock   = netip.MustParsePrefix(kinds.ServiceBlock)
	servicesBlock = netip.MustParsePrefix("100.100.0.0/16")
	globalBlock   = netip.MustParsePrefix("2000::/3")
)

// private reports whether a group of IPs takes an address: one of its VPC, or a private one
// of another network. IPv6 addresses of VPCs are global ones (NLB-0036).
func private(v *state.View, vpcID string, ip netip.Addr) bool {
	if vpc, ok := kinds.VPCs.Find(v, vpcID); ok && vpc.Holds(ip) {
		return true
	}
	if ip.Is4In6() || ip.Zone() != "" {
		return false
	}
	return ip.IsPrivate() || globalBlock.Contains(ip) || sharedBlock.Contains(ip) && !servicesBlock.Contains(ip)
}

// locate finds where a server is: its VPC, its zone, and the address at which it is
// reached if the call gives none.
func locate(v *state.View, s *kinds.NLBServer) (vpcID string, err error) {
	switch s.Type {
	case kinds.NLBServerIP:
		return "", nil
	case kinds.NLBServerECS:
		i, ok := kinds.Instances.Find(v, s.ID)
		if !ok {
			return "", errInstanceUnknown
		}
		s.ZoneID = i.ZoneID
		if n, ok := kinds.NetworkInterfacesByInstance.First(v, i.ID, kinds.NetworkInterfacePrimary); ok {
			return i.VPCID, reach(s, n)
		}
		return i.VPCID, nil
	}
	n, ok := kinds.NetworkInterfaces.Find(v, s.ID)
	switch {
	case !ok && s.Type == kinds.NLBServerECI:
		return "", errContainerUnknown
	case !ok:
		return "", errNetworkInterfaceUnknown
	}
	s.ZoneID = n.ZoneID
	return n.VPCID, reach(s, n)
}

// reach settles the address: one of the interface's, or its first.
func reach(s *kinds.NLBServer, n *kinds.NetworkInterface) error {
	switch {
	case s.IP == "" && len(n.PrivateIPAddresses) > 0:
		s.IP = n.PrivateIPAddresses[0]
	case s.IP != "" && !slices.Contains(n.PrivateIPAddresses, s.IP) && !slices.Contains(n.IPv6Addresses, s.IP):
		return errServerIPIllegal
	}
	return nil
}

func updateServerGroupServersAttribute(tx *state.Tx, req *serversRequest) (*changes.Work, error) {
	return req.change(tx, func(servers []kinds.NLBServer, at int, to *serverParam) []kinds.NLBServer {
		set(&servers[at].Weight, to.Weight)
		set(&servers[at].Description, to.Description)
		servers[at].Changing = "Configuring"
		return servers
	})
}

func removeServersFromServerGroup(tx *state.Tx, req *serversRequest) (*changes.Work, error) {
	return req.change(tx, func(servers []kinds.NLBServer, at int, _ *serverParam) []kinds.NLBServer {
		return slices.Delete(servers, at, at+1)
	})
}

// change does something to each server that the request names. All must be in the group.
func (req *serversRequest) change(tx *state.Tx, do func(servers []kinds.NLBServer, at int, to *serverParam) []kinds.NLBServer) (*changes.Work, error) {
	changed, err := changedGroup(tx.View, req.ServerGroupID)
	if err != nil {
		return nil, err
	}
	for i := range req.Servers {
		at := req.Servers[i].indexOf(changed.Servers)
		if at < 0 {
			return nil, errServerUnknown
		}
		changed.Servers = do(changed.Servers, at, &req.Servers[i])
	}
	return regroup(tx, changed), nil
}

type listServerGroupServersRequest struct {
	gateway.Region
	listing.ByToken
	ServerGroupID string   `rpc:"ServerGroupId"`
	ServerIDs     []string `rpc:"ServerIds,max=40,invalid=Illegal"`
	ServerIPs     []string `rpc:"ServerIps,max=40,invalid=Illegal"`
}

type listServerGroupServersResponse struct {
	Servers []server `rpc:"Servers"`
	listing.Paging
}

type server struct {
	ServerGroupID string `rpc:"ServerGroupId"`
	ServerID      string `rpc:"ServerId"`
	ServerIP      string `rpc:"ServerIp"`
	ServerType    string `rpc:"ServerType"`
	Port          int    `rpc:"Port"`
	Weight        int    `rpc:"Weight"`
	Description   string `rpc:"Description"`
	ZoneID        string `rpc:"ZoneId,omitempty"`
	Status        string `rpc:"Status"`
}

// listServerGroupServers lists the servers of a group, or of all groups.
func listServerGroupServers(v *state.View, req *listServerGroupServersRequest) (*listServerGroupServersResponse, error) {
	groups := slices.Collect(kinds.NLBServerGroupsByRegion.InScope(v))
	if req.ServerGroupID != "" {
		g, err := kinds.NLBServerGroups.Get(v, req.ServerGroupID)
		if err != nil {
			return nil, err
		}
		groups = []*kinds.NLBServerGroup{g}
	}
	var list []server
	for _, g := range groups {
		for _, s := range g.Servers {
			if listing.Among(req.ServerIDs, s.ID) && listing.Among(req.ServerIPs, s.IP) {
				list = append(list, server{g.ID, s.ID, s.IP, s.Type, s.Port, s.Weight, s.Description, s.ZoneID, cmp.Or(s.Changing, "Available")})
			}
		}
	}
	part, page, err := listing.Cut(list, req.ByToken, func(s server) string {
		return s.ServerGroupID + "/" + s.ServerID + "/" + s.ServerIP + "/" + strconv.Itoa(s.Port)
	})
	if err != nil {
		return nil, err
	}
	return &listServerGroupServersResponse{part, page}, nil
}
