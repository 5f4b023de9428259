// Package kubernetes holds the end-to-end tests: a real Kubernetes control plane,
// clbemu as a process, and a cloud controller manager (CCM) between them.
//
// CCM_BIN names the binary of a real CCM. Without it, the reference controller in
// the folder driver, a test driver, replaces it; tests that need a real CCM are then
// reported as skipped. E2E_SERVICES is the number of Services that TestManyServices
// creates, 100 by default.
//
// The tests are a separate module, so that the main module stays free of
// Kubernetes' libraries. They know clbemu only from outside, as its users do.
package kubernetes
