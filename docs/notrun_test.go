package docs_test

// notRun are the blocks of shell that no test runs as they stand, by their page and
// first line, and why. The names in them are looked up as in all others.
var notRun = map[string]string{
	"CONTRIBUTING.md: make          # the binary, in bin/": "these are all tests there are",

	"README.md: make test": "these are all tests there are; .ci/run types it",
	"README.md: CCM_IMAGE=registry.cn-hangzhou.aliyuncs.com/acs/cloud-controller-manager:v2.14.0 make kind-up":                                                "it needs Docker, kind and the network; deploy/kind has the tests of what make kind-up runs",
	"docs/kind.md: CCM_IMAGE=registry.cn-hangzhou.aliyuncs.com/acs/cloud-controller-manager:v2.14.0 make kind-up":                                             "it needs Docker, kind and the network; deploy/kind has the tests of what make kind-up runs",
	"docs/kind.md: kubectl --context kind-clbemu create deployment web --image registry.k8s.io/e2e-test-images/agnhost:2.53 --replicas 2 -- /agnhost netexec": "it needs the cluster of make kind-up; make e2e-kind does the same there",
	"docs/kind.md: IP=$(kubectl --context kind-clbemu get service web --output 'jsonpath={.status.loadBalancer.ingress[0].ip}')":                              "it needs the cluster of make kind-up; make e2e-kind does the same there",
	"docs/kind.md: make control-plane":                                                                                                                    "it builds Kubernetes, and goes on until Ctrl-C; make e2e runs the same control plane",
	"docs/kind.md: clbemu serve &":                                                                                                                        "it needs a cluster and a CCM; make e2e starts both in this way",
	"docs/kind.md: kubectl create service loadbalancer web --tcp=80:8080":                                                                                 "it needs a cluster; make e2e makes such a Service",
	"docs/kind.md: kubectl get nodes -o json | clbemu world import -":                                                                                     "it needs a cluster; make e2e brings its nodes and pods in",
	"docs/packets.md: sudo bin/clbemu serve --data-plane addresses":                                                                                       "it changes the machine's network; main_test.TestServeAddresses does it in a network namespace",
	"docs/packets.md: sudo ip route add local default dev lo table 96":                                                                                    "it changes the machine's network; dataplane_test.TestTransparent does it in a network namespace",
	"docs/replicas.md: etcd --data-dir etcd-data --auto-compaction-retention 10m &":                                                                       "it needs etcd; the tests of contracttests/kubernetes/replicas run the same with a real one",
	"docs/replicas.md: for n in 1 2 3; do":                                                                                                                "it needs etcd; the tests of contracttests/kubernetes/replicas run the same with a real one",
	"docs/replicas.md: clbemu call CreateLoadBalancer LoadBalancerName=web InstanceChargeType=PayByCLCU --api http://127.0.0.1:9604":                      "it needs etcd; the tests of contracttests/kubernetes/replicas run the same with a real one",
	"docs/replicas.md: clbemu get lb --server 127.0.0.1:9607":                                                                                             "it needs etcd; the tests of contracttests/kubernetes/replicas run the same with a real one",
	"docs/replicas.md: clbemu state import state.json --server 127.0.0.1:9603":                                                                            "it needs etcd; the tests of contracttests/kubernetes/replicas run the same with a real one",
	"docs/connect.md: cd examples/terraform":                                                                                                              "it needs Terraform and its provider; examples_test.TestTerraform does the same where they are",
	"docs/connect.md: clbemu scenario watch arrears --restarts 3 --tls -- terraform apply -auto-approve":                                                  "it needs Terraform and its provider; examples_test.TestTerraformInArrears does the same where they are",
	"docs/install.md: sudo systemctl enable --now clbemu":                                                                                                 "it needs systemd and a release; systemd_test.TestRelease installs the packages and starts the service's command",
	"docs/install.md: helm install clbemu oci://ghcr.io/clbemu/charts/clbemu":                                                                             "it needs a cluster and a release; make e2e applies the chart",
	"docs/install.md: sha256sum --check --ignore-missing checksums.txt":                                                                                   "it needs a release",
	"docs/connect.md: docker build --tag clbemu .":                                                                                                        "it needs Docker; make image-archive is run in CI, and deploy/image runs what a container does",
	"docs/connect.md: docker compose --file examples/compose/compose.yaml up --abort-on-container-exit":                                                   "it needs Docker; examples/ has a test of compose",
	"docs/controller-author.md: go get github.com/clbemu/clbemu/emulator/emulatortest":                                                                    "it changes the reader's module",
	"docs/using.md: OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 clbemu serve":                                                                       "it is a terminal of its own; main_test.TestTraces does it with a collector",
	"docs/controller-author.md: go test ./examples/go":                                                                                                    "the tests of the repository do",
	"docs/controller-author.md: clbemu scenario run reply-lost-after-create --part kubernetes --server http://127.0.0.1:9601 --kubeconfig ~/.kube/config": "it needs a cluster with a controller; make e2e plays the library there",
	"docs/operators.md: clbemu state pull --region cn-hangzhou ./account":                                                                                 "it needs an account; command.TestStatePull copies one",
	"docs/operators.md: clbemu rehearse --data-dir ./account --trail events.json.gz --until 2026-11-28T03:12:00Z --out ./then":                            "it needs an account's events; command.TestRehearseTrail plays some",

	"docs/connect.md: CUSTOMIZED_ENDPOINT=true cloud-controller-manager --cloud-provider=alicloud --cloud-config cloud-config.json \\": "it needs a cluster and a CCM of 2018; the end-to-end tests start one in this way where CCM_BIN names it",

	"docs/evidence.md: export ALIBABA_CLOUD_ACCESS_KEY_ID=… ALIBABA_CLOUD_ACCESS_KEY_SECRET=…":                                                                            "it needs an account of the real cloud; command.TestFidelityRun runs the same against an emulator",
	"docs/evidence.md: clbemu fidelity run --target cloud --region cn-beijing --allow-changes --vpc vpc-… --vswitch vsw-… --zone cn-beijing-h 'Slb/CreateVServerGroup/*'": "it needs an account of the real cloud; command.TestFidelityRun runs the same against an emulator",

	"docs/explore.md: clbemu explore service.yaml --kubeconfig a.kubeconfig --kubeconfig b.kubeconfig --out results/ -- ./ccm.sh": "it needs clusters and a controller",

	"scenarios/README.md: clbemu scenario watch reply-lost-after-create -- go test ./...":                  "the program is the reader's",
	"docs/operators.md: clbemu upgrade-check --ccm ./cloud-controller-manager --kubeconfig ~/.kube/config": "it needs a cluster and a controller; make e2e runs it there",

	"scenarios/README.md: clbemu scenario run reply-lost-after-create --server http://127.0.0.1:9601 --kubeconfig ~/.kube/config": "it needs a cluster with a controller; make e2e plays the library there",
}
