package journal

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Parameter is a parameter of a call or a change.
type Parameter = struct{ Name, Value string }

// Parameters are in order of name, each name once. In JSON they are an object.
type Parameters []Parameter

var _ json.Marshaler = (*Parameters)(nil)
var _ json.Unmarshaler = (*Parameters)(nil)

// Find returns the value of a parameter, and whether there is one.
func (p Parameters) Find(name string) (value string, ok bool) {
	at, ok := p.search(name)
	if !ok {
		return "", false
	}
	return p[at].Value, true
}

// Get returns the value of a parameter, or "" if it is absent.
func (p Parameters) Get(name string) string {
	value, _ := p.Find(name)
	return value
}

// Map returns the parameters by name.
func (p Parameters) Map() map[string]string {
	m := make(map[string]string, len(p))
	for _, param := range p {
		m[param.Name] = param.Value
	}
	return m
}

// Add inserts a parameter at its position, replacing one with the same name: sorted
// names may not be sorted any more after they are cut or hidden.
func (p *Parameters) Add(name, value string) {
	if n := len(*p); n == 0 || (*p)[n-1].Name < name {
		*p = append(*p, Parameter{name, value})
		return
	}
	at, there := p.search(name)
	if there {
		(*p)[at].Value = value
		return
	}
	*p = slices.Insert(*p, at, Parameter{name, value})
}

func (p Parameters) search(name string) (at int, found bool) {
	return slices.BinarySearchFunc(p, name, func(param Parameter, name string) int { return strings.Compare(param.Name, name) })
}

// MarshalJSON implements json.Marshaler. What is to be escaped for HTML is up to who
// writes the entry.
func (p Parameters) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(p.Map())
	return b.Bytes(), err
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Parameters) UnmarshalJSON(text []byte) error {
	var m map[string]string
	if err := json.Unmarshal(text, &m); err != nil {
		return err
	}
	*p = make(Parameters, 0, len(m))
	for name, value := range m {
		p.Add(name, value)
	}
	return nil
}
