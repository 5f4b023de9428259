// Package deploy has what users deploy: the images, the service of the packages, a chart, a
// kind cluster that uses clbemu for load balancers, worldwatch, which brings a cluster's
// nodes into the world, and a dashboard.
//
// It is a separate module, so that the main module stays free of Kubernetes'
// libraries.
package deploy
