package gateway

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// readJSON reads a parameter of JSON, which has no more values than a call has
// parameters: each takes many times the memory of its text.
func readJSON(text string, into any) error {
	if values := strings.Count(text, ",") + strings.Count(text, "[") + strings.Count(text, "{"); values > maxParams {
		return fmt.Errorf("%d values are too many", values)
	}
	return json.Unmarshal([]byte(doubleQuoted(text)), into)
}

// doubleQuoted returns JSON for text whose strings may be in single quotes, as
// Terraform writes them: CLB-0019. What is JSON stays as it is.
func doubleQuoted(text string) string {
	if !strings.Contains(text, "'") {
		return text
	}
	var json strings.Builder
	var within byte // the quote of the string at hand
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case within == 0 && (c == '\'' || c == '"'):
			within = c
			json.WriteByte('"')
		case within == 0:
			json.WriteByte(c)
		case c == within:
			within = 0
			json.WriteByte('"')
		case c == '"':
			json.WriteString(`\"`)
		case c == '\\' && strings.HasPrefix(text[i+1:], "'"):
			json.WriteByte('\'')
			i++
		case c == '\\' && i+1 < len(text):
			json.WriteString(text[i : i+2])
			i++
		default:
			json.WriteByte(c)
		}
	}
	return json.String()
}

// Int is an integer in a JSON-text parameter: the documentation writes it as a
// string, some clients as a number. CLB-0017.
type Int int

var _ json.Unmarshaler = (*Int)(nil)

// UnmarshalJSON implements json.Unmarshaler.
func (n *Int) UnmarshalJSON(text []byte) error {
	s := strings.Trim(string(text), `"`)
	if s == "null" || s == "" {
		return nil
	}
	v, err := strconv.ParseInt(s, 10, 32)
	*n = Int(v)
	return err
}

// Text is a string in a JSON-text parameter, which some clients write as a
// number.
type Text string

var _ json.Unmarshaler = (*Text)(nil)

// UnmarshalJSON implements json.Unmarshaler.
func (s *Text) UnmarshalJSON(text []byte) error {
	var value any
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return err
	}
	switch v := value.(type) {
	case nil:
	case string:
		*s = Text(v)
	case json.Number:
		*s = Text(v)
	default:
		return fmt.Errorf("%T in place of a string", value)
	}
	return nil
}
