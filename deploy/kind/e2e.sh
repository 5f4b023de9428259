#!/usr/bin/env bash
# Plays, in the cluster of up.sh: Services of each kind of load balancer, asked for as this
# machine, a node, a pod and a client on the internet do; the symptoms of symptoms.sh; pods that
# start and end; a node that is drained, and clbemu killed. Each check but the first two sees the
# symptom before it sees the cure. Then all is deleted, and the state of clbemu checked.
# SERVER_IMAGE is Kubernetes' agnhost; CHECKS names the checks to play, in their order; FROM_HOST is
# empty where this machine does not reach Docker's networks. When something fails, it collects logs,
# events and the state in kind-artifacts.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=cluster.sh
source "$(dirname "$0")/cluster.sh"
cd "$(dirname "$0")"
# shellcheck source-path=SCRIPTDIR source=asking.sh
source ./asking.sh
# shellcheck source-path=SCRIPTDIR source=symptoms.sh
source ./symptoms.sh
# shellcheck source-path=SCRIPTDIR source=pods.sh
source ./pods.sh
# shellcheck source-path=SCRIPTDIR source=disruptions.sh
source ./disruptions.sh
scratch=$(mktemp --directory)
answers=$scratch/answers seen=$scratch/seen
trap 'collect; docker rm --force --volumes clbemu-client >/dev/null 2>&1 || true; rm -rf "$scratch"' EXIT
server_image=${SERVER_IMAGE:-registry.k8s.io/e2e-test-images/agnhost:2.53}
checks=${CHECKS:-services ports inside outside uneven updating https stale probes grace drained killed}

remove() { kubectl delete services,deployments,secrets --selector test=clbemu-e2e --ignore-not-found --timeout 3m; }

prepare() {
	if docker image inspect "$server_image" >/dev/null 2>&1; then
		kind load docker-image "$server_image" --name clbemu
	fi
	# What a failed run left would be in the way.
	docker start clbemu >/dev/null
	clbemu wait --for ready
	remove
	clbemu fault delete --all
	kubectl uncordon clbemu-worker
	docker rm --force --volumes clbemu-client >/dev/null 2>&1 || true
	docker run --detach --name clbemu-client --network clbemu-clients --entrypoint sleep "$(node_image)" infinity >/dev/null
	client=$(docker inspect clbemu-client --format '{{(index .NetworkSettings.Networks "clbemu-clients").IPAddress}}')
	router=$(docker inspect clbemu-network --format '{{.NetworkSettings.Networks.kind.IPAddress}}')

	list=$(clbemu call CreateAccessControlList AclName=clbemu-e2e --field AclId)
	clbemu call AddAccessControlListEntry "AclId=$list" 'AclEntrys=[{"entry":"192.0.2.0/24"}]' >/dev/null
	certificate=$(clbemu call UploadServerCertificate "ServerCertificate=$(pem tls.crt)" "PrivateKey=$(pem tls.key)" --field ServerCertificateId)
	sed "s|image: server$|image: $server_image|; s|list-of-e2e|$list|; s|certificate-of-e2e|$certificate|" e2e.yaml symptoms.yaml |
		kubectl apply --filename - --filename nlb-service.yaml
	kubectl wait --for=condition=Available deployments --selector test=clbemu-e2e --timeout 3m
	addressed
	names=$(kubectl get pods --selector app=clbemu-e2e --output 'jsonpath={range .items[*]}{.metadata.name}{"\n"}{end}' | sort)
	[ "$(wc --lines <<<"$names")" = 2 ] || fail "there are not two pods, but $names"
}

# services: Services of each kind are reached from everywhere.
services() {
	local service address asker name balancer urls url
	for service in clbemu-e2e clbemu-e2e-local clbemu-e2e-eni; do
		address=$(address_of "$service")
		say "$service at $address"
		for asker in from_client from_node ${FROM_HOST-from_here}; do
			again both_answer "$asker" "$address"
		done
		again from_pod "$address:80"
		# With the policy Cluster, kube-proxy replaces the client's address by its node's.
		if [ "$service" != clbemu-e2e ]; then
			again seen_as from_client "$address" "$client"
			# Servers would answer this machine directly, so clbemu asks in its place.
			for asker in ${FROM_HOST-from_here}; do again seen_as "$asker" "$address" "$router"; done
		fi
	done
	again seen_as_other from_client "$(address_of clbemu-e2e)" "$client"

	name=$(kubectl get service clbemu-e2e-nlb --output 'jsonpath={.status.loadBalancer.ingress[0].hostname}')
	say "clbemu-e2e-nlb at $name"
	# In a pod, the name is known. It has an address in each zone.
	again from_pod "$name:80"
	balancer=$(clbemu get nlb --json | sed -n 's/.*"id": "\(nlb-[^"]*\)".*/\1/p')
	urls=$(clbemu url "$balancer")
	for url in $urls; do
		address=${url#*//}
		again both_answer from_client "${address%:80}"
	done
}
# both_answer asks in a way until both pods have answered, and no one else.
both_answer() {
	local answered
	answered=$(for _ in 1 2 3 4; do "$1" "http://$2/hostname" || return 1; echo; done | sort --unique)
	[ "$answered" = "$names" ]
}
# seen_as asks in a way, and knows whom the servers must see.
seen_as() { [ "$("$1" "http://$2/clientip" | sed 's/:[0-9]*$//')" = "$3" ]; }
seen_as_other() {
	local seen
	seen=$("$1" "http://$2/clientip" | sed 's/:[0-9]*$//')
	[ -n "$seen" ] && [ "$seen" != "$3" ]
}

# ports: the cluster IP and the ports of the nodes lead to a Service without its load balancer.
ports() {
	local inner port node
	inner=$(kubectl get service clbemu-e2e --output 'jsonpath={.spec.clusterIP}')
	port=$(kubectl get service clbemu-e2e --output 'jsonpath={.spec.ports[0].nodePort}')
	say "the cluster IP $inner and the name, inside the cluster"
	again both_answer from_node "$inner"
	again from_pod "$inner:80"
	again from_pod clbemu-e2e.default.svc.cluster.local:80
	say "the port $port of each node, inside and outside"
	for node in clbemu-control-plane clbemu-worker clbemu-worker2; do
		again both_answer from_node "$(address_of_node "$node"):$port"
		again both_answer from_neighbor "$(address_of_node "$node"):$port"
	done
}

prepare
for check in $checks; do
	echo "== $check"
	"$check"
done
check=remove
remove
clbemu call DeleteAccessControlList "AclId=$list" >/dev/null
clbemu call DeleteServerCertificate "ServerCertificateId=$certificate" >/dev/null
clbemu state check
echo "passed"
