# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A Slurm of one node on loopback, of the distribution's packages, for the test that sources this. Everything of it lies in
# one folder, and its processes are children of the test.
#
#     cluster_there || skip ...        its programs are installed, and we are root
#     cluster_start FOLDER             SLURM_CONF is set for its clients
#     cluster_end                      at the end
cluster_pids=()

cluster_there()
{
	local program
	for program in munged slurmctld slurmd sbatch scontrol sinfo; do
		command -v $program >/dev/null || PATH=$PATH:/usr/sbin command -v $program >/dev/null || return 1
	done
	[ "$(id -u)" = 0 ]
}

# Two ports that nobody has.
cluster_ports()
{
	python3 -c '
import socket
sockets = [socket.socket() for _ in range(2)]
for one in sockets:
    one.bind(("127.0.0.1", 0))
print(*(one.getsockname()[1] for one in sockets))'
}

# No cgroups and no accounting; without an epilog this version gives a slot away only once a second. MinJobAge is how long
# the end of a job can be asked for.
cluster_conf()
{
	local folder=$1 host=$2 controller=$3 node=$4
	cat <<-END
		ClusterName=test
		SlurmctldHost=$host(127.0.0.1)
		SlurmctldPort=$controller
		SlurmdPort=$node
		SlurmUser=root
		SlurmdUser=root
		AuthType=auth/munge
		AuthInfo=socket=$folder/munge/socket
		CredType=cred/munge
		StateSaveLocation=$folder/state
		SlurmdSpoolDir=$folder/spool
		SlurmctldPidFile=$folder/slurmctld.pid
		SlurmdPidFile=$folder/slurmd.pid
		SlurmctldLogFile=$folder/slurmctld.log
		SlurmdLogFile=$folder/slurmd.log
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		AccountingStorageType=accounting_storage/none
		MpiDefault=none
		SwitchType=switch/none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_Core_Memory
		SchedulerType=sched/builtin
		SchedulerParameters=sched_min_interval=0,batch_sched_delay=0,sched_interval=30
		Epilog=/bin/true
		MinJobAge=3600
		CompleteWait=0
		KillWait=1
		ReturnToService=2
		GresTypes=gpu
		NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=1000 Gres=gpu:1 State=UNKNOWN
		PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP
	END
}

cluster_run()
{
	"$@" >>"$cluster_folder/daemons.log" 2>&1 &
	cluster_pids+=($!)
}

cluster_idle() { [ "$(sinfo -h -o %T 2>/dev/null)" = idle ]; }

cluster_start()
{
	local ports host
	cluster_folder=$1 host=$(hostname -s)
	PATH=$PATH:/usr/sbin
	mkdir -p "$cluster_folder"/{munge,state,spool} && chmod 711 "$cluster_folder" "$cluster_folder/munge"
	(umask 077 && head -c 64 /dev/urandom >"$cluster_folder/munge.key")
	: >"$cluster_folder/gpu0"
	echo "Name=gpu File=$cluster_folder/gpu0" >"$cluster_folder/gres.conf"
	read -r -a ports < <(cluster_ports)
	cluster_conf "$cluster_folder" "$host" "${ports[@]}" >"$cluster_folder/slurm.conf"
	export SLURM_CONF=$cluster_folder/slurm.conf
	cluster_run munged -F --key-file="$cluster_folder/munge.key" --socket="$cluster_folder/munge/socket" \
		--pid-file="$cluster_folder/munged.pid" --log-file="$cluster_folder/munged.log" --seed-file="$cluster_folder/munged.seed"
	until_true test -S "$cluster_folder/munge/socket"
	cluster_run slurmctld -D -f "$SLURM_CONF"
	until_true sh -c 'scontrol ping | grep -q "is UP"'
	cluster_run slurmd -D -f "$SLURM_CONF"
	until_true cluster_idle
}

cluster_end()
{
	local i
	for ((i = ${#cluster_pids[@]} - 1; i >= 0; i--)); do
		kill "${cluster_pids[i]}" 2>/dev/null
		wait "${cluster_pids[i]}" 2>/dev/null
	done
	cluster_pids=()
}
