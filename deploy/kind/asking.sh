# shellcheck shell=bash
# For e2e.sh to source: who asks, what counts as an answer, and how long to wait for one.
# shellcheck disable=SC2034,SC2154
prefix=service.beta.kubernetes.io/alibaba-cloud-loadbalancer

say() { echo "   $*"; }
# again repeats a check until it holds.
again() {
	for ((try = 0; ; try++)); do
		"$@" 2>"$seen" && return
		[ "$try" -lt "${TRIES:-60}" ] || fail "it does not happen: $*: $(<"$seen")"
		sleep "${PAUSE:-1}"
	done
}
fail() {
	echo "e2e.sh: ${check:-prepare}: $*" >&2
	clbemu get backend >&2 || true
	exit 1
}

# Who asks: this machine, a client on the internet, a neighbor of the nodes outside the cluster,
# a node, which does not have the pod of clbemu-e2e-one, and a pod of clbemu-e2e.
from_here() { curl --silent --show-error --max-time 5 "$@"; }
from_client() { docker exec clbemu-client curl --silent --show-error --max-time 5 "$@"; }
from_neighbor() { docker exec clbemu-network curl --silent --show-error --max-time 5 "$@"; }
from_node() { docker exec clbemu-worker2 curl --silent --show-error --max-time 5 "$@"; }
from_pod() { kubectl exec deployment/clbemu-e2e -- /agnhost connect "$1" --timeout 5s; }

# answers asks in a way until a server has said its name.
answers() { [ "$("$1" "http://$2/hostname" | cut --delimiter - --fields 1,2)" = clbemu-e2e ]; }
# keeps_answering asks in a way for so long that a health check would have failed: until it has,
# servers count as well.
keeps_answering() {
	for _ in 1 2 3 4 5; do
		answers "$@" || return 1
		sleep "${PAUSE:-1}"
	done
}
# silent asks in a way, a few times, and may get no answer.
silent() {
	for _ in 1 2 3; do
		! "$1" "http://$2/hostname" >/dev/null || { echo "it answers" >&2; return 1; }
		sleep "${PAUSE:-1}"
	done
}
# status_is asks in a way for a URL that is to be answered by a status of a pattern; 000 is none.
status_is() {
	local status
	status=$("$2" --insecure --output /dev/null --write-out '%{http_code}' "$3") || true
	# shellcheck disable=SC2053
	[[ $status = $1 ]] || { echo "$status" >&2; return 1; }
}

# addressed waits until each Service has an address or a name.
addressed() { kubectl wait --for='jsonpath={.status.loadBalancer.ingress}' services --selector test=clbemu-e2e --timeout 3m; }
address_of() { kubectl get service "$1" --output 'jsonpath={.status.loadBalancer.ingress[0].ip}'; }
address_of_node() { kubectl get node "$1" --output 'jsonpath={.status.addresses[?(@.type=="InternalIP")].address}'; }
pem() { sed -n "/^  $1: |$/,/-----END/s/^    //p" symptoms.yaml; }

# while_asking asks as a client, ten times a second, while the rest of the line is
# done, and counts the answers by status, in $answers.
while_asking() {
	local url=$1
	shift
	docker exec clbemu-client rm --force /tmp/done
	docker exec clbemu-client sh -c 'until [ -e /tmp/done ]; do
		curl --silent --output /dev/null --max-time 2 --write-out "%{http_code}\n" "$1"; sleep 0.1
	done | sort | uniq --count' asking "$url" >"$answers" &
	"$@"
	docker exec clbemu-client touch /tmp/done
	wait $!
	say "answers by status: $(tr --squeeze-repeats ' \n' ' ' <"$answers")"
}
