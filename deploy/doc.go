// Package deploy holds what runs clbemu elsewhere than in a terminal: its image,
// a kind cluster whose load balancers it is, and a Kubernetes control plane without
// containers, which the end-to-end tests stand on too.
//
// It is a module of its own, so that the main module stays free of Kubernetes'
// libraries.
package deploy
