package contracttests

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/products"
)

// tagTexts are keys and values, and whether a resource can have them: CLB-0525.
var tagTexts = []struct {
	key, value string
	refused    bool
}{
	{"团队", strings.Repeat("标", 128), false},
	{strings.Repeat("标", 60), "", false},
	{strings.Repeat("k", 128), "aliyun", false},
	{strings.Repeat("标", 129), "", true},
	{"team", strings.Repeat("标", 129), true},
	{"aliyun", "", true},
	{"Aliyun-x", "", true},
	{"ACS:x", "", true},
	{"team http://x", "", true},
	{"team", "https://x", true},
}

// TestTagRule proves for every action that sets tags that one rule holds for them.
func TestTagRule(t *testing.T) {
	cases := apiCases()
	setters := 0
	for p, a := range emulated {
		put := tagSetter(a)
		if put == nil {
			continue
		}
		setters++
		at := slices.IndexFunc(cases, func(c apiCase) bool { return c.product == p.Name && c.action == a.Name && c.code == "" })
		t.Run(p.Name+"."+a.Name, func(t *testing.T) {
			t.Parallel()
			for _, tag := range tagTexts {
				c := preparedCloud(t, cases[at].before...)
				params := maps.Clone(c.names.resolve(cases[at].params))
				put(params, tag.key, tag.value)
				reply := c.send(p.Name, a.Name, "JSON", params)
				var refusal struct{ Code string }
				_ = json.Unmarshal(reply.Body.Bytes(), &refusal)
				if about := strings.Contains(refusal.Code, "Tag"); tag.refused != about || (reply.Code == http.StatusOK) == tag.refused {
					t.Errorf("a tag %s=%s: %d %s, want refused = %t", tag.key, tag.value, reply.Code, refusal.Code, tag.refused)
				}
			}
		})
	}
	if setters < 20 {
		t.Errorf("%d actions set tags, want all that do", setters)
	}
}

// tagSetter returns what puts a tag into the parameters of an action that sets tags,
// nil for any other.
func tagSetter(a products.Action) func(p params, key, value string) {
	if !a.Mutates || strings.HasSuffix(a.Name, "AccessLogsDownloadAttribute") { // these set no tags
		return nil
	}
	for _, parameter := range a.Parameters() {
		name := parameter.Name
		switch {
		case name == "Tag.N.Key" || name == "Tags.N.Key":
			list, _, _ := strings.Cut(name, ".")
			return func(p params, key, value string) {
				p[list+".1.Key"], p[list+".1.Value"] = key, value
			}
		case name == "Tags" && slices.Contains(parameter.Fields, "TagKey"):
			return func(p params, key, value string) {
				text, _ := json.Marshal([]map[string]string{{"TagKey": key, "TagValue": value}})
				p[name] = string(text)
			}
		}
	}
	return nil
}
