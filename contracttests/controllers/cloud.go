package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/clbemu/clbemu/emulator/apiclient"
)

// patience is the longest wait of a controller for an answer.
const patience = 2 * time.Second

// params are the parameters of a call.
type params = map[string]string

// refused is the error of a call that the cloud refused. Every other error means that no
// answer came, so that the call may have been executed.
type refused struct{ action, code string }

func (r *refused) Error() string { return r.action + ": " + r.code }

// version is CLB's version.
const version = "2014-05-15"

// call calls the cloud, and decodes the answer into a value unless that is nil.
func call(action string, p params, into any) error {
	client := apiclient.Client{URL: "http://" + os.Getenv("SLB_ENDPOINT"), HTTP: &http.Client{Timeout: patience}, UserAgent: "controllers",
		AccessKeyID: os.Getenv("ALIBABA_CLOUD_ACCESS_KEY_ID"), AccessKeySecret: os.Getenv("ALIBABA_CLOUD_ACCESS_KEY_SECRET")}
	reply, err := client.Call(version, action, p)
	if err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	if reply.Status != http.StatusOK {
		return &refused{action, reply.Text("Code")}
	}
	if into == nil {
		return nil
	}
	text, err := json.Marshal(reply.Body)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// The parts of answers that the controllers read.
type (
	balancer  struct{ LoadBalancerId, LoadBalancerName string }
	balancers struct {
		LoadBalancers struct{ LoadBalancer []balancer }
	}
	attribute struct {
		LoadBalancerStatus, LoadBalancerName string
		Tags                                 struct {
			Tag []struct{ TagKey, TagValue string }
		}
	}
	groups struct {
		VServerGroups struct {
			VServerGroup []struct{ VServerGroupId, VServerGroupName string }
		}
	}
	server struct {
		ServerId     string
		Port, Weight int
	}
	members struct {
		BackendServers struct{ BackendServer []server }
	}
	listeners struct {
		Listeners []struct {
			ListenerPort int
			Status       string
		}
	}
)

// list returns the load balancers that a filter finds.
func list(filter params) ([]balancer, error) {
	var found balancers
	err := call("DescribeLoadBalancers", filter, &found)
	return found.LoadBalancers.LoadBalancer, err
}
