// Package tools builds the programs of a Kubernetes control plane, at pinned versions,
// once, into a cache outside the source tree. It does not know how they run.
package tools

import (
	"crypto/sha256"
	"fmt"
	"runtime"
	"strings"
)

// build is one module whose programs are built together.
type build struct {
	module, version string
	packages        []string
	// staging are modules that Kubernetes' own go.mod replaces by folders, which
	// whoever depends on it has to replace by their releases.
	staging        []string
	stagingVersion string
	// variable is set to the version, which the programs then report to their clients.
	variable string
	// files are copied out of the module, for the programs to read.
	files []string
}

var builds = []build{
	{
		module: "go.etcd.io/etcd/server/v3", version: "v3.6.5",
		packages: []string{"go.etcd.io/etcd/server/v3"},
	},
	{
		module: "k8s.io/kubernetes", version: "v1.33.13", stagingVersion: "v0.33.13",
		variable: "k8s.io/component-base/version.gitVersion",
		packages: []string{
			"k8s.io/kubernetes/cmd/kube-apiserver", "k8s.io/kubernetes/cmd/kube-controller-manager",
			"k8s.io/kubernetes/cmd/kube-scheduler", "k8s.io/kubernetes/cmd/kubectl",
		},
		staging: []string{
			"api", "apiextensions-apiserver", "apimachinery", "apiserver", "cli-runtime", "client-go",
			"cloud-provider", "cluster-bootstrap", "code-generator", "component-base", "component-helpers",
			"controller-manager", "cri-api", "cri-client", "csi-translation-lib", "dynamic-resource-allocation",
			"endpointslice", "externaljwt", "kms", "kube-aggregator", "kube-controller-manager", "kube-proxy",
			"kube-scheduler", "kubectl", "kubelet", "metrics", "mount-utils", "pod-security-admission",
			"sample-apiserver",
		},
	},
	{
		module: "sigs.k8s.io/kwok", version: "v0.8.0",
		packages: []string{"sigs.k8s.io/kwok/cmd/kwok"},
		// These stages make each node Ready and each pod Running at once.
		files: []string{
			"kustomize/stage/node/fast/node-initialize.yaml", "kustomize/stage/pod/fast/pod-ready.yaml",
			"kustomize/stage/pod/fast/pod-complete.yaml", "kustomize/stage/pod/fast/pod-delete.yaml",
		},
	},
}

// goMod returns the go.mod of the module in which the programs are built.
func (b build) goMod() string {
	var text strings.Builder
	fmt.Fprintf(&text, "module tools\n\ngo 1.24.0\n\nrequire %s %s\n", b.module, b.version)
	for _, name := range b.staging {
		fmt.Fprintf(&text, "\nreplace k8s.io/%s => k8s.io/%[1]s %s\n", name, b.stagingVersion)
	}
	return text.String()
}

// ldflags returns the flags of the linker.
func (b build) ldflags() string {
	if b.variable == "" {
		return "-s -w"
	}
	return fmt.Sprintf("-s -w -X %s=%s", b.variable, b.version)
}

// pins changes with everything that the programs depend on.
func pins() string {
	hash := sha256.New()
	fmt.Fprintln(hash, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	for _, b := range builds {
		fmt.Fprintln(hash, b.goMod(), b.packages, b.files, b.ldflags())
	}
	return fmt.Sprintf("%x", hash.Sum(nil)[:8])
}
