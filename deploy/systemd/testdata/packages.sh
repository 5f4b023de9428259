#!/usr/bin/env bash
# Installs, upgrades, removes and purges the packages of two versions, as root: first in namespaces
# of its own over a copy of this machine's files, which is gone at the end.
#   packages.sh FOLDER, with first.deb, second.deb, first.rpm and second.rpm
set -euo pipefail
case $1 in
/*) exec unshare --mount --net --pid --fork bash "$0" copied "$1" ;;
copied)
	top=$(mktemp -d)
	mount -t tmpfs tmpfs "$top"
	mkdir "$top/changed" "$top/work" "$top/root"
	mount -t overlay overlay -o "lowerdir=/,upperdir=$top/changed,workdir=$top/work" "$top/root"
	mount -t proc proc "$top/root/proc"
	mknod -m 666 "$top/root/dev/null" c 1 3
	ip link set lo up
	cp -r "$2" "$top/root/packages"
	cp "$0" "$top/root/packages/try.sh"
	exec chroot "$top/root" bash -x /packages/try.sh inside
	;;
esac

cd /packages
export CLBEMU_CONTROL_TOKEN=
unit=/usr/lib/systemd/system/clbemu.service
refused() { if "$@" >said 2>&1; then exit 1; fi; cat said; }
# shellcheck disable=SC2046 # ExecStart has several words
start() { # as systemd does
	setpriv --reuid="$(sed -n 's/^User=//p' $unit)" --regid="$(sed -n 's/^Group=//p' $unit)" --clear-groups --no-new-privs --bounding-set=-all \
		env --ignore-environment $(sed -n 's/^ExecStart=//p' $unit) &
	clbemu wait --for ready
}
stop() { kill $! && wait $!; }
kept() { # the state and the settings are those from before
	clbemu version | grep 'v0\.0\.2'
	grep '^log-level: info' /etc/clbemu/clbemu.yaml
	start
	clbemu get lb kept
	stop
}
first() {
	test "$(stat --format %U:%G:%a /var/lib/clbemu)" = clbemu:clbemu:750
	clbemu version | grep 'v0\.0\.1'
	clbemu-replica version | grep 'v0\.0\.1'
	test -f /usr/share/man/man1/clbemu-serve.1 -a -f /usr/share/bash-completion/completions/clbemu
	start
	clbemu call CreateLoadBalancer LoadBalancerName=kept
	stop
	test -z "$(find /var/lib/clbemu ! -user clbemu)"
	echo 'log-level: info' >>/etc/clbemu/clbemu.yaml
}

head --bytes 1000000 first.deb >damaged.deb
refused dpkg --install damaged.deb | grep 'unexpected end of file'
test ! -e /var/lib/clbemu

dpkg --install first.deb
first
dpkg --install second.deb
kept
dpkg --remove clbemu
test ! -e /usr/bin/clbemu -a ! -e $unit -a -d /var/lib/clbemu
dpkg --purge clbemu
test ! -e /var/lib/clbemu -a ! -e /etc/clbemu
refused getent passwd clbemu

head --bytes 1000000 first.rpm >damaged.rpm
refused rpm --install --nodeps damaged.rpm
rpm --install --nodeps first.rpm # rpm's own dependencies are not Debian's
first
rpm --upgrade --nodeps second.rpm
kept
rpm --erase clbemu
test ! -e /usr/bin/clbemu -a ! -e $unit -a -d /var/lib/clbemu
