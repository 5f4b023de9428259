#!/usr/bin/env bash
# Deletes the cluster of up.sh, and clbemu beside it with its state.
set -euo pipefail
kind delete cluster --name clbemu
docker rm --force --volumes clbemu clbemu-network >/dev/null 2>&1 || true
docker volume rm --force clbemu-kind >/dev/null
if docker network inspect clbemu-clients >/dev/null 2>&1; then
	docker network rm clbemu-clients >/dev/null
fi
