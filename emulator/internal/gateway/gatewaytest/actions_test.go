package gatewaytest

import (
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/state"
)

type fixRequest struct {
	ThingID string `rpc:"ThingId,required"`
	Tag     []struct {
		Key string `rpc:"Key,required"`
	} `rpc:"Tag"`
}

type fixResponse struct {
	Name  string   `rpc:"Name"`
	Hosts []string `rpc:"Hosts>Host"`
}

func product() *gateway.Product {
	return &gateway.Product{Name: "Thing", Version: "1", Actions: []gateway.Action{
		gateway.Read("DescribeThing", func(*state.View, *fixRequest) (*fixResponse, error) { return &fixResponse{}, nil }),
		gateway.NotEmulated("BreakThing"),
	}}
}

func facts() map[string]actionFacts {
	return map[string]actionFacts{
		"DescribeThing": {
			Params:   map[string]bool{"ThingId": true, "Tag.N.Key": true, "RegionId": false},
			Response: []string{"Name", "Hosts.Host[]"},
		},
		"BreakThing": {Mutating: true, Params: map[string]bool{"Hammer": true}},
	}
}

// The test reports every kind of difference, and only as long as nothing excepts it.
func TestDifferences(t *testing.T) {
	for _, c := range []struct {
		name       string
		change     func(map[string]actionFacts)
		exceptions map[string]string
		want       string // part of the one difference, "" for none
	}{
		{name: "Equal", change: func(map[string]actionFacts) {}},
		{name: "UnknownAction", change: func(f map[string]actionFacts) { delete(f, "DescribeThing") }, want: "has action DescribeThing"},
		{name: "UnknownNotEmulated", change: func(f map[string]actionFacts) { delete(f, "BreakThing") }},
		{name: "LacksAction", change: func(f map[string]actionFacts) { f["MendThing"] = actionFacts{} }, want: "lacks action MendThing"},
		{name: "Mutates", change: edit(func(f *actionFacts) { f.Mutating = true }), want: "Mutates = false"},
		{name: "UnknownParameter", change: edit(func(f *actionFacts) { delete(f.Params, "Tag.N.Key") }), want: "reads Tag.N.Key"},
		{name: "LegacyIsStillOptional", want: "required of Tag.N.Key = true", change: edit(func(f *actionFacts) {
			delete(f.Params, "Tag.N.Key")
			f.Legacy = []string{"Tag.N.Key"}
		})},
		{name: "LacksParameter", change: edit(func(f *actionFacts) { f.Params["Colour"] = false }), want: "does not read Colour"},
		{name: "LacksRequiredRegion", change: edit(func(f *actionFacts) { f.Params["RegionId"] = true }), want: "does not read RegionId"},
		{name: "Required", change: edit(func(f *actionFacts) { f.Params["ThingId"] = false }), want: "required of ThingId = true"},
		{name: "RequiredInList", change: edit(func(f *actionFacts) { f.Params["Tag.N.Key"] = false }), want: "required of Tag.N.Key = true"},
		{name: "LacksPath", change: edit(func(f *actionFacts) { f.Response = append(f.Response, "Size") }), want: "does not answer Size"},
		{name: "UnknownPath", change: edit(func(f *actionFacts) { f.Response = f.Response[:1] }), want: "answers Hosts.Host[]"},
		{name: "ExceptedParameter", change: edit(func(f *actionFacts) { f.Params["Colour"] = false }),
			exceptions: map[string]string{"DescribeThing.Colour": "all are grey"}},
		{name: "ExceptedPathAbove", change: edit(func(f *actionFacts) { f.Response = append(f.Response, "Parts.Part[].Size") }),
			exceptions: map[string]string{"DescribeThing->Parts": "it has none"}},
		{name: "ExceptionNotNeeded", change: func(map[string]actionFacts) {},
			exceptions: map[string]string{"DescribeThing.Colour": "all are grey"}, want: "not needed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := facts()
			c.change(f)
			got := differences(product(), f, c.exceptions)
			switch {
			case c.want == "" && len(got) > 0:
				t.Errorf("differences = %q, want none", got)
			case c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)):
				t.Errorf("differences = %q, want one that contains %q", got, c.want)
			}
		})
	}
}

func edit(change func(*actionFacts)) func(map[string]actionFacts) {
	return func(f map[string]actionFacts) {
		a := f["DescribeThing"]
		change(&a)
		f["DescribeThing"] = a
	}
}
