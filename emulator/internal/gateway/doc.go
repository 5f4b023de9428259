// Package gateway implements the OpenAPI gateway: it parses calls, verifies
// signatures, decodes parameters by the tags of request structs, opens the
// transaction, encodes the answer, and turns facts into the codes of a product's error
// table. It must not know any product: actions and their errors come from tables.
//
// A request struct names the wire's parameter in its tag, with rules of shape:
//
//	type deleteLoadBalancerRequest struct {
//		LoadBalancerID string `rpc:"LoadBalancerId,required"`
//		Weight         *int   `rpc:"Weight,min=0,max=100"`
//	}
//
// The options are required, default=V, min=N, max=N (of an integer, or of the
// number of elements of a list), except=N, also=N (beyond the range), len=A..B (characters), enum=a|b,
// words=A|B (an enum that comes in any case and is kept as it is here), json (the
// parameter is JSON text), kept (of a pointer: one that
// is sent empty is not absent), and missing=F, invalid=F, which name the fact to
// report instead of Missing<Parameter> and Invalid<Parameter>. Pointers tell an
// absent parameter from a zero one. A type with a method Words() []string is an enum
// of these; with words alone in the tag they come in any case. A slice takes Name.1,
// Name.2; a slice of structs takes Name.1.Field. Embedded structs share their fields.
// A request that embeds Trial may be a dry run.
//
// Products also share the packages listing, which pages lists, and tagging, which tags resources.
//
// A response struct uses the same tag: "A>B" is a list B wrapped in A, and
// omitempty leaves a zero value out.
package gateway
