package jsonstream_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/clbemu/clbemu/state/jsonstream"
)

// document is the type that the tests read: {"name": text, "list": [values], other
// keys}.
type document struct {
	Name string
	List []json.RawMessage
}

func read(source io.Reader) (d document, err error) {
	r := jsonstream.New(source)
	err = r.Object(func(key string) error {
		switch key {
		case "name":
			return r.Value(&d.Name)
		case "list":
			return r.Array(func() error {
				var value json.RawMessage
				err := r.Value(&value)
				d.List = append(d.List, value)
				return err
			})
		}
		return r.Skip()
	})
	return d, errors.Join(err, r.End())
}

// Documents are read in any order of keys, what is not known is passed over, and
// what is broken, cut short or followed by something is an error.
func TestReader(t *testing.T) {
	long := strings.Repeat("x", 2*jsonstream.MaxValue)
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	for _, c := range []struct {
		text string
		want string // of the error
	}{
		{`{}`, ""},
		{`{"name": "n", "list": [1, "a", {"b": [2]}]}`, ""},
		{` {"list": [], "other": {"a": [1, {"b": null}]}, "name": "n"} ` + "\n", ""},
		{`{"other": ` + deep + `}`, ""},
		{`{"other": [` + strings.Repeat(`"xxxxxxxxxxxxxxx",`, jsonstream.MaxValue/10) + `1]}`, ""},
		{``, "unexpected EOF"},
		{`[]`, "want {"},
		{`{"list": {}}`, "want ["},
		{`{"name": 1}`, "cannot unmarshal"},
		{`{"name"}`, "invalid character"},
		{`{"list": [1, 2`, "EOF"},
		{`{"list": [1,]}`, "invalid character"},
		{`{"list": [`, "EOF"},
		{`{"other": {"a": `, "EOF"},
		{`{} {}`, "more behind it"},
		{`{}x`, "invalid character"},
		{`{"name": "` + long + `"}`, "more than"},
		{`{"list": ["` + long + `"]}`, "more than"},
		{`{"` + long + `": 1}`, "more than"},
	} {
		shown := fmt.Sprintf("%.40s of %d bytes", c.text, len(c.text))
		got, err := read(strings.NewReader(c.text))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s = %v, want %q", shown, err, c.want)
		}
		var want document
		if err == nil && (json.Unmarshal([]byte(c.text), &want) != nil || !reflect.DeepEqual(normal(got), normal(want))) {
			t.Errorf("%s is read as %+v, want %+v", shown, got, want)
		}
		if len(c.text) > 1000 {
			continue
		}
		slow, slowErr := read(iotest.OneByteReader(strings.NewReader(c.text)))
		if fmt.Sprint(slow, slowErr) != fmt.Sprint(got, err) {
			t.Errorf("%s, a byte at a time = %v, %v, want %v, %v", shown, slow, slowErr, got, err)
		}
	}
}

func normal(d document) string { return fmt.Sprintf("%s %s", d.Name, d.List) }

// Texts come back as added, whatever their size, once when they are
// drained, and are written as an array.
func TestTexts(t *testing.T) {
	var texts jsonstream.Texts
	var want []string
	for i := range 5000 {
		want = append(want, fmt.Sprintf("%q", strings.Repeat("x", i%997)))
	}
	want = append(want, fmt.Sprintf("%q", strings.Repeat("x", 1<<20)), "1", "{}")
	for _, text := range want {
		texts.Add([]byte(text))
	}
	collect := func(all iter.Seq[json.RawMessage]) (list []string) {
		for text := range all {
			list = append(list, string(text))
		}
		return list
	}
	if got := collect(texts.All()); !slices.Equal(got, want) {
		t.Errorf("%d texts come back, want the %d that were added", len(got), len(want))
	}
	var array strings.Builder
	if err := texts.Write(&array); err != nil || array.String() != "["+strings.Join(want, ",")+"]" {
		t.Errorf("an array of %d bytes is written (%v)", array.Len(), err)
	}
	if got := collect(texts.Drain()); !slices.Equal(got, want) {
		t.Errorf("%d texts are drained, want the %d that were added", len(got), len(want))
	}
	if got := collect(texts.Drain()); got != nil {
		t.Errorf("%d texts are drained twice", len(got))
	}
	for _, none := range []*jsonstream.Texts{nil, {}, &texts} {
		array.Reset()
		if err := none.Write(&array); err != nil || array.String() != "[]" || collect(none.All()) != nil {
			t.Errorf("no texts are written as %s (%v)", array.String(), err)
		}
	}
}

// FuzzReader proves that the reader rejects all that is no JSON, that no text makes the
// reader panic, and that it reads pieces as it reads the whole.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{`{"name": "n", "list": [1, {"a": []}], "x": {"y": null}}`, `{"list": [1,]}`, `{"a" 1}`, `{} {}`, `{"x": [1 2]}`, "", "[", `{"name":`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := read(strings.NewReader(text))
		if err == nil && !json.Valid([]byte(text)) {
			t.Errorf("%q is read, and is no JSON", text)
		}
		slow, slowErr := read(iotest.OneByteReader(strings.NewReader(text)))
		if fmt.Sprint(slow, slowErr) != fmt.Sprint(got, err) {
			t.Errorf("%q is read as %v, %v, and a byte at a time as %v, %v", text, got, err, slow, slowErr)
		}
	})
}

// TestInWords proves that what is said of a value of the wrong kind names its field and
// nothing of the source.
func TestInWords(t *testing.T) {
	for text, want := range map[string]string{
		`{"Name":{"Given":7}}`: "Name.Given can't be of the kind number",
		`[]`:                   "it can't be of the kind array",
		`{`:                    "unexpected end of JSON input",
	} {
		var into struct{ Name struct{ Given string } }
		if err := jsonstream.InWords(json.Unmarshal([]byte(text), &into)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
