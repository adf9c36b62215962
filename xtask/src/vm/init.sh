#!/bin/sh
# First program of a guest: makes a small Linux, runs /etc/job, sends /out and the exit status to the host.
export PATH=/usr/sbin:/usr/bin:/usr/libexec/busybox HOME=/root TERM=dumb TCPWIN_GUEST=1
busybox=/usr/bin/busybox

$busybox mount -t proc proc /proc
$busybox mount -t sysfs sys /sys
$busybox mount -t devtmpfs dev /dev
$busybox mkdir -p /dev/pts /usr/libexec/busybox
$busybox mount -t devpts devpts /dev/pts
$busybox mount -t tmpfs tmp /tmp
$busybox mount -t tmpfs run /run
$busybox mount -t cgroup2 cgroup2 /sys/fs/cgroup
$busybox mount -t bpf bpf /sys/fs/bpf
$busybox mount -t tracefs tracefs /sys/kernel/tracing
$busybox --install -s /usr/libexec/busybox
mkdir -p /run/netns

for module in /lib/modules/*.ko; do
    insmod "$module" || echo "insmod $module failed"
done
ip link set lo up
hostname guest

read -r limit </etc/job.limit
timeout -s KILL "$limit" /bin/sh /etc/job </dev/null
echo $? >/out/.status
uname -r >/out/.kernel
read -r uptime _ </proc/uptime
echo "$uptime" >/out/.uptime
[ -c /dev/vport0p1 ] && tar -C /out -cf /dev/vport0p1 .
poweroff -f
