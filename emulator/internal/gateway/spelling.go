package gateway

import (
	"slices"
	"strconv"
	"strings"
)

// spelled returns the parameters with the names that the action reads, where a client
// writes one in other letter case, as LoadBalancerID: CLB-0199. A name sent in the
// action's own spelling too stays as it is.
func (d *decoder) spelled(params Params) Params {
	renamed := params
	for i, param := range params {
		if d.reads(param.Name) {
			continue
		}
		name, ok := d.spelledAs(param.Name)
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
func (d *decoder) spelledAs(name string) (string, bool) {
	own, ok := d.spellings()[withoutCase(name)]
	if !ok {
		return "", false
	}
	parts := strings.Split(name, ".")
	own = slices.Clone(own)
	for i := range own {
		if own[i] == "N" && isNumber(parts[i]) {
			own[i] = parts[i]
		}
	}
	return strings.Join(own, "."), true
}

// byLetters returns the parts of the parameters' names by the letters that all their spellings
// share.
func (d *decoder) byLetters() map[string][]string {
	names := make(map[string][]string)
	for _, p := range d.parameters() {
		if key := withoutCase(p.Name); names[key] == nil {
			names[key] = strings.Split(p.Name, ".")
		}
	}
	return names
}

// withoutCase returns a name in small letters, with n for each number.
func withoutCase(name string) string {
	parts := strings.Split(strings.ToLower(name), ".")
	for i, part := range parts {
		if isNumber(part) {
			parts[i] = "n"
		}
	}
	return strings.Join(parts, ".")
}

func isNumber(part string) bool {
	_, err := strconv.Atoi(part)
	return err == nil
}
