# shellcheck shell=bash
# For e2e.sh to source: what the probes and the end of a pod, which a kubelet plays, do to clients.
# shellcheck disable=SC2154

# probes: a probe that does not wait for the application restarts it again and again.
probes() {
	say "a liveness probe that fails once, a second after the start, of a pod that starts in ten"
	kubectl patch deployment clbemu-e2e-slow --patch '{"spec": {"strategy": {"rollingUpdate": null, "type": "Recreate"}, "template": {"spec": {"containers": [{"name": "server",
		"livenessProbe": {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 1, "failureThreshold": 1, "terminationGracePeriodSeconds": 1}}]}}}}' >/dev/null
	again restarted 2
	again status_is '50[23]' from_client "http://$(address_of clbemu-e2e-slow)/"
	say "cure: a probe that starts after the application has"
	kubectl patch deployment clbemu-e2e-slow --patch '{"spec": {"template": {"spec": {"containers": [{"name": "server",
		"livenessProbe": {"initialDelaySeconds": 15, "failureThreshold": 3}}]}}}}' >/dev/null
	settled clbemu-e2e-slow
	again restarted 0
}
restarted() {
	local count
	count=$(kubectl get pods --selector app=clbemu-e2e-slow --output 'jsonpath={.items[0].status.containerStatuses[0].restartCount}')
	if [ "$1" = 0 ]; then [ "$count" = 0 ]; else [ "${count:-0}" -ge "$1" ]; fi
}

# grace: a request that is on its way when its pod ends is lost, unless the pod may end it.
grace() {
	local address
	address=$(address_of clbemu-e2e-one)
	say "preStop takes 10 seconds, the grace period 2: a request of 6 seconds is lost"
	ends_within 2
	again answers from_client "$address"
	! lasts "$address" || fail "the request ends"
	say "cure: a grace period of 40 seconds"
	ends_within 40
	again answers from_client "$address"
	lasts "$address" || fail "the request is lost"
}
ends_within() {
	kubectl patch deployment clbemu-e2e-one --patch "{\"spec\": {\"template\": {\"spec\": {\"terminationGracePeriodSeconds\": $1, \"containers\": [{\"name\": \"server\",
		\"lifecycle\": {\"preStop\": {\"exec\": {\"command\": [\"sleep\", \"10\"]}}}}]}}}}" >/dev/null
	kubectl rollout status deployment/clbemu-e2e-one --timeout 3m >/dev/null
}
# lasts reports whether a request of six seconds is answered, whose pod begins to end after one.
lasts() {
	docker exec clbemu-client curl --silent --show-error --max-time 20 "http://$1/shell?cmd=sleep%206" >/dev/null &
	sleep 1
	kubectl delete pods --selector app=clbemu-e2e-one --wait=false >/dev/null
	wait $!
}
