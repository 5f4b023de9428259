package explain

import (
	"regexp"
	"strings"
	"sync"

	"github.com/clbemu/clbemu/emulator/annotations"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/spelling"
)

// annotationKey matches what may be the key of an annotation of Services, also without its
// domain.
var annotationKey = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:service\.beta\.kubernetes\.io/)?(?:alibaba-cloud|alicloud)-loadbalancer-[a-z0-9]+(?:-[a-z0-9]+)*|service\.beta\.kubernetes\.io/(?:class|backend-type)\b`)
})

// namesAnnotation reports whether a text is the key of an annotation, with no word beside it that
// says what is asked.
func namesAnnotation(lower string) bool {
	key := annotationKey().FindString(lower)
	return key != "" && len(telling(strings.ReplaceAll(lower, key, " "))) == 0
}

// annotationIn answers for the first annotation that a text names, with the cures of a topic that
// are about it, or about the one that its name begins with.
func annotationIn(lower string, near *topic) (found Found, ok bool) {
	key := annotationKey().FindString(lower)
	if key == "" {
		return found, false
	}
	const domain = "service.beta.kubernetes.io/"
	key = domain + strings.TrimPrefix(key, domain)
	answer := Answer{Title: key, Cures: []string{}, Causes: []controlapi.Cause{}, Scenarios: []string{}, Documented: []string{}}
	found.Others = []Answer{}
	a, ok := annotations.Find(key)
	if !ok {
		answer.Happened = "No CCM that clbemu knows reads this annotation."
		if meant := spelling.Nearest(key, annotations.Keys()); meant != "" {
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
			if named := annotationKey().FindString(cure); named != "" && strings.HasPrefix(a.Key(), named) {
				answer.Cures, found.Others = append(answer.Cures, cure), []Answer{*near.answer()}
			}
		}
	}
	answer.Cures = append(answer.Cures, "Check it with the Service around it: `clbemu lint-service FILE`.")
	found.Best = answer
	return found, true
}

// about says what an annotation sets, and the values that it takes.
func about(a *annotations.Annotation) string {
	text := strings.ToUpper(a.Help[:1]) + a.Help[1:] + "."
	for _, product := range a.Products {
		text += " " + strings.ToUpper(product) + ": " + a.ValuesOf(product).Words() + "."
	}
	return text
}
