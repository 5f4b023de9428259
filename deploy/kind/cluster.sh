# shellcheck shell=bash
# For the other scripts to source: how to reach the cluster of up.sh, and what to
# keep when one of them fails.
artifacts=${ARTIFACTS:-$PWD/kind-artifacts}
# The network of clients on the internet, with clbemu as its router. The block is
# documentation's, so that no host has it. Used by the scripts that source this.
# shellcheck disable=SC2034
clients=198.51.100.0/24 clients_router=198.51.100.254
kubectl() { command kubectl --context kind-clbemu "$@"; }
clbemu() { docker exec --interactive clbemu /clbemu "$@" --server http://127.0.0.1:9601; }
node_image() { docker inspect clbemu-control-plane --format '{{.Config.Image}}'; }

# waiting lists the containers that do not run, with what they wait for.
waiting() {
	kubectl get pods --all-namespaces --output 'jsonpath={range .items[*]}{.metadata.namespace}/{.metadata.name}{range .status.containerStatuses[?(@.state.waiting)]} waits: {.state.waiting.reason} {.state.waiting.message}{end}{"\n"}{end}' | grep ' waits: '
}

# collect, on EXIT, tells which pods wait for what, and keeps logs, events, objects
# and the state of clbemu.
collect() {
	[ $? -ne 0 ] || return 0
	waiting >&2 || true
	mkdir -p "$artifacts"
	kind export logs "$artifacts/kind" --name clbemu || true
	docker logs clbemu >"$artifacts/clbemu.log" 2>&1 || true
	kubectl get events --all-namespaces >"$artifacts/events.txt" || true
	kubectl get services,nodes --all-namespaces --output yaml >"$artifacts/objects.yaml" || true
	clbemu state export >"$artifacts/state.json" || true
	echo "$(basename "$0"): failed; see the logs in $artifacts" >&2
}
