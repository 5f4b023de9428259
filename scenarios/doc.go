// Package scenarios reads and runs tests of cloud failures in YAML, and has a library
// of them. It owns the fields of the files and the verdict. It must not know where the
// emulator is or how to call it: a Target does, as a Cluster does for a cluster.
//
// A scenario has up to three parts. The client part is a scripted client and runs on
// its own; the kubernetes part watches a controller in a cluster, so it needs one;
// the program part judges a program.
package scenarios
