// Package faults decides which calls fail, how and at which point. Rules, matchers,
// schedules and effects are values; an injector evaluates them and returns a verdict.
// It carries out nothing itself, and must not know HTTP, the store or any product.
//
// A rule is a value that prints as the YAML it parses from:
//
//	name: lost-reply
//	match:
//	  action: CreateLoadBalancer
//	  params.LoadBalancerName: {matches: "^a"}
//	when: {times: 1}
//	effect: {afterCommit: reset}
//
// Each rule belongs to one point in the life of a call. At a point, the injector
// evaluates the rules of that point in order, and the first that matches decides.
package faults
