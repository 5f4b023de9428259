// Package scenarios is tests of cloud failures in YAML: what they say, how they
// are read, how they are played, and a library of them. It owns the words of the
// files and the verdict. It must not know where the emulator is or how it is
// called: that is the business of a Target, and a cluster that of a Cluster.
//
// A scenario has two halves. The client half is a scripted client and runs by
// itself; the kubernetes half watches a controller in a cluster and is skipped
// where there is none.
package scenarios
