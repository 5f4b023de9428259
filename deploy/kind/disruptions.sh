# shellcheck shell=bash
# For e2e.sh to source: what takes a node or clbemu away.
# shellcheck disable=SC2154

# drained: a node is drained, and comes back.
drained() {
	local address
	address=$(address_of clbemu-e2e)
	again backs clbemu-worker clbemu-e2e
	again backs clbemu-worker clbemu-e2e-local
	say "a drain, and no client sees it"
	while_asking "http://$address/" kubectl drain clbemu-worker --ignore-daemonsets --delete-emptydir-data --timeout 2m
	all_answered
	say "the policy Local takes the node out of the server group, the policy Cluster leaves it there"
	again backs_not clbemu-worker clbemu-e2e-local
	backs clbemu-worker clbemu-e2e || fail "the drained node has left the server group"
	say "cure: remove-unscheduled-backend"
	kubectl annotate service clbemu-e2e "$prefix-remove-unscheduled-backend=on" >/dev/null
	again backs_not clbemu-worker clbemu-e2e
	again answers from_client "$address"
	say "the node comes back"
	kubectl uncordon clbemu-worker
	again backs clbemu-worker clbemu-e2e
	again backs clbemu-worker clbemu-e2e-local
}
# backs reports whether a node is in the server group of a Service.
backs() { clbemu get backend --output wide | grep --quiet " $(address_of_node "$1") .*/$2/default/"; }
backs_not() { ! backs "$@"; }

# killed: clbemu is killed, once at rest and once in the middle of a change.
killed() {
	local address before
	address=$(address_of clbemu-e2e)
	before=$(balancers)
	again answers from_client "$address"
	say "clbemu is killed: no answer comes"
	docker kill --signal KILL clbemu >/dev/null
	again silent from_client "$address"
	say "cure: it starts again, and has lost nothing"
	docker start clbemu >/dev/null
	again answers from_client "$address"
	[ "$(balancers)" = "$before" ] || fail "it had $before, and has $(balancers)"
	say "it is killed when it has made a load balancer, and before it says so: Docker starts it again"
	clbemu fault add - <<-END >/dev/null
		{name: clbemu-e2e, match: {action: CreateLoadBalancer}, when: {times: 1}, effect: {crash: true}}
	END
	kubectl create service loadbalancer clbemu-e2e-killed --tcp 80:8080 >/dev/null
	kubectl label service clbemu-e2e-killed test=clbemu-e2e >/dev/null
	kubectl patch service clbemu-e2e-killed --patch '{"spec": {"selector": {"app": "clbemu-e2e-one"}}}' >/dev/null
	again crashed
	addressed
	again answers from_client "$(address_of clbemu-e2e-killed)"
	clbemu fault delete clbemu-e2e >/dev/null
	[ "$(balancers | wc --lines)" = $(($(wc --lines <<<"$before") + 1)) ] || fail "there is not one load balancer more: $(balancers)"
}
balancers() { clbemu get lb | awk '{print $1, $4}'; }
crashed() { [ "$(docker inspect clbemu --format '{{.RestartCount}}')" -gt 0 ]; }
