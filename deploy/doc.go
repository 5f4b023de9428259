// Package deploy runs clbemu outside a terminal: its image, a kind cluster that uses
// it for load balancers, and a Kubernetes control plane without containers, which the
// end-to-end tests use too.
//
// It is a module of its own, so that the main module stays free of Kubernetes'
// libraries.
package deploy
