#!/usr/bin/env bash
# Makes Services of each kind of load balancer in the cluster of up.sh, and asks for them as
# this machine, a node, a pod and a client on the internet do; then deletes them and checks
# the state of clbemu. SERVER_IMAGE is Kubernetes' agnhost. When something fails, it collects
# logs, events and the state in kind-artifacts.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=cluster.sh
source "$(dirname "$0")/cluster.sh"
cd "$(dirname "$0")"
trap 'collect; docker rm --force --volumes clbemu-client >/dev/null 2>&1 || true' EXIT
server_image=${SERVER_IMAGE:-registry.k8s.io/e2e-test-images/agnhost:2.53}
services=(clbemu-e2e clbemu-e2e-local clbemu-e2e-eni clbemu-e2e-nlb)

if docker image inspect "$server_image" >/dev/null 2>&1; then
	kind load docker-image "$server_image" --name clbemu
fi
# What a failed run left would be in the way.
kubectl delete service "${services[@]}" --ignore-not-found --timeout 3m
docker rm --force --volumes clbemu-client >/dev/null 2>&1 || true
docker run --detach --name clbemu-client --network clbemu-clients --entrypoint sleep "$(node_image)" infinity >/dev/null
client=$(docker inspect clbemu-client --format '{{(index .NetworkSettings.Networks "clbemu-clients").IPAddress}}')

sed "s|image: server$|image: $server_image|" e2e.yaml | kubectl apply --filename - --filename nlb-service.yaml
kubectl rollout status deployment/clbemu-e2e --timeout 3m

# again repeats a check until it holds.
again() {
	for ((try = 0; ; try++)); do
		"$@" && return
		[ "$try" -lt "${TRIES:-60}" ] || { echo "e2e.sh: it does not happen: $*" >&2; clbemu get backend >&2; exit 1; }
		sleep 1
	done
}
from_here() { curl --silent --show-error --max-time 5 "$@"; }
from_client() { docker exec clbemu-client curl --silent --show-error --max-time 5 "$@"; }
from_node() { docker exec clbemu-worker curl --silent --show-error --max-time 5 "$@"; }
# both_answer asks as somebody until both pods have answered, and no one else.
both_answer() {
	local names
	names=$(for _ in 1 2 3 4; do "$1" "http://$2/hostname" || return 1; echo; done | sort --unique)
	[ "$names" = "$pods" ]
}
# seen_as asks as somebody whom the servers see.
seen_as() { [ "$("$1" "http://$2/clientip" | sed 's/:[0-9]*$//')" = "$3" ]; }
connects() { kubectl exec "$pod" -- /agnhost connect "$1:80" --timeout 5s; }

pods=$(kubectl get pods --selector app=clbemu-e2e --output 'jsonpath={range .items[*]}{.metadata.name}{"\n"}{end}' | sort)
pod=${pods%%$'\n'*}
for service in clbemu-e2e clbemu-e2e-local clbemu-e2e-eni; do
	kubectl wait --for='jsonpath={.status.loadBalancer.ingress[0].ip}' "service/$service" --timeout 3m
	address=$(kubectl get service "$service" --output 'jsonpath={.status.loadBalancer.ingress[0].ip}')
	for asker in from_client from_node ${FROM_HOST-from_here}; do
		again both_answer "$asker" "$address"
	done
	again connects "$address"
	# With the policy Cluster, kube-proxy replaces the client's address by its node's.
	[ "$service" = clbemu-e2e ] || again seen_as from_client "$address" "$client"
done

kubectl wait --for='jsonpath={.status.loadBalancer.ingress[0].hostname}' service/clbemu-e2e-nlb --timeout 3m
name=$(kubectl get service clbemu-e2e-nlb --output 'jsonpath={.status.loadBalancer.ingress[0].hostname}')
# In a pod, the name is known. It has an address in each zone.
again connects "$name"
balancer=$(clbemu get nlb --json | sed -n 's/.*"id": "\(nlb-[^"]*\)".*/\1/p')
urls=$(clbemu url "$balancer")
for url in $urls; do
	address=${url#*//}
	again both_answer from_client "${address%:80}"
done

kubectl delete service "${services[@]}" --timeout 3m
kubectl delete deployment clbemu-e2e --timeout 3m
clbemu state check
echo "passed"
