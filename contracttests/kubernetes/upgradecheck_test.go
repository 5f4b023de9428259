package kubernetes_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/cloud"
	"github.com/clbemu/clbemu/emulator/annotations"
)

// edit is a change made by hand to the load balancer of a Service while no
// controller runs, and the finding of the upgrade check that follows.
type edit struct {
	annotations map[string]string
	byHand      func(f *fixture, o *edited)
	finds       string
	// cure is what ACK's page says to do about the finding.
	cure func(f *fixture, o *edited)
}

// edited is a Service with what its controller made.
type edited struct {
	service                *corev1.Service
	balancer, group, named string // ids, and the name that a controller gives to a group
	surplus                string // the id of another group
}

// edits are the findings of ACK's page. Those on the default server group
// ("add backend servers", "remove backend servers") concern controllers that use one, and
// no controller stops a listener.
var edits = map[string]edit{
	"spec": {
		annotations: map[string]string{"instance-charge-type": "PayBySpec", "spec": "slb.s1.small"}, finds: "modify the slb instance spec",
		byHand: func(f *fixture, o *edited) {
			f.call("ModifyLoadBalancerInstanceSpec", "LoadBalancerId="+o.balancer, "LoadBalancerSpec=slb.s2.small")
		},
		cure: func(f *fixture, o *edited) { f.annotateEdited(o, "spec", "slb.s2.small") },
	},
	"internet": {
		annotations: map[string]string{"instance-charge-type": "PayBySpec", "spec": "slb.s1.small", "charge-type": "paybybandwidth", "bandwidth": "10"},
		finds:       "modify the slb internet spec",
		byHand: func(f *fixture, o *edited) {
			f.call("ModifyLoadBalancerInternetSpec", "LoadBalancerId="+o.balancer, "InternetChargeType=paybybandwidth", "Bandwidth=20")
		},
		cure: func(f *fixture, o *edited) { f.annotateEdited(o, "bandwidth", "20") },
	},
	"internet-charge": {
		annotations: map[string]string{"instance-charge-type": "PayBySpec", "spec": "slb.s1.small", "charge-type": "paybytraffic", "bandwidth": "10"},
		finds:       "modify the slb internet spec",
		byHand: func(f *fixture, o *edited) {
			f.call("ModifyLoadBalancerInternetSpec", "LoadBalancerId="+o.balancer, "InternetChargeType=paybybandwidth", "Bandwidth=10")
			f.control("clock", "advance", "24h") // it changes the next day
		},
		cure: func(f *fixture, o *edited) { f.annotateEdited(o, "charge-type", "paybybandwidth") },
	},
	"charge": {
		annotations: map[string]string{"instance-charge-type": "PayBySpec", "spec": "slb.s1.small"}, finds: "modify loadbalancer instance charge type",
		byHand: func(f *fixture, o *edited) {
			f.call("ModifyLoadBalancerInstanceChargeType", "LoadBalancerId="+o.balancer, "InstanceChargeType=PayByCLCU")
		},
		cure: func(f *fixture, o *edited) {
			f.annotateEdited(o, "spec", "")
			f.annotateEdited(o, "instance-charge-type", "PayByCLCU")
		},
	},
	// The dry run ends at the deletion protection where there is one.
	"deleted": {annotations: map[string]string{"delete-protection": "off"}, finds: "delete the load balancer", byHand: func(f *fixture, o *edited) {
		f.change(o.service.Name, func(s *corev1.Service) { s.Spec.Type = corev1.ServiceTypeNodePort })
	}, cure: func(f *fixture, o *edited) { f.call("DeleteLoadBalancer", "LoadBalancerId="+o.balancer) }},
	"started": {finds: "start listener 80", byHand: func(f *fixture, o *edited) {
		f.call("StopLoadBalancerListener", "LoadBalancerId="+o.balancer, "ListenerPort=80", "ListenerProtocol=tcp")
	}, cure: startListener},
	"surplus": {finds: "delete listener 81", byHand: func(f *fixture, o *edited) {
		f.call("CreateLoadBalancerTCPListener", "LoadBalancerId="+o.balancer, "ListenerPort=81", "Bandwidth=-1", "VServerGroupId="+o.group,
			fmt.Sprintf("Description=k8s/81/%s/%s/%s", o.service.Name, f.namespace, cloud.ClusterID))
	}, cure: func(f *fixture, o *edited) {
		f.call("DeleteLoadBalancerListener", "LoadBalancerId="+o.balancer, "ListenerPort=81", "ListenerProtocol=tcp")
	}},
	"missing": {finds: "create listener 80", byHand: func(f *fixture, o *edited) {
		f.call("DeleteLoadBalancerListener", "LoadBalancerId="+o.balancer, "ListenerPort=80", "ListenerProtocol=tcp")
	}, cure: func(f *fixture, o *edited) {
		f.call("CreateLoadBalancerTCPListener", "LoadBalancerId="+o.balancer, "ListenerPort=80", "Bandwidth=-1", "VServerGroupId="+o.group, "Scheduler=rr",
			fmt.Sprintf("Description=k8s/80/%s/%s/%s", o.service.Name, f.namespace, cloud.ClusterID))
		startListener(f, o)
	}},
	"updated": {annotations: map[string]string{"scheduler": "wrr"}, finds: "update listener 80", byHand: func(f *fixture, o *edited) {
		f.call("SetLoadBalancerTCPListenerAttribute", "LoadBalancerId="+o.balancer, "ListenerPort=80", "Scheduler=rr")
	}, cure: func(f *fixture, o *edited) {
		f.call("SetLoadBalancerTCPListenerAttribute", "LoadBalancerId="+o.balancer, "ListenerPort=80", "Scheduler=wrr")
	}},
	"checked": {annotations: map[string]string{"health-check-interval": "5"}, finds: "update listener 80", byHand: func(f *fixture, o *edited) {
		f.call("SetLoadBalancerTCPListenerAttribute", "LoadBalancerId="+o.balancer, "ListenerPort=80", "HealthCheckInterval=9")
	}, cure: func(f *fixture, o *edited) {
		f.call("SetLoadBalancerTCPListenerAttribute", "LoadBalancerId="+o.balancer, "ListenerPort=80", "HealthCheckInterval=5")
	}},
	"sticky": {
		annotations: map[string]string{"protocol-port": "http:80", "sticky-session": "on", "sticky-session-type": "insert", "cookie-timeout": "100"}, finds: "update listener 80",
		byHand: func(f *fixture, o *edited) { setCookieTimeout(f, o, "200") },
		cure:   func(f *fixture, o *edited) { setCookieTimeout(f, o, "100") },
	},
	"controlled": {annotations: map[string]string{"acl-status": "on", "acl-type": "white", "acl-id": "{{acl}}"}, finds: "update listener 80", byHand: func(f *fixture, o *edited) {
		f.call("SetLoadBalancerTCPListenerAttribute", "LoadBalancerId="+o.balancer, "ListenerPort=80", "AclStatus=off")
	}, cure: func(f *fixture, o *edited) {
		f.call("SetLoadBalancerTCPListenerAttribute", "LoadBalancerId="+o.balancer, "ListenerPort=80", "AclStatus=on", "AclType=white", "AclId="+o.service.Annotations[annotationPrefix+"acl-id"])
	}},
	"certified": {annotations: map[string]string{"protocol-port": "https:80", "cert-id": "{{cert}}"}, finds: "update listener 80", byHand: func(f *fixture, o *edited) {
		setCertificate(f, o, f.certificate(annotations.CLB, "other"))
	}, cure: func(f *fixture, o *edited) { setCertificate(f, o, o.service.Annotations[annotationPrefix+"cert-id"]) }},
	"grouped": {finds: "create VServerGroup ", byHand: func(f *fixture, o *edited) {
		f.call("SetVServerGroupAttribute", "VServerGroupId="+o.group, "VServerGroupName=renamed")
	}, cure: func(f *fixture, o *edited) {
		f.call("SetVServerGroupAttribute", "VServerGroupId="+o.group, "VServerGroupName="+o.named)
	}},
	"ungrouped": {finds: "delete VServerGroup ", byHand: func(f *fixture, o *edited) {
		o.surplus = f.created("VServerGroupId", "CreateVServerGroup", "LoadBalancerId="+o.balancer,
			fmt.Sprintf("VServerGroupName=k8s/32700/%s/%s/%s", o.service.Name, f.namespace, cloud.ClusterID))
	}, cure: func(f *fixture, o *edited) { f.call("DeleteVServerGroup", "VServerGroupId="+o.surplus) }},
	"backend-added": {finds: "add VServerGroup backends ", byHand: func(f *fixture, o *edited) {
		f.call("RemoveVServerGroupBackendServers", "VServerGroupId="+o.group, "BackendServers="+backend(1, o.service, o.named))
	}, cure: func(f *fixture, o *edited) {
		f.call("AddVServerGroupBackendServers", "VServerGroupId="+o.group, "BackendServers="+backend(1, o.service, o.named))
	}},
	"backend-removed": {finds: "remove VServerGroup backends ", byHand: func(f *fixture, o *edited) {
		f.call("AddVServerGroupBackendServers", "VServerGroupId="+o.group, "BackendServers="+backend(nodes+1, o.service, o.named))
	}, cure: func(f *fixture, o *edited) {
		f.call("RemoveVServerGroupBackendServers", "VServerGroupId="+o.group, "BackendServers="+backend(nodes+1, o.service, o.named))
	}},
	"same": {byHand: func(*fixture, *edited) {}, cure: func(*fixture, *edited) {}},
}

func startListener(f *fixture, o *edited) {
	f.call("StartLoadBalancerListener", "LoadBalancerId="+o.balancer, "ListenerPort=80", "ListenerProtocol=tcp")
}

func setCookieTimeout(f *fixture, o *edited, timeout string) {
	f.call("SetLoadBalancerHTTPListenerAttribute", "LoadBalancerId="+o.balancer, "ListenerPort=80", "HealthCheck=off",
		"StickySession=on", "StickySessionType=insert", "CookieTimeout="+timeout)
}

func setCertificate(f *fixture, o *edited, id string) {
	f.call("SetLoadBalancerHTTPSListenerAttribute", "LoadBalancerId="+o.balancer, "ListenerPort=80", "HealthCheck=off", "StickySession=off", "ServerCertificateId="+id)
}

// annotateEdited sets an annotation of a Service, or removes it where value is empty.
func (f *fixture) annotateEdited(o *edited, name, value string) {
	f.change(o.service.Name, func(s *corev1.Service) {
		if delete(s.Annotations, annotationPrefix+name); value != "" {
			metav1.SetMetaDataAnnotation(&s.ObjectMeta, annotationPrefix+name, value)
		}
	})
}

// backend returns a node as a controller adds it to a group.
func backend(n int, service *corev1.Service, group string) string {
	list, err := json.Marshal([]map[string]any{{
		"ServerId": cloud.NewInstance(n).ID, "Port": service.Spec.Ports[0].NodePort, "Weight": 100, "Type": "ecs", "Description": group,
	}})
	if err != nil {
		panic(err)
	}
	return string(list)
}

// call makes a call as a user would by hand.
func (f *fixture) call(action string, params ...string) (answer string) {
	f.Helper()
	answer, err := f.cloud.Control(f.ctx, append([]string{"call", action, "--api", "http://" + f.cloud.Endpoint}, params...)...)
	if err != nil {
		f.Fatal(err)
	}
	return answer
}

// TestUpgradeCheck proves that the dry run of a controller finds each edit made by
// hand, that clbemu upgrade-check shows it in the words of ACK's page, that it finds
// nothing without an edit or where the page's cure was done, and that it changes
// nothing.
func TestUpgradeCheck(t *testing.T) {
	f := start(t)
	f.control("world", "set", "cloud.year=2024") // which sells specs
	filled := strings.NewReplacer("{{acl}}", f.created("AclId", "CreateAccessControlList", "AclName=mine"), "{{cert}}", f.certificate(annotations.CLB, "web"))
	for name, e := range edits {
		f.service(name, func(s *corev1.Service) {
			for annotation, value := range e.annotations {
				s.Annotations[annotationPrefix+annotation] = filled.Replace(value)
			}
		})
	}
	all := make(map[string]*edited)
	for name := range edits {
		o := &edited{balancer: f.converged(name, func() map[string]int { return everywhere(nodes) })}
		var err error
		if o.service, err = f.kubernetes.CoreV1().Services(f.namespace).Get(f.ctx, name, metav1.GetOptions{}); err != nil {
			t.Fatal(err)
		}
		var groups struct {
			VServerGroups struct {
				VServerGroup []struct {
					VServerGroupID   string `json:"VServerGroupId"`
					VServerGroupName string
				}
			}
		}
		if err := json.Unmarshal([]byte(f.call("DescribeVServerGroups", "LoadBalancerId="+o.balancer)), &groups); err != nil {
			t.Fatal(err)
		}
		o.group, o.named = groups.VServerGroups.VServerGroup[0].VServerGroupID, groups.VServerGroups.VServerGroup[0].VServerGroupName
		all[name] = o
	}
	f.eventually("all Services done", func() error {
		events, err := f.kubernetes.CoreV1().Events(f.namespace).List(f.ctx, metav1.ListOptions{})
		for name := range edits {
			done := slices.ContainsFunc(events.Items, func(e corev1.Event) bool { return e.InvolvedObject.Name == name && e.Reason == "EnsuredLoadBalancer" })
			if err == nil && !done {
				err = fmt.Errorf("not %s", name)
			}
		}
		return err
	})
	f.controller.Kill()
	t.Cleanup(f.startController) // which the end of the test needs
	for name, e := range edits {
		e.byHand(f, all[name])
	}
	f.service("created")
	f.service("pending", func(s *corev1.Service) { s.Annotations[annotationPrefix+"spec"] = "slb.s9.none" })

	before, err := f.cloud.Control(f.ctx, "state", "export")
	if err != nil {
		t.Fatal(err)
	}
	f.cloud.Env = []string{"PATH=" + filepath.Dir(f.cluster.Kubectl()) + ":" + os.Getenv("PATH")}
	out, err := f.cloud.Control(f.ctx, "upgrade-check", "--ccm", controllerBinary(), "--kubeconfig", f.cluster.Kubeconfig)
	t.Log(out)
	if err == nil || !strings.Contains(err.Error(), "exit status 1") {
		t.Errorf("upgrade-check: %v, want exit status 1", err)
	}
	found := f.findings(out)
	want := map[string]string{"created": "create a new load balancer", "pending": "create a new load balancer"}
	for name, e := range edits {
		want[name] = e.finds
	}
	for name, finds := range want {
		if got := found[name]; finds == "" && got != nil || finds != "" && !slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, finds) }) {
			t.Errorf("of %s it finds %q, want %q", name, got, finds)
		}
	}
	if after, err := f.cloud.Control(f.ctx, "state", "export"); err != nil || after != before {
		t.Errorf("the check changed the state: %v", err)
	}

	for name, e := range edits {
		e.cure(f, all[name])
	}
	f.stillPending("created", "pending")
	f.startController()
	f.converged("created", func() map[string]int { return everywhere(nodes) })
	f.controller.Kill()
	f.stillPending("pending")
}

// stillPending fails the test unless a check finds of just these Services that they have no
// load balancer.
func (f *fixture) stillPending(services ...string) {
	f.Helper()
	out, err := f.cloud.Control(f.ctx, "upgrade-check", "--ccm", controllerBinary(), "--kubeconfig", f.cluster.Kubeconfig)
	found := f.findings(out)
	if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, services) {
		f.Errorf("the check finds something of %q (%v), want it of %q:\n%s", got, err, services, out)
	}
	for _, service := range services {
		if got := found[service]; len(got) != 1 || !strings.HasPrefix(got[0], "create a new load balancer") {
			f.Errorf("of %s it finds %q, want that it has no load balancer", service, got)
		}
	}
}

// findings returns the findings that clbemu upgrade-check printed, by Service.
func (f *fixture) findings(out string) map[string][]string {
	found := make(map[string][]string)
	service := ""
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		switch depth := len(line) - len(strings.TrimLeft(line, " ")); depth {
		case 0:
			name, _, _ := strings.Cut(line, " ")
			service = strings.TrimPrefix(name, f.namespace+"/")
		case 2:
			found[service] = append(found[service], strings.TrimSpace(line)+" ")
		}
	}
	return found
}
