package gateway

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/clbemu/clbemu/state"
)

// decoder fills a request struct from parameters. The package builds it once, from the
// struct's tags, when it is first needed.
type decoder struct {
	typ       reflect.Type
	fields    []decodeField
	spellings func() map[string][]string // the parameters' names, made when a client spells one otherwise
}

type decodeField struct {
	name     string
	index    []int
	kind     reflect.Kind // of the value, behind a pointer or in a slice
	pointer  bool
	list     bool
	dotted   string   // of a list: its name and the dot before the numbers
	element  *decoder // of a list of structs
	json     bool
	rules    rules
	fallback string // default=
}

// rules are the options of a tag that restrict a value.
type rules struct {
	required               bool
	kept                   bool // one that is sent empty is not absent
	min, max, except, also *int64
	minLen, maxLen         int // of characters; maxLen 0 is no limit
	form                   *regexp.Regexp
	enum                   []string
	folds                  bool // a word of the enum may come in any case
	missing, invalid       state.Fact
}

// bound returns the place of an option's number, or nil for an option of another kind.
func (r *rules) bound(option string) **int64 {
	switch option {
	case "min":
		return &r.min
	case "max":
		return &r.max
	case "except":
		return &r.except
	case "also":
		return &r.also
	}
	return nil
}

func newDecoder(t reflect.Type) *decoder {
	d := &decoder{typ: t}
	d.spellings = sync.OnceValue(d.byLetters)
	for f := range fieldsOf(t) {
		if f.tagged {
			d.fields = append(d.fields, newDecodeField(f.StructField, f.tag, f.at))
		}
	}
	return d
}

func newDecodeField(f reflect.StructField, tag string, index []int) decodeField {
	name, options, _ := strings.Cut(tag, ",")
	field := decodeField{name: name, index: index}
	for option := range strings.SplitSeq(options, ",") {
		field.option(f, option)
	}
	t := f.Type
	if t.Kind() == reflect.Pointer {
		field.pointer, t = true, t.Elem()
	}
	if t.Kind() == reflect.Slice && !field.json {
		field.list, field.dotted, t = true, name+".", t.Elem()
		if t.Kind() == reflect.Struct {
			field.element = newDecoder(t)
		}
	}
	field.kind = t.Kind()
	if words, ok := reflect.Zero(t).Interface().(interface{ Words() []string }); ok {
		field.rules.enum = words.Words()
	}
	switch {
	case field.json, field.element != nil:
	case field.kind == reflect.String, field.kind == reflect.Int, field.kind == reflect.Int64, field.kind == reflect.Bool:
	default:
		panic(fmt.Sprintf("gateway: field %s has a type that no parameter has", f.Name))
	}
	return field
}

func (field *decodeField) option(f reflect.StructField, option string) {
	key, value, _ := strings.Cut(option, "=")
	integer := func() *int64 {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			panic(fmt.Sprintf("gateway: field %s: option %s: %v", f.Name, option, err))
		}
		return &n
	}
	if bound := field.rules.bound(key); bound != nil {
		*bound = integer()
		return
	}
	switch key {
	case "":
	case "required":
		field.rules.required = true
	case "kept":
		field.rules.kept = true
	case "json":
		field.json = true
	case "default":
		field.fallback = value
	case "len":
		if _, err := fmt.Sscanf(value, "%d..%d", &field.rules.minLen, &field.rules.maxLen); err != nil {
			panic(fmt.Sprintf("gateway: field %s: option %s: %v", f.Name, option, err))
		}
	case "form":
		if field.rules.form = forms()[value]; field.rules.form == nil {
			panic(fmt.Sprintf("gateway: field %s: no form is called %s", f.Name, value))
		}
	case "enum":
		field.rules.enum = strings.Split(value, "|")
	case "words":
		field.rules.folds = true
		if value != "" {
			field.rules.enum = strings.Split(value, "|")
		}
	case "missing":
		field.rules.missing = state.Fact(value)
	case "invalid":
		field.rules.invalid = state.Fact(value)
	default:
		panic(fmt.Sprintf("gateway: field %s: unknown option %q", f.Name, option))
	}
}

func (d *decoder) parameters() []Parameter {
	var ps []Parameter
	for _, f := range d.fields {
		switch {
		case f.element != nil:
			for _, p := range f.element.parameters() {
				p.Name, p.Items = f.name+".N."+p.Name, f.items()
				ps = append(ps, p)
			}
		default:
			p := f.parameter()
			if f.json {
				p.Fields = jsonFields(d.typ.FieldByIndex(f.index).Type)
			}
			ps = append(ps, p)
		}
	}
	return ps
}

// parameter returns the tag's declaration of a value, or of the elements of a list.
func (f *decodeField) parameter() Parameter {
	p := Parameter{Name: f.name, Required: f.rules.required, Type: f.kind.String(), Values: f.rules.enum}
	if f.list {
		p.Name, p.Items = f.name+".N", f.items()
	}
	switch {
	case f.json && f.kind == reflect.Slice:
		p.Type = "json"
	case f.json:
		p.Type = "object"
	case f.kind == reflect.String && f.rules.maxLen > 0:
		p.Range = fmt.Sprintf("%d..%d", f.rules.minLen, f.rules.maxLen)
	case f.kind == reflect.Int || f.kind == reflect.Int64:
		p.Type = fmt.Sprintf("int%d", f.bits())
		if !f.list && (f.rules.min != nil || f.rules.max != nil) {
			p.Range = bound(f.rules.min) + ".." + bound(f.rules.max)
		}
	}
	return p
}

// bound writes the end of a range, "" for none.
func bound(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}

// items returns how many elements a list may have.
func (f *decodeField) items() int {
	if f.rules.max == nil {
		return 0
	}
	return int(*f.rules.max)
}

// refusals names the refusals that tags ask for.
func (d *decoder) refusals() (names []state.Fact) {
	for _, f := range d.fields {
		for _, name := range []state.Fact{f.rules.missing, f.rules.invalid} {
			if name != "" {
				names = append(names, name)
			}
		}
		if f.element != nil {
			names = append(names, f.element.refusals()...)
		}
	}
	return names
}

// jsonFields returns the fields of the objects in a list of structs.
func jsonFields(list reflect.Type) (names []string) {
	if list.Kind() != reflect.Slice || list.Elem().Kind() != reflect.Struct {
		return nil
	}
	for _, f := range reflect.VisibleFields(list.Elem()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		names = append(names, name)
	}
	return names
}

// bare returns the name of a list that a call has in one text, or "" if there is none.
func (d *decoder) bare(params Params) string {
	for i := range d.fields {
		if _, sent := params.Find(d.fields[i].name); sent && d.fields[i].list {
			return d.fields[i].name
		}
	}
	return ""
}

// decode returns a pointer to a filled request struct.
func (d *decoder) decode(params Params) (any, error) {
	v := reflect.New(d.typ)
	if err := d.fill(v.Elem(), params, ""); err != nil {
		return nil, err
	}
	return v.Interface(), nil
}

// fill reads the parameters of a request, or of an element of a list, which came under
// the prefix.
func (d *decoder) fill(v reflect.Value, params Params, prefix string) error {
	for i := range d.fields {
		f := &d.fields[i]
		target := v.FieldByIndex(f.index)
		var err error
		text, sent := params.Find(f.name)
		switch {
		case f.list:
			err = f.setList(target, params, prefix)
		case sent && text == "" && f.rules.kept:
			target.Set(reflect.New(target.Type().Elem()))
		default:
			err = f.set(target, text, prefix)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *decodeField) missing(prefix string) error {
	if f.rules.missing != "" {
		return state.Refuse(f.rules.missing, prefix+f.name)
	}
	return Missing(prefix + f.name)
}

func (f *decodeField) invalid(prefix string) error { return f.invalidAs(prefix + f.name) }

func (f *decodeField) invalidAs(name string) error {
	if f.rules.invalid != "" {
		return state.Refuse(f.rules.invalid, name)
	}
	return Invalid(name)
}

// set stores one value. The clients drop empty values, so an empty one counts
// as absent: CLB-0016.
func (f *decodeField) set(target reflect.Value, text, prefix string) error {
	if text == "" {
		if f.rules.required {
			return f.missing(prefix)
		}
		if f.fallback == "" {
			return nil
		}
		text = f.fallback
	}
	if f.pointer {
		target.Set(reflect.New(target.Type().Elem()))
		target = target.Elem()
	}
	if f.json {
		if readJSON(text, target.Addr().Interface()) != nil {
			return f.invalid(prefix)
		}
		return nil
	}
	if !f.assign(target, text) {
		return f.invalid(prefix)
	}
	return nil
}

// assign parses and stores a scalar; false means that it breaks a rule.
func (f *decodeField) assign(target reflect.Value, text string) bool {
	switch f.kind {
	case reflect.String:
		word, ok := f.rules.word(text)
		if !ok {
			return false
		}
		target.SetString(word)
	case reflect.Bool:
		b := strings.EqualFold(text, "true")
		if !b && !strings.EqualFold(text, "false") {
			return false
		}
		target.SetBool(b)
	default:
		n, err := strconv.ParseInt(text, 10, f.bits())
		if err != nil || !f.rules.admits(n) {
			return false
		}
		target.SetInt(n)
	}
	return true
}

// admits reports whether a number is in the range.
func (r *rules) admits(n int64) bool {
	if r.also != nil && n == *r.also {
		return true
	}
	return (r.min == nil || n >= *r.min) && (r.max == nil || n <= *r.max) && (r.except == nil || n != *r.except)
}

// forms holds the forms of texts that the pages of several products and actions describe alike.
var forms = sync.OnceValue(func() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		"letterFirst":   regexp.MustCompile(`^\pL`),
		"slashFirst":    regexp.MustCompile(`^/`),
		"checkedDomain": regexp.MustCompile(`^([0-9A-Za-z.-]*|\$SERVER_IP|\$_ip)$`),
		"cookieName":    regexp.MustCompile(`^[^$,; ][^,; ]*$`),
	}
})

// word returns a text as the rules spell it; false means that it breaks one.
func (r *rules) word(text string) (string, bool) {
	if n := utf8.RuneCountInString(text); n < r.minLen || r.maxLen > 0 && n > r.maxLen {
		return "", false
	}
	if r.form != nil && !r.form.MatchString(text) {
		return "", false
	}
	if r.enum == nil {
		return text, true
	}
	at := slices.IndexFunc(r.enum, func(word string) bool {
		return word == text || r.folds && strings.EqualFold(word, text)
	})
	if at < 0 {
		return "", false
	}
	return r.enum[at], true
}

// bits returns the size of the API's integer. An int here has 32 bits there, on every machine.
func (f *decodeField) bits() int {
	if f.kind == reflect.Int64 {
		return 64
	}
	return 32
}

// setList stores Name.1, Name.2 and so on in order of their numbers, which may
// have gaps. Some clients send a list of one as Name, or a list as JSON text:
// CLB-0015.
func (f *decodeField) setList(target reflect.Value, params Params, prefix string) error {
	elements := params.elements(f.dotted)
	if len(elements) == 0 {
		if text := params.Get(f.name); f.element == nil && text != "" {
			return f.setBareList(target, text, prefix)
		}
		if f.rules.required {
			return f.missing(prefix)
		}
		return nil
	}
	if f.rules.max != nil && int64(len(elements)) > *f.rules.max {
		return f.invalid(prefix)
	}
	list := reflect.MakeSlice(target.Type(), len(elements), len(elements))
	for i, e := range elements {
		if f.element != nil {
			if err := f.element.fill(list.Index(i), e.fields, prefix+f.dotted+strconv.Itoa(e.number)+"."); err != nil {
				return err
			}
		} else if !f.assign(list.Index(i), e.value) {
			return f.invalidAs(prefix + f.dotted + strconv.Itoa(e.number))
		}
	}
	target.Set(list)
	return nil
}

func (f *decodeField) setBareList(target reflect.Value, text, prefix string) error {
	values := []Text{Text(text)}
	if strings.HasPrefix(text, "[") {
		if readJSON(text, &values) != nil {
			return f.invalid(prefix)
		}
	}
	if f.rules.max != nil && int64(len(values)) > *f.rules.max {
		return f.invalid(prefix)
	}
	list := reflect.MakeSlice(target.Type(), len(values), len(values))
	for i, value := range values {
		if !f.assign(list.Index(i), string(value)) {
			return f.invalid(prefix)
		}
	}
	target.Set(list)
	return nil
}

// unread returns the parameters that the action's request has no field for.
func (d *decoder) unread(params Params) []string {
	var names []string
	for _, param := range params {
		if !d.reads(param.Name) {
			names = append(names, param.Name)
		}
	}
	return names
}

func (d *decoder) reads(name string) bool {
	for i := range d.fields {
		f := &d.fields[i]
		if !f.list {
			if f.name == name {
				return true
			}
			continue
		}
		if rest, ok := strings.CutPrefix(name, f.name+"."); ok {
			_, field, nested := strings.Cut(rest, ".")
			if !nested || f.element != nil && f.element.reads(field) {
				return true
			}
		}
		if f.element == nil && f.name == name {
			return true
		}
	}
	return false
}
