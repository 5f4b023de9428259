# shellcheck shell=bash
# For e2e.sh to source: the symptoms of the troubleshooting page of ACK. Each check sees the
# symptom, applies the cure, and sees that it has gone.
# shellcheck disable=SC2154

# inside: a load balancer is reached from outside the cluster, and not from inside.
inside() {
	local address port
	address=$(address_of clbemu-e2e-one)
	port=$(kubectl get service clbemu-e2e-one --output 'jsonpath={.spec.ports[0].nodePort}')
	say "policy Local: the node with the pod answers at its port $port, the other one does not"
	again answers from_neighbor "$(address_of_node clbemu-worker):$port"
	again silent from_neighbor "$(address_of_node clbemu-worker2):$port"
	again answers from_client "$address"
	# The document says that the other node does not reach it. kube-proxy in the modes iptables
	# and nftables takes what a node itself sends to any pod.
	say "today: the node without the pod reaches $address all the same"
	again answers from_node "$address"

	address=$(address_of clbemu-e2e-tls)
	say "the load balancer ends TLS: it is reached from outside, and not from inside, where kube-proxy passes it by"
	again status_is 200 from_client "https://$address/"
	again status_is 000 from_node "https://$address/"
	say "cure: a name in place of the address in the status, so that nodes do not know it"
	kubectl annotate service clbemu-e2e-tls "$prefix-hostname=inside.example.com" >/dev/null
	again status_is 200 from_node "https://$address/"
	again from_pod "$address:443"

	address=$(address_of clbemu-e2e-proxied)
	say "the load balancer adds the proxy protocol, which the pod refuses: it gets it from outside, and not from inside"
	again status_is 400 from_client "http://$address/"
	again status_is 200 from_node "http://$address/"
	say "cure: a name in place of the address, and the pod gets it from inside as well"
	kubectl annotate service clbemu-e2e-proxied "$prefix-hostname=proxied.example.com" >/dev/null
	again status_is 400 from_node "http://$address/"
}

# outside: a load balancer is not reached from outside the cluster.
outside() {
	local address
	address=$(address_of clbemu-e2e-listed)
	say "an access control list without the client: refused"
	again silent from_client "$address"
	say "cure: an entry for the client"
	clbemu call AddAccessControlListEntry "AclId=$list" "AclEntrys=[{\"entry\":\"$client/32\"}]" >/dev/null
	again answers from_client "$address"

	address=$(address_of clbemu-e2e-checked)
	say "a health check that fails: not reached"
	again silent from_client "$address"
	say "cure: a page that there is"
	kubectl annotate --overwrite service clbemu-e2e-checked "$prefix-health-check-uri=/healthz" >/dev/null
	again keeps_answering from_client "$address"

	address=$(address_of clbemu-e2e-one)
	say "no pod, and an empty server group: not reached"
	kubectl scale deployment clbemu-e2e-one --replicas 0 >/dev/null
	again silent from_client "$address"
	say "cure: a pod"
	kubectl scale deployment clbemu-e2e-one --replicas 1 >/dev/null
	again answers from_client "$address"
}

# requests_of counts, of twelve requests, those that pods of a Deployment answer.
requests_of() {
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do from_client "http://$2/hostname" || true; echo; done | grep --count "^clbemu-e2e-$1-" || true
}
share_is() { [ "$(requests_of few "$2")" = "$1" ]; }

# uneven: pods get uneven loads.
uneven() {
	local address
	address=$(address_of clbemu-e2e-uneven)
	kubectl rollout status deployment/clbemu-e2e-many --timeout 3m >/dev/null
	say "a pod that is alone on its node gets half of the requests, and the two others the rest"
	again share_is 6 "$address"
	say "cure: weighted round robin, a third for each"
	kubectl annotate service clbemu-e2e-uneven "$prefix-scheduler=wrr" >/dev/null
	again share_is 4 "$address"
}

# updating: clients get 502 or 503 while an application is updated.
updating() {
	local address
	address=$(address_of clbemu-e2e-slow)
	again answers from_client "$address"
	say "an update without a readiness probe"
	while_asking "http://$address/" restart clbemu-e2e-slow
	grep --quiet '50[23]$' "$answers" || fail "no client sees the update"
	say "cure: a readiness probe, and a preStop hook that waits"
	kubectl patch deployment clbemu-e2e-slow --patch '{"spec": {"template": {"spec": {"terminationGracePeriodSeconds": 35, "containers": [{"name": "server",
		"readinessProbe": {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 1}, "lifecycle": {"preStop": {"sleep": {"seconds": 5}}}}]}}}}' >/dev/null
	settled clbemu-e2e-slow
	while_asking "http://$address/" restart clbemu-e2e-slow
	all_answered
}
# settled waits until a Deployment has its new pods alone, and they answer.
settled() {
	kubectl rollout status "deployment/$1" --timeout 3m >/dev/null
	again alone "$1"
	again answers from_client "$(address_of "$1")"
}
alone() { [ "$(kubectl get pods --selector "app=$1" --output name | wc --lines)" = 1 ]; }
restart() {
	kubectl rollout restart "deployment/$1" >/dev/null
	settled "$1"
}
all_answered() { ! grep --invert-match ' 200$' "$answers" >&2 || fail "a client sees the change"; }

# https: a client gets 400, since the load balancer speaks HTTP to a port where the pod speaks HTTPS.
https() {
	local address
	address=$(address_of clbemu-e2e-https)
	again status_is 400 from_client "https://$address/"
	say "$(from_client --insecure "https://$address/")"
	say "cure: a targetPort where the pod speaks HTTP"
	kubectl patch service clbemu-e2e-https --patch '{"spec": {"ports": [{"port": 443, "targetPort": 8080}]}}' >/dev/null
	again status_is 200 from_client "https://$address/"
}

# stale: a server group is not updated, and an Event says why.
stale() {
	local address
	address=$(address_of clbemu-e2e-one)
	again answers from_client "$address"
	say "calls for server groups are throttled while the pod moves to another node"
	clbemu fault add - <<-END >/dev/null
		{name: clbemu-e2e, match: {action: "*VServerGroup*Server*,SetVServerGroupAttribute"}, effect: {error: {code: Throttling.User}}}
	END
	move clbemu-worker2
	again told clbemu-e2e-one 'flow control'
	again silent from_client "$address"
	say "cure: the calls are answered again"
	clbemu fault delete clbemu-e2e >/dev/null
	again answers from_client "$address"
	move clbemu-worker
	again answers from_client "$address"
}
move() {
	kubectl patch deployment clbemu-e2e-one --patch "{\"spec\": {\"template\": {\"spec\": {\"nodeSelector\": {\"kubernetes.io/hostname\": \"$1\"}}}}}" >/dev/null
	kubectl rollout status deployment/clbemu-e2e-one --timeout 3m >/dev/null
}
# told reports whether a Warning about this Service, and no earlier one of the name, has some words.
told() {
	local service
	service=$(kubectl get service "$1" --output 'jsonpath={.metadata.uid}')
	kubectl get events --field-selector "involvedObject.uid=$service,type=Warning" | grep "SyncLoadBalancerFailed.*$2" >/dev/null
}
