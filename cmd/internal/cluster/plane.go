package cluster

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/clbemu/clbemu/scenarios"
)

// Plane is a control plane.
type Plane struct {
	// Kubeconfig is the file by which programs reach it.
	Kubeconfig string
	// API and Etcd are the URLs of its two parts.
	API, Etcd string
	// HTTP makes calls of the API, with the header Authorization.
	HTTP  *http.Client
	Token string

	running []scenarios.Running
	put     []Object // as etcd got them
}

// ErrNoPrograms is the error of a machine without the programs of a control plane.
var ErrNoPrograms = errors.New("kube-apiserver and etcd are not here")

// Programs finds the programs of a control plane, as envtest does.
func Programs() (etcd, apiserver string, err error) {
	folder := cmp.Or(os.Getenv("KUBEBUILDER_ASSETS"), "/usr/local/kubebuilder/bin")
	etcd = cmp.Or(os.Getenv("TEST_ASSET_ETCD"), filepath.Join(folder, "etcd"))
	apiserver = cmp.Or(os.Getenv("TEST_ASSET_KUBE_APISERVER"), filepath.Join(folder, "kube-apiserver"))
	for _, program := range []*string{&etcd, &apiserver} {
		if *program, err = filepath.Abs(*program); err != nil { // each starts in a folder of its own
			return "", "", err
		}
		if _, err := os.Stat(*program); err != nil {
			return "", "", fmt.Errorf("%w: %w: let KUBEBUILDER_ASSETS name their folder, which this prints: go run sigs.k8s.io/controller-runtime/tools/setup-envtest@release-0.21 use -p path", ErrNoPrograms, err)
		}
	}
	return etcd, apiserver, nil
}

// startTime limits how long a control plane may take to start.
const startTime = 2 * time.Minute

// Start starts an empty control plane for a copy of a cluster, with its files in a folder. Programs start
// by programs.
func Start(ctx context.Context, programs scenarios.Programs, dir string, c *Copy) (*Plane, error) {
	etcd, apiserver, err := Programs()
	if err != nil {
		return nil, err
	}
	ports, err := freePorts(3)
	if err != nil {
		return nil, err
	}
	secret := make([]byte, 16)
	_, _ = rand.Read(secret) // which never fails
	p := &Plane{Kubeconfig: filepath.Join(dir, "kubeconfig"), API: "https://127.0.0.1:" + ports[2], Etcd: "http://127.0.0.1:" + ports[0], Token: fmt.Sprintf("%x", secret)}
	if err := writeKeys(dir, p.Token); err != nil {
		return nil, err
	}
	peer := "http://127.0.0.1:" + ports[1]
	for _, command := range [][]string{
		{etcd, "--data-dir=etcd", "--listen-client-urls=" + p.Etcd, "--advertise-client-urls=" + p.Etcd, "--listen-peer-urls=" + peer,
			"--initial-advertise-peer-urls=" + peer, "--initial-cluster=default=" + peer, "--unsafe-no-fsync", "--log-level=error"},
		{apiserver, "--etcd-servers=" + p.Etcd, "--bind-address=127.0.0.1", "--advertise-address=192.0.2.1", "--secure-port=" + ports[2], "--cert-dir=certificates",
			"--token-auth-file=tokens.csv", "--authorization-mode=AlwaysAllow", "--disable-admission-plugins=ServiceAccount", "--service-account-key-file=sa.key",
			"--service-account-signing-key-file=sa.key", "--service-account-issuer=https://kubernetes.default.svc", "--service-cluster-ip-range=" + c.serviceBlock(),
			"--service-node-port-range=" + c.nodePorts()},
	} {
		started, err := programs.Start(ctx, scenarios.Program{Command: command, Dir: dir})
		if err != nil {
			p.Stop()
			return nil, err
		}
		p.running = append(p.running, started)
	}
	if err := p.await(ctx, dir); err != nil {
		p.Stop()
		return nil, err
	}
	return p, nil
}

// freePorts returns ports that are free now.
func freePorts(n int) (ports []string, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() //nolint:gocritic // all of them stay taken until all are chosen
		_, port, _ := net.SplitHostPort(l.Addr().String())
		ports = append(ports, port)
	}
	return ports, nil
}

// nodePorts returns a range that holds the NodePorts of all Services.
func (c *Copy) nodePorts() string {
	for _, s := range c.Services {
		for _, port := range s.List("spec", "ports") {
			if n, ok := port["nodePort"].(json.Number); ok && (len(n) != 5 || n < "30000" || n > "32767") {
				return "1024-65535"
			}
		}
	}
	return "30000-32767"
}

// writeKeys writes the key of service accounts, and the one user.
func writeKeys(dir, token string) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	return errors.Join(os.WriteFile(filepath.Join(dir, "sa.key"), text, 0o600),
		os.WriteFile(filepath.Join(dir, "tokens.csv"), []byte(token+`,rehearsal,rehearsal,"system:masters"`+"\n"), 0o600))
}

// await waits until the API server is ready, and writes the kubeconfig.
func (p *Plane) await(ctx context.Context, dir string) error {
	certificate := filepath.Join(dir, "certificates", "apiserver.crt")
	for deadline := time.Now().Add(startTime); ; {
		for _, r := range p.running {
			ended, err := r.Wait(ctx, 50*time.Millisecond)
			if err != nil {
				return err
			}
			if ended {
				return fmt.Errorf("a program of the control plane ended with status %d. It last wrote:\n%s", r.Exit(), r.Output())
			}
		}
		if p.HTTP == nil {
			roots := x509.NewCertPool()
			trusted, _ := os.ReadFile(certificate) // it may not be written yet
			if roots.AppendCertsFromPEM(trusted) {
				p.HTTP = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}
				if err := p.writeKubeconfig(trusted); err != nil {
					return err
				}
			}
		} else if _, status, err := p.Do(ctx, http.MethodGet, "/readyz", nil); err == nil && status == http.StatusOK {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("kube-apiserver does not get ready within %s. It last wrote:\n%s", startTime, p.running[1].Output())
		}
	}
}

func (p *Plane) writeKubeconfig(trusted []byte) error {
	text, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "rehearsal",
		"clusters": []any{map[string]any{"name": "rehearsal", "cluster": map[string]any{"server": p.API, "certificate-authority-data": trusted}}},
		"users":    []any{map[string]any{"name": "rehearsal", "user": map[string]any{"token": p.Token}}},
		"contexts": []any{map[string]any{"name": "rehearsal", "context": map[string]any{"cluster": "rehearsal", "user": "rehearsal"}}},
	})
	if err != nil {
		return err
	}
	return os.WriteFile(p.Kubeconfig, text, 0o600)
}

// Stop ends the programs.
func (p *Plane) Stop() {
	for _, r := range slices.Backward(p.running) {
		r.Kill()
	}
}

// Do makes a call of the API. An answer that is no success is an error too.
func (p *Plane) Do(ctx context.Context, method, path string, body any) (answer Object, status int, err error) {
	var text []byte
	if body != nil {
		if text, err = json.Marshal(body); err != nil {
			return nil, 0, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, p.API+path, bytes.NewReader(text))
	if err != nil {
		return nil, 0, err
	}
	request.Header.Set("Authorization", "Bearer "+p.Token)
	if request.Header.Set("Content-Type", "application/json"); method == http.MethodPatch {
		request.Header.Set("Content-Type", "application/apply-patch+yaml")
	}
	response, err := p.HTTP.Do(request)
	if err != nil {
		return nil, 0, err
	}
	defer response.Body.Close()
	if text, err = io.ReadAll(response.Body); err != nil {
		return nil, response.StatusCode, err
	}
	answer, _ = decode(text) // /readyz is no JSON
	if response.StatusCode >= http.StatusBadRequest {
		return answer, response.StatusCode, fmt.Errorf("the API server refuses it: %s", cmp.Or(answer.Text("message"), response.Status))
	}
	return answer, response.StatusCode, nil
}

// kinds say where the API and etcd have the objects of a kind.
var kinds = map[string]struct{ api, plural, etcd string }{
	"Namespace":     {"/api/v1", "namespaces", "namespaces"},
	"Node":          {"/api/v1", "nodes", "minions"},
	"Service":       {"/api/v1", "services", "services/specs"},
	"Endpoints":     {"/api/v1", "endpoints", "services/endpoints"},
	"EndpointSlice": {"/apis/discovery.k8s.io/v1", "endpointslices", "endpointslices"},
	"Event":         {"/api/v1", "events", "events"},
}

// path returns the API's path of an object or, with an empty name, of all objects of the kind.
func path(kind, namespace, name string) string {
	k := kinds[kind]
	at := k.api
	if namespace != "" {
		at += "/namespaces/" + namespace
	}
	return strings.TrimSuffix(at+"/"+k.plural+"/"+name, "/")
}

// List returns the objects of a kind.
func (p *Plane) List(ctx context.Context, kind string) ([]Object, error) {
	got, _, err := p.Do(ctx, http.MethodGet, path(kind, "", ""), nil)
	list := got.List("items")
	for _, o := range list {
		o["kind"] = kind
	}
	return list, err
}

// Update changes an object as it is then.
func (p *Plane) Update(ctx context.Context, of Object, change func(Object)) error {
	for {
		now, _, err := p.Do(ctx, http.MethodGet, path(of.Kind(), of.Namespace(), of.Name()), nil)
		if err != nil {
			return err
		}
		change(now)
		_, status, err := p.Do(ctx, http.MethodPut, path(of.Kind(), of.Namespace(), of.Name()), now)
		if status != http.StatusConflict {
			return err
		}
	}
}

// Delete deletes an object.
func (p *Plane) Delete(ctx context.Context, of Object) error {
	_, _, err := p.Do(ctx, http.MethodDelete, path(of.Kind(), of.Namespace(), of.Name()), nil)
	return err
}

// Put creates an object, and gives it the uid, times and status that it has in the cluster: the API
// server checks it, and etcd takes what the API gives new values.
func (p *Plane) Put(ctx context.Context, o Object) error {
	fresh := o.Clone()
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "generation", "ownerReferences"} {
		delete(fresh.Map("metadata"), field)
	}
	made, _, err := p.Do(ctx, http.MethodPost, path(o.Kind(), o.Namespace(), ""), fresh)
	if err != nil {
		return err
	}
	for _, field := range []string{"uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation"} {
		if value, has := o.Map("metadata")[field]; has {
			made.Map("metadata")[field] = value
		}
	}
	if status, has := o["status"]; has {
		made["status"] = status
	}
	delete(made.Map("metadata"), "resourceVersion")
	p.put = append(p.put, made)
	return p.keep(ctx, made)
}

// Restore makes the objects that were put what they then were.
func (p *Plane) Restore(ctx context.Context) (err error) {
	for _, o := range p.put {
		err = errors.Join(err, p.keep(ctx, o))
	}
	return err
}

// keep writes an object into etcd, by the JSON that etcd has for those without its client.
func (p *Plane) keep(ctx context.Context, o Object) error {
	value, err := json.Marshal(o)
	if err != nil {
		return err
	}
	key := strings.Join(slices.DeleteFunc([]string{"/registry", kinds[o.Kind()].etcd, o.Namespace(), o.Name()}, func(part string) bool { return part == "" }), "/")
	text, err := json.Marshal(map[string]string{"key": base64.StdEncoding.EncodeToString([]byte(key)), "value": base64.StdEncoding.EncodeToString(value)})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.Etcd+"/v3/kv/put", bytes.NewReader(text))
	if err != nil {
		return err
	}
	response, err := p.HTTP.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("etcd does not take %s: %s", key, response.Status)
	}
	return nil
}

// Fill puts a copy of a cluster in. The copy loses what the API server refuses, and notes it.
func (p *Plane) Fill(ctx context.Context, c *Copy) error {
	made := map[string]bool{"": true}
	for _, list := range []*[]Object{&c.Nodes, &c.Services, &c.Slices, &c.Endpoints} {
		var taken []Object
		for _, o := range *list {
			if at := o.Namespace(); !made[at] {
				made[at] = true
				if err := p.makeNamespace(ctx, at); err != nil {
					c.Notes.Add("Namespace %s: %v", at, err)
				}
			}
			if err := p.Put(ctx, o); ctx.Err() != nil {
				return ctx.Err()
			} else if err != nil {
				c.Notes.Add("%s %s: %v: left out", o.Kind(), o.Key(), err)
			} else {
				taken = append(taken, o)
			}
		}
		*list = taken
	}
	return nil
}

// makeNamespace creates a namespace unless it is there.
func (p *Plane) makeNamespace(ctx context.Context, name string) error {
	_, status, err := p.Do(ctx, http.MethodPost, path("Namespace", "", ""), Object{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}})
	if status == http.StatusConflict {
		return nil
	}
	return err
}

// Apply applies an object as kubectl apply does, on the server.
func (p *Plane) Apply(ctx context.Context, o Object) error {
	if _, known := kinds[o.Kind()]; !known {
		return fmt.Errorf("a rehearsal applies Services and EndpointSlices alone, and not %s", o.Kind())
	}
	if at := o.Namespace(); at != "" {
		if err := p.makeNamespace(ctx, at); err != nil {
			return err
		}
	}
	_, _, err := p.Do(ctx, http.MethodPatch, path(o.Kind(), o.Namespace(), o.Name())+"?fieldManager=clbemu&force=true", o)
	return err
}
