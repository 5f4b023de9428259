// Package faults decides which calls go wrong, how and at which point. It is
// rules, matchers, schedules and effects as values, and an injector over them that
// says what is to happen; it does nothing itself, and must not know HTTP, the
// store or any product.
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
// Each rule belongs to one point in the life of a call. At a point the rules that
// belong to it are asked in order, and the first that matches decides.
package faults
