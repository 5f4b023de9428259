package command

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/inventory"
)

// typedResource is a resource as programs want it: fields that are numbers or lists are
// numbers and lists.
type typedResource struct {
	controlapi.Resource
	Fields map[string]any `json:"fields"`
}

// fieldForms are the forms of fields by kind and name.
type fieldForms map[string]map[string]string

func knownForms() fieldForms {
	all := make(fieldForms)
	for _, k := range inventory.Kinds() {
		all[k.Name] = make(map[string]string)
		for _, c := range k.Columns {
			all[k.Name][c.Name] = c.Form
		}
	}
	return all
}

func (f fieldForms) resource(r *controlapi.Resource) typedResource {
	fields := make(map[string]any, len(r.Fields))
	for name, text := range r.Fields {
		fields[name] = valueOf(text, f[r.Kind][name])
	}
	return typedResource{*r, fields}
}

func (f fieldForms) resources(list []controlapi.Resource) []typedResource {
	typed := make([]typedResource, len(list))
	for i := range list {
		typed[i] = f.resource(&list[i])
	}
	return typed
}

// tree returns a load balancer with its parts, the fields of all of them typed.
func (f fieldForms) tree(t *controlapi.LoadBalancerTree) (any, error) {
	text, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	var tree any
	err = json.Unmarshal(text, &tree)
	f.retype(tree)
	return tree, err
}

// retype changes the fields of all resources in a tree.
func (f fieldForms) retype(tree any) {
	switch node := tree.(type) {
	case []any:
		for _, inner := range node {
			f.retype(inner)
		}
	case map[string]any:
		kind, _ := node["kind"].(string)
		if fields, ok := node["fields"].(map[string]any); ok && kind != "" {
			for name, value := range fields {
				if text, ok := value.(string); ok {
					fields[name] = valueOf(text, f[kind][name])
				}
			}
			return
		}
		for _, inner := range node {
			f.retype(inner)
		}
	}
}

// valueOf reads a field by its form. What is no number, such as a range of ports, stays a
// text.
func valueOf(text, form string) any {
	switch form {
	case controlapi.FormNumber:
		if n, err := strconv.Atoi(text); err == nil {
			return n
		}
	case controlapi.FormList:
		return strings.Split(text, ",")
	}
	return text
}
