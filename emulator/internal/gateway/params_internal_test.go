package gateway

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// FuzzAppendQuery proves that parameters are read as net/url reads them, and are
// found by name, and as elements of lists, when they are in order.
func FuzzAppendQuery(f *testing.F) {
	for _, query := range []string{"", "a=1&b=%20+&a=2&&c", "a;b", "%zz=1", "a=%f", "=", "&", "b.2=y&b=x&b.1=z&b-=w&a.1=v",
		"s.2.P=e&s.10.P=d&s.1.Q=c&s.1.P=b&s.1=a&s.1-x=n&s.01=n&s.0=n&s.x=n&s.99999=n&s.10000=f&s=n",
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
			var elements []string
			for _, e := range got.elements(param.Name + ".") {
				for _, field := range e.fields {
					elements = append(elements, fmt.Sprintf("%s.%d.%s=%s", param.Name, e.number, field.Name, field.Value))
				}
				if e.value != "" {
					elements = append(elements, fmt.Sprintf("%s.%d=%s", param.Name, e.number, e.value))
				}
			}
			if want := elementsOf(want, param.Name); !sameTexts(elements, want) {
				t.Errorf("the elements of %q in %q are %q, want %q", param.Name, query, elements, want)
			}
		}
		if !maps.EqualFunc(values, want, slices.Equal[[]string]) {
			t.Errorf("appendQuery(%q) = %v, net/url says %v", query, got, want)
		}
	})
}

var elementName = regexp.MustCompile(`(?s)^([1-9][0-9]*)(\..*)?$`)

// elementsOf finds the elements of a list by a look at each parameter. Of a value
// that came twice it has the last, which fails the call anyway.
func elementsOf(values url.Values, list string) (found []string) {
	for name, sent := range values {
		rest, ok := strings.CutPrefix(name, list+".")
		parts := elementName.FindStringSubmatch(rest)
		if !ok || parts == nil {
			continue
		}
		if n, err := strconv.Atoi(parts[1]); err != nil || n > maxElement {
			continue
		}
		if parts[2] == "" {
			sent = slices.DeleteFunc(sent[len(sent)-1:], func(value string) bool { return value == "" })
		}
		for _, value := range sent {
			found = append(found, name+"="+value)
		}
	}
	return found
}

func sameTexts(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
