// Package gatewaytest owns what the tests of the products share: a store that is
// checked when its test ends, calls through the gateway, and the comparisons of a
// product's tables with what is known of the cloud's API. It must not know any
// product: each brings its own tables, facts and cases.
package gatewaytest
