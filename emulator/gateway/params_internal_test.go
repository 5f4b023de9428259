package gateway

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// FuzzAppendQuery proves that parameters are read as net/url reads them, and are
// found by name and by prefix when they are in order.
func FuzzAppendQuery(f *testing.F) {
	for _, query := range []string{"", "a=1&b=%20+&a=2&&c", "a;b", "%zz=1", "a=%f", "=", "&", "b.2=y&b=x&b.1=z&b-=w&a.1=v",
		strings.Repeat("a=1&", 100), strings.Repeat("&", maxParams)} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		want, wantErr := url.ParseQuery(query)
		got, err := appendQuery(nil, query)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("appendQuery(%q) = %v, net/url says %v", query, err, wantErr)
		}
		if err != nil {
			return
		}
		got.sort()
		values := make(url.Values)
		for _, param := range got {
			values[param.Name] = append(values[param.Name], param.Value)
			if value, sent := got.Find(param.Name); !sent || value != want.Get(param.Name) {
				t.Errorf("Find(%q) of %q = %q, %t, net/url says %q", param.Name, query, value, sent, want.Get(param.Name))
			}
			under := slices.Collect(got.under(param.Name + "."))
			if n := len(slices.DeleteFunc(slices.Clone(got), func(p Param) bool { return !strings.HasPrefix(p.Name, param.Name+".") })); len(under) != n {
				t.Errorf("%d names of %q are under %q, want %d", len(under), query, param.Name, n)
			}
		}
		if !maps.EqualFunc(values, want, slices.Equal[[]string]) {
			t.Errorf("appendQuery(%q) = %v, net/url says %v", query, got, want)
		}
	})
}
