// Package gatewaytest has the helpers that the products' tests share: a store that is
// checked at the end of its test, calls through the gateway, and comparisons of a
// product's tables with the metadata of the cloud's API. It must not know any product:
// each brings its own tables, facts and cases.
package gatewaytest
