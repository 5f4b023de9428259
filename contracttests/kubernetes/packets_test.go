package kubernetes_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/cloud"
)

// TestPackets proves that the load balancer of a Service answers with what the nodes
// answer, which local servers play here: each node gets its share, a node that goes
// is not asked any more, and nothing answers when the Service is gone.
func TestPackets(t *testing.T) {
	f := start(t)
	f.addNode(nodes + 1)
	for n := 1; n <= nodes+1; n++ {
		f.serve(n)
	}
	f.service("web")
	f.converged("web", func() map[string]int { return everywhere(nodes + 1) })
	service, err := f.kubernetes.CoreV1().Services(f.namespace).Get(f.ctx, "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	address := f.answersAt(service)
	// The scheduler is round robin, so that twelve connections are three for each node.
	f.eventually("an equal share", func() error {
		answers, err := ask(address, 3*(nodes+1))
		for n := 1; n <= nodes+1 && err == nil; n++ {
			if got := answers[cloud.NewInstance(n).ID]; got != 3 {
				err = fmt.Errorf("node %d answered %d times, want 3: %v", n, got, answers)
			}
		}
		return err
	})
	f.removeNode(node(nodes + 1).Name)
	f.converged("web", func() map[string]int { return everywhere(nodes) })
	gone := cloud.NewInstance(nodes + 1).ID
	f.eventually("the others alone", func() error {
		answers, err := ask(address, 3*nodes)
		if err == nil && (answers[gone] != 0 || len(answers) != nodes) {
			err = fmt.Errorf("the answers are %v, want none of %s", answers, gone)
		}
		return err
	})
	f.deleteService("web")
	f.eventually("nobody at "+address, func() error {
		if answers, err := ask(address, 1); err == nil {
			return fmt.Errorf("%v answers", answers)
		}
		return nil
	})
}

// serve starts a server on this machine that stands for a node, and answers with its
// instance's id.
func (f *fixture) serve(n int) {
	f.Helper()
	id := cloud.NewInstance(n).ID
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, id) }))
	f.Cleanup(server.Close)
	f.control("world", "set", fmt.Sprintf("instance.%s.reachAt=%s", id, strings.TrimPrefix(server.URL, "http://")))
}

// answersAt returns the address at which the load balancer of a Service answers on this machine.
func (f *fixture) answersAt(service *corev1.Service) (address string) {
	f.Helper()
	balancer, err := f.find(service)
	if err != nil {
		f.Fatal(err)
	}
	return "http://" + f.hostOf(balancer.LoadBalancerId)
}

// hostOf returns the host and port at which a load balancer with one listener answers on this
// machine.
func (f *fixture) hostOf(id string) (host string) {
	f.Helper()
	f.eventually("an address on this machine", func() error {
		out, err := f.cloud.Control(f.ctx, "url", id)
		if err != nil {
			return err
		}
		said, err := url.Parse(strings.TrimSpace(out))
		if err != nil || said.Hostname() != "127.0.0.1" {
			return fmt.Errorf("clbemu url says %q", out)
		}
		host = said.Host
		return nil
	})
	return host
}

// ask makes requests, each on a connection of its own, and counts the answers.
func ask(address string, times int) (answers map[string]int, err error) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	answers = make(map[string]int)
	for range times {
		response, err := client.Get(address)
		if err != nil {
			return answers, err
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			return answers, err
		}
		answers[string(body)]++
	}
	return answers, nil
}
