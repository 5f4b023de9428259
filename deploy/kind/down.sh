#!/usr/bin/env bash
# Deletes the cluster of up.sh.
set -euo pipefail
kind delete cluster --name clbemu
