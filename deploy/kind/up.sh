#!/usr/bin/env bash
# Brings up a kind cluster in which a cloud controller manager (CCM) works against
# clbemu. Needs Docker, kind and kubectl, and the archive of make image-archive.
# CCM_IMAGE names the image of the CCM, which is taken from Docker when it is there.
# Run again after a failure, it goes on with the cluster that there is.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=cluster.sh
source "$(dirname "$0")/cluster.sh"
cd "$(dirname "$0")"

image_archive=../../bin/clbemu-image.tar

: "${CCM_IMAGE:?set it to the image of a cloud controller manager that Docker has or kind can pull}"
for tool in docker kind kubectl; do
	type -P "$tool" >/dev/null || { echo "up.sh: $tool is not on the PATH: install it" >&2; exit 1; }
done
[ -f "$image_archive" ] || { echo "up.sh: $image_archive is missing: run make image-archive" >&2; exit 1; }

kind get clusters | grep --line-regexp --quiet clbemu || kind create cluster --config cluster.yaml
trap collect EXIT
kind load image-archive "$image_archive" --name clbemu
if docker image inspect "$CCM_IMAGE" >/dev/null 2>&1; then
	kind load docker-image "$CCM_IMAGE" --name clbemu
fi
kubectl apply --kustomize clbemu
kubectl --namespace clbemu rollout status deployment/clbemu --timeout 3m

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
echo "Services of type LoadBalancer in the context kind-clbemu get their addresses from clbemu."
