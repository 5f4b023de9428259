#!/usr/bin/env bash
# Brings up a kind cluster in which a cloud controller manager (CCM) works against
# clbemu, a container beside the nodes. Needs Docker, kind and kubectl, and the archives of
# make image-archive. CCM_IMAGE names the image of the CCM, which is taken from Docker when
# it is there. Run again, it goes on with the cluster that there is, with clbemu's state, and
# with the addresses that Docker has given out since.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=cluster.sh
source "$(dirname "$0")/cluster.sh"
cd "$(dirname "$0")"

image_archive=../../bin/clbemu-image.tar
worldwatch_archive=../../bin/clbemu-worldwatch-image.tar
world=$PWD/../../bin/kind-world.yaml

: "${CCM_IMAGE:?set it to the image of a cloud controller manager that Docker has or kind can pull}"
for tool in docker kind kubectl; do
	type -P "$tool" >/dev/null || { echo "up.sh: $tool is not on the PATH: install it" >&2; exit 1; }
done
for archive in "$image_archive" "$worldwatch_archive"; do
	[ -f "$archive" ] || { echo "up.sh: $archive is missing: run make image-archive" >&2; exit 1; }
done

kind get clusters | grep --line-regexp --quiet clbemu || kind create cluster --config cluster.yaml
trap collect EXIT
docker load --quiet --input "$image_archive"
kind load image-archive "$worldwatch_archive" --name clbemu
if docker image inspect "$CCM_IMAGE" >/dev/null 2>&1; then
	kind load docker-image "$CCM_IMAGE" --name clbemu
fi

# The network of clbemu outlives its restarts, as a pod's does, with the routes to the pods
# of each node. Its programs, such as ip and curl, are the node image's.
docker rm --force --volumes clbemu clbemu-network >/dev/null 2>&1 || true
docker run --detach --name clbemu-network --hostname clbemu --network kind --network-alias clbemu \
	--publish 127.0.0.1:9610:9600 --publish 127.0.0.1:9611:9601 \
	--cap-add NET_ADMIN --entrypoint sleep "$(node_image)" infinity >/dev/null
address=$(docker inspect clbemu-network --format '{{.NetworkSettings.Networks.kind.IPAddress}}')
kubectl wait --for='jsonpath={.spec.podCIDR}' nodes --all --timeout 1m >/dev/null
direct=
while read -r node_address pods; do
	docker exec clbemu-network ip route replace "$pods" via "$node_address"
	direct+=$pods,$node_address/32,
done < <(kubectl get nodes --output 'jsonpath={range .items[*]}{.status.addresses[?(@.type=="InternalIP")].address} {.spec.podCIDR}{"\n"}{end}')

# Another network stands for the internet: its only router is clbemu, and servers see the
# addresses of clients in it, since their answers come back by clbemu. Docker would give
# that address to its bridge, and replace those of clients in kind's network.
if ! docker network inspect clbemu-clients >/dev/null 2>&1; then
	docker network create --subnet "$clients" --gateway "$clients_router" --opt com.docker.network.bridge.inhibit_ipv4=true \
		--opt com.docker.network.bridge.enable_ip_masquerade=false clbemu-clients >/dev/null
fi
docker network connect clbemu-clients clbemu-network
device=$(docker exec clbemu-network ip -oneline address show to "$clients" | awk '{print $2; exit}')
docker exec clbemu-network ip address add "$clients_router/32" dev "$device"
docker exec clbemu-network ip route replace local default dev lo table 96
docker exec clbemu-network ip rule add iif eth0 to "$clients" lookup 96
for node in $(kind get nodes --name clbemu); do
	docker exec "$node" ip route replace "$clients" via "$address"
done

# The public addresses of load balancers are at the top of kind's network; Docker gives out those
# at its bottom.
networks=$(docker network inspect kind --format '{{range .IPAM.Config}}{{.Subnet}},{{end}}')
docker run --rm clbemu world show --network "$networks" >"$world"
token=$(sed -n 's/.*\[token=\(.*\)\]/\1/p' clbemu/kustomization.yaml)
docker run --detach --name clbemu --restart unless-stopped --network container:clbemu-network \
	--user 0 --cap-drop ALL --cap-add NET_ADMIN --cap-add NET_BIND_SERVICE --cap-add NET_RAW --cap-add DAC_OVERRIDE \
	--read-only --security-opt no-new-privileges --volume clbemu-kind:/data --volume "$world:/world.yaml:ro" \
	--env CLBEMU_WORLD=/world.yaml --env CLBEMU_CONTROL_TOKEN="$token" --env CLBEMU_DNS_LISTEN=0.0.0.0:9653 \
	--env CLBEMU_ALLOWED_HOST='clbemu,*.clbemu,*.clbemu.svc,*.clbemu.svc.cluster.local' \
	--env CLBEMU_DATA_PLANE=addresses --env CLBEMU_DATA_PLANE_INTERFACE=eth0 \
	--env CLBEMU_DATA_PLANE_DIRECT="$direct" --env CLBEMU_DATA_PLANE_SOURCE="$clients" clbemu >/dev/null
clbemu wait --for ready

kubectl kustomize clbemu | sed "s|192\.0\.2\.1|$address|" | kubectl apply --filename -
kubectl --namespace clbemu rollout status deployment/worldwatch --timeout 3m

# Pods ask CoreDNS, and it asks clbemu about the names of NLBs. It starts after the CCM
# has, and reads its file again by itself when it runs already.
corefile=$(kubectl --namespace kube-system get configmap coredns --output 'jsonpath={.data.Corefile}')
if ! grep --quiet '^nlb.aliyuncs.com' <<<"$corefile"; then
	printf '%s\n' "$corefile" "$(<Corefile)" |
		kubectl --namespace kube-system create configmap coredns --from-file=Corefile=/dev/stdin --dry-run=client --output yaml |
		kubectl replace --filename -
fi

# The nodes become instances of the emulated cloud, with the addresses that Docker
# gave them.
kubectl get nodes --output json | clbemu world import -

kubectl kustomize ccm | sed "s|image: cloud-controller-manager$|image: $CCM_IMAGE|" | kubectl apply --filename -
kubectl --namespace kube-system rollout status deployment/cloud-controller-manager --timeout 5m
# The region is what a CCM writes into a node; Ready it is without one.
kubectl wait --for='jsonpath={.metadata.labels.topology\.kubernetes\.io/region}=cn-hangzhou' nodes --all --timeout 3m
echo "Services of type LoadBalancer in the context kind-clbemu get their addresses from clbemu, and are reached there."
