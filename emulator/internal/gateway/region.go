package gateway

import (
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// resolveRegion settles the region: the one that the call names, the host implies, as each region
// of the cloud has its own endpoint, the resource is in, or the account has. Evidence
// NLB-0027.
func (s *Server) resolveRegion(call *Call) *Problem {
	if call.Scope.RegionID == "" {
		call.Scope.RegionID = regionOfHost(call.view, call.Host)
	}
	if call.Scope.RegionID == "" {
		call.Scope.RegionID = regionOfResource(call.view, call)
	}
	if call.Scope.RegionID == "" {
		account, err := kinds.Accounts.Get(call.view, call.Scope.AccountID)
		if err != nil {
			return internalError(err)
		}
		call.Scope.RegionID = account.DefaultRegionID
	}
	region, known := kinds.Regions.Find(call.view, call.Scope.RegionID)
	if !known {
		return problemUnknownRegion
	}
	call.Scope.RegionID = region.ID // and not a part of the request, which rows would keep in memory
	return nil
}

// regionOfHost returns the region in a name such as nlb.cn-hangzhou.aliyuncs.com, or "" if it has
// none.
func regionOfHost(v *state.View, host string) string {
	name, cloudHost := strings.CutSuffix(strings.ToLower(host), ".aliyuncs.com")
	_, region, regional := strings.Cut(name, ".")
	if !cloudHost || !regional {
		return ""
	}
	if _, known := kinds.Regions.Find(v, region); !known {
		return ""
	}
	return region
}

// maxSought limits how many ids regionOfResource looks for.
const maxSought = 20

// regionOfResource returns the region of the first resource that the call names and its account
// has, or "" if there is no such resource.
func regionOfResource(v *state.View, call *Call) string {
	sought := 0
	for _, p := range call.Params {
		if !isID(p.Name) || p.Value == "" {
			continue
		}
		if owner := state.OwnerOf(v, p.Value); owner.AccountID == call.Scope.AccountID && owner.RegionID != "" {
			return owner.RegionID
		}
		if sought++; sought == maxSought {
			break
		}
	}
	return ""
}

// isID reports whether a parameter such as LoadBalancerId, JobIds.1 or ResourceId.1
// names a resource.
func isID(name string) bool {
	return strings.HasSuffix(name, "Id") || strings.Contains(name, "Id.") || strings.Contains(name, "Ids.")
}
