#!/usr/bin/env bash
# Proves, in the cluster of up.sh, that each check of e2e.sh notices what it is about: plays it with its
# cause or its cure taken out, or a value changed, and wants it to fail. Lists what each failed with,
# and the mutants that no check noticed. With CHECKS it plays the mutants of these checks alone; with
# DRY=1 it only makes them.
# shellcheck disable=SC2016 # the scripts that are changed expand what is in them
set -euo pipefail
cd "$(dirname "$0")"
scratch=$(mktemp --directory)
trap 'rm -rf "$scratch"' EXIT
survived=0

# mutant plays a check that a sed script has changed in a file.
mutant() {
	local check=$1 what=$2 file=$3 script=$4 said why
	[[ " ${CHECKS:-$check} " = *" $check "* ]] || return 0
	rm -rf "$scratch/kind" && cp -r . "$scratch/kind"
	sed --null-data --regexp-extended --in-place "$script" "$scratch/kind/$file"
	! cmp --silent "$file" "$scratch/kind/$file" || { echo "mutants.sh: $check: $what: changes nothing" >&2; exit 1; }
	sed --in-place "s/trap 'collect; /trap '/" "$scratch/kind/e2e.sh"
	[ -z "${DRY:-}" ] || { echo "$check: $what"; return; }
	if said=$(CHECKS=$check TRIES=${TRIES:-30} "$scratch/kind/e2e.sh" 2>&1); then
		echo "$check: $what: SURVIVED"
		survived=$((survived + 1))
	elif why=$(grep --max-count 1 '^e2e.sh: ' <<<"$said"); then
		echo "$check: $what: $why"
	else
		echo "mutants.sh: $check: $what: is not played: $(tail --lines 1 <<<"$said")" >&2
		exit 1
	fi
}
# The document of a Service or Deployment NAME of a file, for a sed script.
of() { printf '%s\n' "s/(\n  name: $1\n([^-]|-[^-])*)$2/\1$3/"; }

mutant services 'the policy Local in place of Cluster' e2e.yaml "$(of clbemu-e2e 'type: LoadBalancer\n  selector: \{app: clbemu-e2e}' 'type: LoadBalancer\n  externalTrafficPolicy: Local\n  selector: {app: clbemu-e2e}')"
mutant services 'the policy Cluster in place of Local' e2e.yaml 's/\n  externalTrafficPolicy: Local//'
mutant services 'no backend-type: eni' e2e.yaml 's/\n    service.beta.kubernetes.io\/backend-type: eni/ {}/'
mutant services 'no load balancer class' nlb-service.yaml 's/\n  loadBalancerClass: [^\n]*//'
mutant services 'one pod alone' e2e.yaml 's/replicas: 2/replicas: 1/'
mutant services 'a port where no pod listens' e2e.yaml 's/targetPort: 8080/targetPort: 8081/3'
mutant ports 'the policy Local' e2e.yaml "$(of clbemu-e2e 'type: LoadBalancer\n  selector: \{app: clbemu-e2e}' 'type: LoadBalancer\n  externalTrafficPolicy: Local\n  selector: {app: clbemu-e2e}')"
mutant ports 'kube-proxy leaves the Service alone' e2e.yaml 's/(kind: Service\nmetadata:\n  name: clbemu-e2e\n  labels: \{)/\1service.kubernetes.io\/service-proxy-name: none, /'
mutant ports 'a port where no pod listens' e2e.yaml 's/targetPort: 8080/targetPort: 8081/1'
mutant inside 'the policy Cluster' symptoms.yaml 's/\n  externalTrafficPolicy: Local//1'
mutant inside 'the pod on the other node' symptoms.yaml 's/clbemu-worker\}/clbemu-worker2}/1'
mutant inside 'the pod ends TLS itself' symptoms.yaml 's/(protocol-port: )https(:443\n[^\n]*\nspec:\n  type: LoadBalancer\n  selector: \{app: clbemu-e2e-https}\n  ports:\n    - \{port: 443, targetPort: )8080/\1tcp\28443/'
mutant inside 'kube-proxy leaves the Service alone' symptoms.yaml 's/(name: clbemu-e2e-tls\n  labels: \{)([^\n]*\n  annotations:\n)/\1service.kubernetes.io\/service-proxy-name: none, \2    service.beta.kubernetes.io\/backend-type: eni\n/'
mutant inside 'no proxy protocol' symptoms.yaml 's/-proxy-protocol: "on"/-proxy-protocol: "off"/'
mutant inside 'kube-proxy passes on to the load balancer' symptoms.yaml 's/(name: clbemu-e2e-proxied\n  labels: \{)([^\n]*\n  annotations:\n)/\1service.kubernetes.io\/service-proxy-name: none, \2    service.beta.kubernetes.io\/backend-type: eni\n/'
mutant inside 'no hostname where there is the proxy protocol' symptoms.sh 's/\tkubectl annotate service clbemu-e2e-proxied [^\n]*//'
mutant inside 'no hostname' symptoms.sh 's/\tkubectl annotate service clbemu-e2e-tls [^\n]*//'
mutant outside 'no access control list' symptoms.yaml 's/acl-status: "on"/acl-status: "off"/'
mutant outside 'no entry' symptoms.sh 's/\tclbemu call AddAccessControlListEntry [^\n]*//'
mutant outside 'an entry for another client' symptoms.sh 's/\$client\/32/203.0.113.9\/32/'
mutant outside 'a page that there is' symptoms.yaml 's/\/echo\?code=404/\/healthz/'
mutant outside 'no other page' symptoms.sh 's/\tkubectl annotate --overwrite service clbemu-e2e-checked [^\n]*//'
mutant outside 'another page that there is not' symptoms.sh 's/check-uri=\/healthz/check-uri=\/echo?code=404\&x/'
mutant outside 'a pod' symptoms.sh 's/\tkubectl scale deployment clbemu-e2e-one --replicas 0[^\n]*//'
mutant outside 'no new pod' symptoms.sh 's/\tkubectl scale deployment clbemu-e2e-one --replicas 1[^\n]*//'
mutant uneven 'the policy Cluster' symptoms.yaml "$(of clbemu-e2e-uneven '\n  externalTrafficPolicy: Local' '')"
mutant uneven 'one pod on each node' symptoms.yaml 's/replicas: 2/replicas: 1/'
mutant uneven 'no wrr' symptoms.sh 's/\tkubectl annotate service clbemu-e2e-uneven [^\n]*//'
mutant uneven 'rr in place of wrr' symptoms.sh 's/scheduler=wrr/scheduler=rr/'
mutant updating 'a probe and preStop from the start' symptoms.yaml 's/(terminationGracePeriodSeconds: )1(\n      containers:\n        - name: server\n          image: server\n          imagePullPolicy: IfNotPresent\n)(          command)/\135\2          readinessProbe: {httpGet: {path: \/healthz, port: 8080}, periodSeconds: 1}\n          lifecycle: {preStop: {sleep: {seconds: 5}}}\n\3/'
mutant updating 'no cure' symptoms.sh 's/\tkubectl patch deployment clbemu-e2e-slow [^\n]*\n[^\n]*//'
mutant updating 'no probe' symptoms.sh 's/"readinessProbe": [^\n]*"periodSeconds": 1\}, //'
mutant updating 'no preStop' symptoms.sh 's/, "lifecycle": \{"preStop": \{"sleep": \{"seconds": 5}}}//'
mutant https 'HTTP at the port' symptoms.yaml 's/targetPort: 8443/targetPort: 8080/'
mutant https 'no targetPort' symptoms.sh 's/\tkubectl patch service clbemu-e2e-https [^\n]*//'
mutant https 'a targetPort where nothing listens' symptoms.sh 's/"targetPort": 8080/"targetPort": 8081/'
mutant stale 'no throttling' symptoms.sh 's/\tclbemu fault add - [^\n]*\n[^\n]*\n\tEND//'
mutant stale 'another error' symptoms.sh 's/code: Throttling.User/code: ServiceUnavailable/'
mutant stale 'the pod stays' symptoms.sh 's/\tmove clbemu-worker2\n//'
mutant stale 'throttling goes on' symptoms.sh 's/\tclbemu fault delete clbemu-e2e >[^\n]*//'
mutant probes 'no liveness probe' pods.sh 's/\tkubectl patch deployment clbemu-e2e-slow [^\n]*\n[^\n]*//1'
mutant probes 'a probe that may fail' pods.sh 's/"failureThreshold": 1,/"failureThreshold": 30,/'
mutant probes 'no other probe' pods.sh 's/\tkubectl patch deployment clbemu-e2e-slow [^\n]*\n[^\n]*//2'
mutant probes 'a probe that starts too early' pods.sh 's/"initialDelaySeconds": 15/"initialDelaySeconds": 1/'
mutant grace 'a grace period that is long enough' pods.sh 's/ends_within 2\n/ends_within 40\n/'
mutant grace 'a grace period that stays short' pods.sh 's/ends_within 40\n/ends_within 2\n/'
mutant grace 'no preStop' pods.sh 's/,[^,]*\n\t\t\\"lifecycle[^\n]*sleep[^\n]*\]}}}}\]}}}}"/}]}}}}"/'
mutant grace 'a preStop that ends before the request' pods.sh 's/\\"10\\"/\\"2\\"/'
mutant drained 'no drain' disruptions.sh 's/kubectl drain clbemu-worker [^\n]*\n/true\n/'
mutant drained 'the policy Cluster in place of Local' e2e.yaml 's/\n  externalTrafficPolicy: Local//'
mutant drained 'remove-unscheduled-backend from the start' e2e.yaml "$(of clbemu-e2e '\nspec:\n  type: LoadBalancer' '\n  annotations: {service.beta.kubernetes.io\/alibaba-cloud-loadbalancer-remove-unscheduled-backend: \"on\"}\nspec:\n  type: LoadBalancer')"
mutant drained 'no remove-unscheduled-backend' disruptions.sh 's/\tkubectl annotate service clbemu-e2e [^\n]*//'
mutant drained 'remove-unscheduled-backend off' disruptions.sh 's/backend=on/backend=off/'
mutant drained 'the node stays away' disruptions.sh 's/\tkubectl uncordon clbemu-worker\n//'
mutant drained 'no preStop' e2e.yaml 's/          lifecycle:\n[^\n]*\n//'
mutant killed 'not killed' disruptions.sh 's/\tdocker kill [^\n]*//'
mutant killed 'not started' disruptions.sh 's/\tdocker start [^\n]*//'
mutant killed 'killed by no call' disruptions.sh 's/\tclbemu fault add - [^\n]*\n[^\n]*\n\tEND//'
mutant killed 'an error in place of the kill' disruptions.sh 's/effect: \{crash: true}/effect: {error: {code: ServiceUnavailable}}/'
mutant killed 'one load balancer more' disruptions.sh 's/\tagain crashed\n/&\tclbemu call CreateLoadBalancer RegionId=cn-hangzhou >\/dev\/null\n/'
mutant killed 'another state' disruptions.sh 's/\tdocker start clbemu/\tdocker run --rm --volume clbemu-kind:\/data --entrypoint sh "$(node_image)" -c "rm -rf \/data\/*"\n&/'

[ "$survived" = 0 ] || { echo "mutants.sh: $survived survived" >&2; exit 1; }
