package cluster

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
)

// program is one part of the control plane, run in the cluster's folder.
type program struct {
	name, file string
	args       []string
}

func etcd(client, peer string) program {
	return program{"etcd", "server", []string{
		"--data-dir=etcd", "--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=default=" + peer,
		"--unsafe-no-fsync", // the data do not outlive the test
	}}
}

// apiServer lets the group of its one user do anything, and pods do without the
// tokens that the tests never make.
func apiServer(etcd string, port int) program {
	return program{"kube-apiserver", "kube-apiserver", []string{
		"--etcd-servers=" + etcd, "--bind-address=127.0.0.1", "--advertise-address=192.0.2.1", fmt.Sprintf("--secure-port=%d", port), "--cert-dir=certificates",
		"--token-auth-file=tokens.csv", "--authorization-mode=RBAC", "--disable-admission-plugins=ServiceAccount",
		"--service-account-key-file=sa.key", "--service-account-signing-key-file=sa.key",
		"--service-account-issuer=https://kubernetes.default.svc", "--service-cluster-ip-range=" + serviceCIDR,
	}}
}

func controllerManager() program {
	return program{"kube-controller-manager", "kube-controller-manager", []string{
		"--kubeconfig=kubeconfig", "--leader-elect=false", "--secure-port=0", "--service-account-private-key-file=sa.key",
		"--controllers=deployment-controller,replicaset-controller,statefulset-controller,endpoints-controller,endpointslice-controller," +
			"namespace-controller,node-lifecycle-controller",
		"--kube-api-qps=200", "--kube-api-burst=400", "--concurrent-namespace-syncs=2",
	}}
}

func scheduler() program {
	return program{"kube-scheduler", "kube-scheduler", []string{"--kubeconfig=kubeconfig", "--leader-elect=false", "--secure-port=0"}}
}

// kwok plays the kubelet of every node, by the stages that it calls fast, and
// keeps the leases that show a node to be alive.
func (c *Cluster) kwok() program {
	args := []string{"--kubeconfig=kubeconfig", "--manage-all-nodes", "--node-lease-duration-seconds=40", "--cidr=" + PodCIDR}
	for _, stage := range []string{"node-initialize", "pod-ready", "pod-complete", "pod-delete"} {
		args = append(args, "--config="+c.tools.Path(stage+".yaml"))
	}
	return program{"kwok", "kwok", args}
}

// signingKey returns a new key for service accounts in PEM.
func signingKey() ([]byte, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, fmt.Errorf("make the key of service accounts: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}), nil
}
