package fidelityrun

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/clbemu/clbemu/cmd/internal/realcloud"
)

// hider replaces what is an account's alone by placeholders, the same one each time.
type hider struct {
	placeholders map[string]string
	numbers      map[string]int
	literal      map[string]bool // texts of the published cases
	// replacer replaces by the placeholders. It is nil if there are new ones.
	replacer *strings.Replacer
}

func newHider(account string, c realcloud.Credentials, m Mapping) *hider {
	h := &hider{placeholders: make(map[string]string), numbers: make(map[string]int), literal: make(map[string]bool)}
	for _, secret := range []string{c.ID, c.Secret, c.Token} {
		h.put("credential", secret)
	}
	h.put("account", account)
	for _, p := range m.pairs {
		if !slices.Contains(zones, p[0]) && p[0] != defaultRegion {
			h.placeholders[p[1]] = p[0] // it stands for that
		}
	}
	return h
}

// put returns the placeholder of a text, and gives it one.
func (h *hider) put(class, text string) string {
	if text == "" {
		return ""
	}
	if h.placeholders[text] == "" {
		h.numbers[class]++
		h.placeholders[text] = fmt.Sprintf("%s-%d", class, h.numbers[class])
		h.replacer = nil
	}
	return h.placeholders[text]
}

// The fields by what they hold. Public values, such as a region or a version, stay.
var (
	publicField  = pattern(`(RegionId|HostId|ZoneId|LocalName|RegionEndpoint|ResourceType|Code|Status|Protocol|Type|Scheduler|Spec)$`)
	accountField = pattern(`(?i)(accountid|ownerid|owneraccount|^uid|userid|principalid|callerid)$`)
	addressField = pattern(`(?i)(ip|address|addresses|cidr|cidrblock|dnsname|domain|host|endpoint|url|uri|ipv4|ipv6)s?$`)
	nameField    = pattern(`(?i)(name|alias|commonname)s?$`)
	idField      = pattern(`(?i)(ids?|arn|fingerprint|serialnumber|token)$`)
	// plain is the form of values such as active, 2026-11-26T08:00Z, slb.s1.small and 100.
	plain = pattern(`^([a-zA-Z]+[a-zA-Z0-9_.]*|[0-9T:Z.-]{1,20})$`)
	// personal are fields of texts that a user chooses.
	personal = pattern(`(?i)(description|^key|^value|tagkey|tagvalue|comment|remark|reason|content|certificate|subject|issuer|cookie|hostid|log)`)
)

// class returns the class of a field's value, or "" for a public one.
func class(field, value string) string {
	switch {
	case value == "", field == "Message", field == "RequestId": // of which forms finds the account's
		return ""
	case accountField().MatchString(field):
		return "account"
	case publicField().MatchString(field) && plainOrPlace(value):
		return ""
	case idField().MatchString(field):
		return "id"
	case addressField().MatchString(field):
		return "address"
	case nameField().MatchString(field):
		return "name"
	case personal().MatchString(field), !plain().MatchString(value):
		return "text"
	}
	return ""
}

var place = pattern(`^[a-z]{2}(-[a-z0-9]+)+$|^[a-z0-9]+\.[a-z0-9.-]*aliyuncs\.com$`)

// plainOrPlace reports whether a value of a public field is one: names of zones in the
// language of the country are.
func plainOrPlace(value string) bool {
	return plain().MatchString(value) || place().MatchString(value) || !strings.ContainsFunc(value, func(r rune) bool { return r < 0x80 && r != ' ' && (r < 'A' || r > 'Z') && (r < '0' || r > '9') })
}

// learn gives what an answer has of the account its placeholders. Texts that the published
// case itself sends are no secrets.
func (h *hider) learn(e exchange) {
	for _, value := range e.params {
		if h.placeholders[value] == "" {
			h.literal[value] = true
		}
		for _, word := range strings.FieldsFunc(value, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_' && r != '.'
		}) {
			if h.placeholders[word] == "" {
				h.literal[word] = true
			}
		}
	}
	h.collect("", e.answer.Body)
}

// collect gives placeholders to a part of an answer.
func (h *hider) collect(field string, part any) {
	switch part := part.(type) {
	case string:
		if of := h.classOf(field, part); of != "" {
			h.put(of, part)
		}
	case float64:
		if number := fmt.Sprintf("%.0f", part); hidesNumber(field, number) {
			h.put("account", number)
		}
	case []any:
		for _, element := range part {
			h.collect(strings.TrimSuffix(field, "s"), element)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(part)) {
			h.collect(name, part[name])
		}
	}
}

// classOf returns what class does, but "" for names and texts that cases publish.
func (h *hider) classOf(field, value string) string {
	of := class(field, value)
	if h.literal[value] && (of == "name" || of == "text") {
		return ""
	}
	return of
}

// hidesNumber reports whether a number is an account's id, or another one.
func hidesNumber(field, number string) bool {
	return accountField().MatchString(field) || idField().MatchString(field) || len(number) >= 14
}

// hidden returns a part of an answer that was learned with placeholders.
func (h *hider) hidden(field string, part any) any {
	switch part := part.(type) {
	case string:
		if h.classOf(field, part) != "" {
			return h.placeholders[part]
		}
		return h.text(part)
	case float64:
		if number := fmt.Sprintf("%.0f", part); hidesNumber(field, number) {
			return h.placeholders[number]
		}
	case []any:
		copied := make([]any, len(part))
		for i, element := range part {
			copied[i] = h.hidden(strings.TrimSuffix(field, "s"), element)
		}
		return copied
	case map[string]any:
		copied := make(map[string]any, len(part))
		for _, name := range slices.Sorted(maps.Keys(part)) {
			copied[name] = h.hidden(name, part[name])
		}
		return copied
	}
	return part
}

// forms finds what looks like an account's wherever it stands, by class.
var forms = []struct {
	class string
	form  func() *regexp.Regexp
}{
	{"text", pattern(`-----BEGIN [^-]+-----[^-]*(-----END [^-]+-----)?`)},
	{"credential", pattern(`\b(LTAI|STS\.)[0-9A-Za-z]{8,}`)},
	{"request", pattern(`\b[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}\b`)},
	{"account", pattern(`\b[0-9]{14,20}\b`)},
	{"address", pattern(`\b(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?:/[0-9]{1,2})?\b`)},
	{"address", pattern(`\b(?:[0-9a-f]{1,4}:){2,7}[0-9a-f]{0,4}(?::[0-9a-f]{1,4})*(?:/[0-9]{1,3})?`)},
	{"id", pattern(`\b(?:lb|nlb|alb|rsp|sgp|lsn|vpc|vsw|i|eni|sg|acl|eip|cbwp|rg|rule|de|tls|job|ngw|vtb|cert|ca)-[0-9a-z]{6,}\b`)},
}

// shortest is the length of a text that is replaced wherever it stands; a shorter one only
// in quotes.
const shortest = 6

// text returns a text with placeholders, the longest first.
func (h *hider) text(text string) string {
	if h.replacer == nil {
		known := slices.SortedFunc(maps.Keys(h.placeholders), func(a, b string) int {
			if len(a) != len(b) {
				return len(b) - len(a)
			}
			return strings.Compare(a, b)
		})
		var pairs []string
		for _, value := range known {
			if len(value) >= shortest {
				pairs = append(pairs, value, h.placeholders[value])
			} else {
				pairs = append(pairs, `"`+value+`"`, `"`+h.placeholders[value]+`"`)
			}
		}
		h.replacer = strings.NewReplacer(pairs...)
	}
	text = h.replacer.Replace(text)
	for _, f := range forms {
		text = f.form().ReplaceAllStringFunc(text, func(found string) string {
			switch {
			case ofDefaultWorld().MatchString(found):
				return found
			case f.class == "request":
				return f.class // each one is another
			}
			return h.put(f.class, found)
		})
	}
	return text
}
