#!/bin/sh
# After dpkg or rpm has installed or upgraded the package.
set -e
if ! getent passwd clbemu >/dev/null; then
	useradd --system --user-group --home-dir /var/lib/clbemu --no-create-home --shell /usr/sbin/nologin clbemu
fi
install --directory --owner=clbemu --group=clbemu --mode=0750 /var/lib/clbemu
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart clbemu.service
fi
