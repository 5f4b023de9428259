package gateway

import (
	"slices"
	"strconv"
	"strings"
)

// spelled returns the parameters with the names that the action reads, where a client
// writes one in other letter case, as LoadBalancerID: CLB-0199. A name that is sent in the
// action's own spelling too stays as it is.
func (d *decoder) spelled(params Params) Params {
	var known []Parameter
	renamed := params
	for i, param := range params {
		if d.reads(param.Name) {
			continue
		}
		if known == nil {
			known = d.parameters()
		}
		name, ok := spelledAs(known, param.Name)
		if _, sent := params.Find(name); !ok || sent {
			continue
		}
		if &renamed[0] == &params[0] {
			renamed = slices.Clone(params)
		}
		renamed[i].Name = name
	}
	if len(params) > 0 && &renamed[0] != &params[0] {
		renamed.sort()
	}
	return renamed
}

// spelledAs finds the parameter that has a name but for its letter case.
func spelledAs(known []Parameter, name string) (string, bool) {
	parts := strings.Split(name, ".")
	for _, p := range known {
		own := strings.Split(p.Name, ".")
		if len(own) != len(parts) {
			continue
		}
		same := true
		for i := range own {
			if _, err := strconv.Atoi(parts[i]); own[i] == "N" && err == nil {
				own[i] = parts[i]
			}
			same = same && strings.EqualFold(own[i], parts[i])
		}
		if same {
			return strings.Join(own, "."), true
		}
	}
	return "", false
}
