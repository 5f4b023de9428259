#!/bin/sh
# After dpkg or rpm has removed the package. The state stays until dpkg purges it.
set -e
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
if [ "$1" = purge ]; then
	rm -rf /var/lib/clbemu
	if getent passwd clbemu >/dev/null; then userdel clbemu; fi
fi
