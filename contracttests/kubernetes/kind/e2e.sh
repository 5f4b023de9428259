#!/usr/bin/env bash
# Makes a Service in the cluster of up.sh, waits for its address, deletes it and
# checks the state of clbemu. When something fails, it collects logs, events and
# the state in kind-artifacts.
set -euo pipefail

artifacts=${ARTIFACTS:-kind-artifacts}
kubectl() { command kubectl --context kind-clbemu "$@"; }
clbemu() { kubectl --namespace clbemu exec deployment/clbemu -- /clbemu "$@" --server http://127.0.0.1:9601; }

collect() {
	[ $? -ne 0 ] || return 0
	mkdir -p "$artifacts"
	kind export logs "$artifacts/kind" --name clbemu || true
	kubectl get events --all-namespaces >"$artifacts/events.txt" || true
	kubectl get services,nodes --all-namespaces --output yaml >"$artifacts/objects.yaml" || true
	clbemu state export >"$artifacts/state.json" || true
	echo "e2e.sh: failed; what there is to see is in $artifacts" >&2
}
trap collect EXIT

kubectl create service loadbalancer clbemu-e2e --tcp=80:8080
kubectl wait --for='jsonpath={.status.loadBalancer.ingress[0].ip}' service/clbemu-e2e --timeout 3m
kubectl delete service clbemu-e2e --timeout 3m
clbemu state check
echo "passed"
