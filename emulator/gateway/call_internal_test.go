package gateway

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// FuzzParseQuery proves that parameters are read as net/url reads them.
func FuzzParseQuery(f *testing.F) {
	for _, query := range []string{"", "a=1&b=%20+&a=2&&c", "a;b", "%zz=1", "a=%f", "=", "&", strings.Repeat("a=1&", 100), strings.Repeat("&", maxParams)} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		want, wantErr := url.ParseQuery(query)
		got, err := parseQuery(query)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("parseQuery(%q) = %v, net/url says %v", query, err, wantErr)
		}
		if err == nil && !maps.EqualFunc(got, want, slices.Equal[[]string]) {
			t.Errorf("parseQuery(%q) = %v, net/url says %v", query, got, want)
		}
	})
}
