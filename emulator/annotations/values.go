package annotations

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// taken are the values that an annotation takes.
type taken struct {
	// list are the only ones, from and to bound whole numbers, and form is the regular
	// expression of others, which words describe.
	list     []string
	number   bool
	from, to int
	form     *regexp.Regexp
	words    string
	// lenient values are those of which the CCM takes another one for the last of the list,
	// anyCase those whose letter case does not matter, and exact those whose does.
	lenient, anyCase, exact bool
}

// valuesOf reads values: a;b;c or 1..9 or a regular expression, with # before the words that
// describe it, and ~ before a list whose other values break nothing, ~= where the letter case
// matters. In a table | stands between products.
func valuesOf(text string) taken {
	var v taken
	text, words, _ := strings.Cut(text, " # ")
	text, v.lenient = strings.CutPrefix(text, "~")
	text, v.exact = strings.CutPrefix(text, "=")
	if from, to, ok := strings.Cut(text, ".."); ok {
		low, err := strconv.Atoi(from)
		high, err2 := strconv.Atoi(to)
		if err == nil && err2 == nil {
			v.number, v.from, v.to, v.words = true, low, high, fmt.Sprintf("a whole number from %d to %d", low, high)
			return v
		}
	}
	if !strings.ContainsAny(text, `()[]*+\`) {
		v.list = strings.Split(text, ";")
		v.words = listed(v.list)
		return v
	}
	v.form, v.words = regexp.MustCompile("^(?:"+strings.ReplaceAll(text, ";", "|")+")$"), words
	return v
}

// listed joins words as a person does.
func listed(list []string) string {
	if len(list) == 1 {
		return list[0]
	}
	return strings.Join(list[:len(list)-1], ", ") + " or " + list[len(list)-1]
}

// ValuesOf returns the values that an annotation takes for a product.
func (a *Annotation) ValuesOf(product string) taken {
	v := valuesOf(".+")
	for part := range strings.SplitSeq(a.Form, " | ") {
		text, own := strings.CutPrefix(part, product+" ")
		if own || !strings.HasPrefix(part, CLB+" ") && !strings.HasPrefix(part, NLB+" ") {
			v = valuesOf(text)
		}
	}
	v.anyCase = (product == NLB || v.lenient) && !v.exact
	return v
}

// Words says which values are taken, or returns "" if any is.
func (v taken) Words() string { return v.words }

// Takes reports whether a value is among them.
func (v taken) Takes(value string) bool {
	switch {
	case v.number:
		n, err := strconv.Atoi(value)
		return err == nil && n >= v.from && n <= v.to
	case v.list != nil:
		return slices.ContainsFunc(v.list, func(taken string) bool { return taken == value || v.anyCase && strings.EqualFold(taken, value) })
	}
	return v.form.MatchString(value)
}

// reads reports whether a CCM can read a value at all: numbers it must.
func (v taken) reads(value string) bool {
	_, err := strconv.Atoi(value)
	return !v.number || err == nil
}
