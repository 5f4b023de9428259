#!/usr/bin/env bash
# Makes a Service of each kind of load balancer in the cluster of up.sh, waits for
# their addresses and backends, deletes them and checks the state of clbemu. When something fails, it collects logs, events and
# the state in kind-artifacts.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=cluster.sh
source "$(dirname "$0")/cluster.sh"
trap collect EXIT

# What a failed run left would be in the way.
kubectl delete service clbemu-e2e clbemu-e2e-nlb --ignore-not-found --timeout 3m
kubectl create service loadbalancer clbemu-e2e --tcp=80:8080
kubectl apply --filename "$(dirname "$0")/nlb-service.yaml"
kubectl wait --for='jsonpath={.status.loadBalancer.ingress[0].ip}' service/clbemu-e2e --timeout 3m
kubectl wait --for='jsonpath={.status.loadBalancer.ingress[0].hostname}' service/clbemu-e2e-nlb --timeout 3m
# An address alone says little: each balances to the workers.
for product in Slb Nlb; do
	for ((try = 0; ; try++)); do
		[ "$(clbemu get backend --json | grep --count "\"product\": \"$product\"")" -ge 2 ] && break
		[ "$try" -lt "${TRIES:-60}" ] || { echo "e2e.sh: the load balancer of $product has not both workers behind it" >&2; clbemu get backend >&2; exit 1; }
		sleep 1
	done
done
# In a pod, the name is known.
clbemu wait --timeout 2m --for "name=$(kubectl get service clbemu-e2e-nlb --output 'jsonpath={.status.loadBalancer.ingress[0].hostname}')"
kubectl delete service clbemu-e2e clbemu-e2e-nlb --timeout 3m
clbemu state check
echo "passed"
