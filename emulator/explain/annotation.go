package explain

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/clbemu/clbemu/emulator/annotations"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/spelling"
)

// domain begins the keys of the CCM's annotations.
const domain = "service.beta.kubernetes.io/"

// annotationKey matches what may be the key of an annotation of Services, also without its
// domain.
var annotationKey = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[^a-z0-9./-])((?:service\.beta\.kubernetes\.io/)?(?:alibaba-cloud|alicloud)-loadbalancer-[a-z0-9-]*[a-z0-9]|service\.beta\.kubernetes\.io/(?:class|backend-type)[a-z0-9-]*)`)
})

// longestKey is longer than any key.
const longestKey = 128

// keyIn returns the first key of an annotation in a text, or "" for none.
func keyIn(lower string) string {
	if found := annotationKey().FindStringSubmatch(lower); found != nil && len(found[1]) <= longestKey {
		return found[1]
	}
	return ""
}

// asksOfKey reports whether a text is a key, or asks what it is.
func asksOfKey(lower string) bool {
	key := keyIn(lower)
	rest := slices.DeleteFunc(telling(strings.ReplaceAll(lower, key, " ")), func(word string) bool { return word == "annotation" })
	return key != "" && len(rest) == 0
}

// annotationIn answers for the first annotation that a text names, with the cures of a topic that
// are about it, or about the one with which its name begins.
func annotationIn(lower string, near *topic) (found Found, ok bool) {
	key := keyIn(lower)
	if key == "" {
		return found, false
	}
	key = domain + strings.TrimPrefix(key, domain)
	answer := Answer{Title: key, Cures: []string{}, Causes: []controlapi.Cause{}, Scenarios: []string{}, Documented: []string{}}
	found.Others = []Answer{}
	a, ok := annotations.Find(key)
	if !ok {
		answer.Happened = "No CCM that clbemu knows reads this annotation."
		if meant := meantBy(key); meant != "" {
			answer.Cures = append(answer.Cures, "Write "+meant+".")
		}
		found.Best = answer
		return found, true
	}
	answer.Happened, answer.Note = about(&a), "CCMs from "+a.Since+" on read it."
	if a.Until != "" {
		answer.Cures = append(answer.Cures, "With a CCM from "+a.Until+" on, write "+a.Successor+".")
	}
	if near != nil {
		for _, cure := range near.Cures {
			if named := keyIn(strings.ToLower(cure)); named != "" && strings.HasPrefix(a.Key(), named) {
				answer.Cures, found.Others = append(answer.Cures, cure), []Answer{*near.answer()}
			}
		}
	}
	answer.Cures = append(answer.Cures, "Check it with the Service around it: `clbemu lint-service FILE`.")
	found.Best = answer
	return found, true
}

// meantBy returns the key whose name after the prefix is most like that of another, or "" if none
// is like it.
func meantBy(key string) string {
	_, name, _ := strings.Cut(key, "-loadbalancer-")
	keys := make(map[string]string)
	var names []string
	for _, a := range annotations.All() {
		keys[a.Name], names = a.Key(), append(names, a.Name)
	}
	return keys[spelling.Nearest(strings.TrimPrefix(name, domain), names)]
}

// about says what an annotation sets, and the values that it takes.
func about(a *annotations.Annotation) string {
	text := strings.ToUpper(a.Help[:1]) + a.Help[1:] + "."
	for _, product := range a.Products {
		if words := a.ValuesOf(product).Words(); words != "" {
			text += " " + strings.ToUpper(product) + ": " + words + "."
		}
	}
	return text
}
