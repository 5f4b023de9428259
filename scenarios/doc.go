// Package scenarios reads and runs tests of cloud failures in YAML, and has a library
// of them. It owns the fields of the files and the verdict. It must not know where the
// emulator is or how to call it: a Target does, as a Cluster does for a cluster.
//
// A scenario has up to three halves. The client half is a scripted client and runs on
// its own; the kubernetes half watches a controller in a cluster, so it needs one;
// the program half judges a program.
package scenarios
