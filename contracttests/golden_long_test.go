package contracttests

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// longestGoldenList limits the elements of a list that an archive keeps: some replies list
// hundreds of instance types, five times over.
const longestGoldenList = 10

// cutLists leaves the first elements of each list in a JSON text, and every other byte as it
// is.
func cutLists(t testing.TB, text string) string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	token := func() json.Token {
		t.Helper()
		next, err := d.Token()
		if err != nil {
			t.Fatalf("%v in %.200s", err, text)
		}
		return next
	}
	var kept strings.Builder
	from := 0
	var value func()
	value = func() {
		begin, ok := token().(json.Delim)
		for n := 0; ok && d.More(); n++ {
			switch {
			case begin == '{':
				token()
				value()
			case n < longestGoldenList:
				value()
			default:
				kept.WriteString(text[from:d.InputOffset()])
				for d.More() {
					if err := d.Decode(new(json.RawMessage)); err != nil {
						t.Fatal(err)
					}
				}
				from = int(d.InputOffset())
			}
		}
		if ok {
			token()
		}
	}
	value()
	return kept.String() + text[from:]
}

// cutReply returns what an archive keeps of a reply in JSON, and the digest of the whole reply,
// which proves the rest, or "" if nothing is left out.
func cutReply(t testing.TB, reply string) (kept, digest string) {
	t.Helper()
	head, body, _ := strings.Cut(reply, "\n")
	short := cutLists(t, body)
	if short == body {
		return reply, ""
	}
	return head + "\n" + short, fmt.Sprintf("%d bytes, lists of more than %d cut, sha256 %x\n", len(body), longestGoldenList, sha256.Sum256([]byte(body)))
}

func TestCutReply(t *testing.T) {
	long := `"0","1","2","3","4","5","6","7","8","9"`
	for body, want := range map[string]string{
		`{"A":["0"],"B":{}}`:                  `{"A":["0"],"B":{}}`,
		`{"A":[` + long + `]}`:                `{"A":[` + long + `]}`,
		`{"A":[` + long + `,"x",{}],"B":[]}`:  `{"A":[` + long + `],"B":[]}`,
		`[[` + long + `,1],[` + long + `,2]]`: `[[` + long + `],[` + long + `]]`,
	} {
		kept, digest := cutReply(t, "200 application/json\n"+body)
		if kept != "200 application/json\n"+want || (digest == "") != (body == want) {
			t.Errorf("%s is kept as %s with %q, want %s", body, kept, digest, want)
		}
	}
}
