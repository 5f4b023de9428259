#!/bin/sh
# Before dpkg (remove) or rpm (0) removes the package; an upgrade stops nothing.
set -e
case $1 in remove | 0)
	if [ -d /run/systemd/system ]; then systemctl disable --now clbemu.service; fi
	;;
esac
