// Package kubernetes holds the end-to-end tests: a real Kubernetes control plane,
// clbemu as a process, and a cloud controller manager (CCM) between them.
//
// CCM_BIN names the binary of a real CCM. Without it the reference controller of
// the folder driver takes its place, which is a test driver; what only a real
// CCM does is skipped then, and said to be. E2E_SERVICES is how many Services
// TestManyServices makes, 100 unless set.
//
// The tests are a module of their own, so that the main module stays free of
// Kubernetes' libraries. They know clbemu only from outside, as its users do.
package kubernetes
