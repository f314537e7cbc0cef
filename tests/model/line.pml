/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The line's protocol (README.md), small enough to be searched whole.
 *
 * A process is a slot. What lies in files is global; a process dies (F kills it) or stops between any two of its steps.
 * A seat's generation is modelled by what it is for: a new generation empties the set of those who hold the byte (msk).
 * Time is modelled by what it is for: "3 s" and "a second" pass while a process is stopped, and nowhere else.
 */
#ifndef L
#define L 1			/* lanes */
#endif
#ifndef NR
#define NR 0			/* blocking runs: slots 0 .. NR-1 */
#endif
#ifndef NB
#define NB 0			/* submits, one spooled job each: the next NB slots */
#endif
#ifndef NW
#define NW 3			/* slots for workers: the next NW */
#endif
#ifndef F1
#define F1 0			/* first fault: 0 none, 1 SIGKILL, 2 SIGSTOP, 3 either, 4 logout */
#endif
#ifndef F2
#define F2 0			/* second fault, once what must hold holds again */
#endif
#ifdef LOGOUT			/* a fault of kind 4 ends every process at once; one call of pgpu comes some time after it */
#define NC 1
#else
#define NC 0
#endif
#ifdef INSIDE
#define NI 1			/* one more spooled job, submitted from inside a running job */
#else
#define NI 0
#endif
#define NJ (NB + NI)
#define NX (NR + NB + NC)	/* the first worker */
#define NP (NX + NW)
#if NB + NI > 0
#define NJA (NB + NI)
#else
#define NJA 1
#endif
/* who comes before whom: the runs by number, then the jobs; or the jobs first; or the last run before all */
#if NR > 2
#define TICKETS T(0) T(1) T(2)
#elif NR > 1
#define TICKETS T(0) T(1)
#elif NR > 0
#define TICKETS T(0)
#else
#define TICKETS
#endif
#if NB + NI > 1
#define JOBS J(0) J(1)
#elif NB + NI > 0
#define JOBS J(0)
#else
#define JOBS
#endif
#ifdef JOBSFIRST
#define ORDER JOBS TICKETS
#elif defined(LASTFIRST)
#define ORDER T(NR - 1) TICKETS JOBS
#else
#define ORDER TICKETS JOBS
#endif
#ifndef ARRIVE			/* when slot me may arrive */
#define ARRIVE (ISCALL -> out : me == 0 || (arr & b(me - 1)) != 0)
#endif

#define NO 9
#define FREE 0
#define GRANTED 1
#define RUNNING 2
#define COMPLETING 3
#define SB L			/* the standby's seat */
#define SC (L + 1)		/* the second's seat */
#define NS (L + 2)

#define b(p) (1 << (p))
#define ME b(me)
#define ISRUN (me < NR)
#define ISSUB (me >= NR && me < NX)
#define ISCALL (NC && me == NR + NB)
#define ISWRK (me >= NX)
#define WORKERS (255 & ~(b(NX) - 1))

byte st[NS], own[NS], msk[NS], sj[L];	/* seats: state, owner, who holds the byte, the job (+1) */
byte cell[L];				/* what runs: 0, or 1; 2: ends only when all else is quiet */
byte sub[L];				/* a submit inside the cell waits for its supervisor's answer */
byte rec[NJA], rst[NJA], runs[NJA];	/* record: 0 none, 1 pending, 2 running, 3 ended; restarts; starts */
byte alv, stp, idl = 255, arr;		/* slots: alive, stopped, unused; arrived */
byte tck, psd;				/* tickets, and those passed over */
byte wak, sld;				/* wakes not yet read; workers that said settled */
byte wt[NP], wl[L];			/* whose pidfds a process polls; whom the standby saw in a lane (+1) */
byte ql;				/* the queue lock: its holder + 1 */
byte f1 = F1, f2 = F2, cm;		/* faults left; stopped processes that get SIGCONT from outside */
bool out;				/* there was a logout */
bool exc;				/* the fault hit a submit that had not returned, and nobody else was there */
bool gate;				/* the time a gated job waits for has come */
#ifdef TURN
byte frz;				/* whose job is frozen: it has begun, its ticket is in line */
#define DEADTURN ((frz & ~alv) != 0)
#else
#define frz 0
#define DEADTURN false
#endif
#ifndef NO_TURNRESCUES
#define TURNS_RESCUE frz
#else
#define TURNS_RESCUE 0
#endif
#ifndef NO_TURNWATCH
#define TURNS frz
#else
#define TURNS 0
#endif
#ifdef GATED
#define OPEN gate
#else
#define OPEN true
#endif

/* who fills a seat: its owner, while that holds the byte; during a spawn whoever holds it */
#define HM(s) ((own[s] == NO -> msk[s] : msk[s] & b(own[s])))
#ifndef NO_OWNERDEAD
#define DEADLANE(l) (st[l] >= RUNNING && HM(l) == 0)
#else
#define DEADLANE(l) (st[l] >= RUNNING && msk[l] == 0)
#endif
#define DEADOWN(s) ((alv & b(own[s])) == 0)
#define STOPOWN(s) ((stp & b(own[s])) != 0)
#if L == 1
#define GRL ((st[0] == GRANTED -> b(own[0]) : 0))
#define LH ((st[0] == RUNNING && own[0] != NO -> b(own[0]) & msk[0] : 0))
#define LG(l) ((st[l] >= RUNNING -> HM(l) : (st[l] == GRANTED -> b(own[l]) & alv : 0)))
#define LANEG (LG(0) & ~stp)
#define LMSK HM(0)
#define CLAIMED(j) (st[0] != FREE && sj[0] == (j) + 1)
#define UNHELD (DEADLANE(0) || DEADTURN)
#define ANYFREE (st[0] == FREE)
#define SLOWCELL (cell[0] == 2)
#define LOWN b(own[0])
#else
#define GRL ((st[0] == GRANTED -> b(own[0]) : 0) | (st[1] == GRANTED -> b(own[1]) : 0))
#define LH ((st[0] == RUNNING && own[0] != NO -> b(own[0]) & msk[0] : 0) | (st[1] == RUNNING && own[1] != NO -> b(own[1]) & msk[1] : 0))
#define LG(l) ((st[l] >= RUNNING -> HM(l) : (st[l] == GRANTED -> b(own[l]) & alv : 0)))
#define LANEG ((LG(0) | LG(1)) & ~stp)
#define LMSK (HM(0) | HM(1))
#define CLAIMED(j) ((st[0] != FREE && sj[0] == (j) + 1) || (st[1] != FREE && sj[1] == (j) + 1))
#define UNHELD (DEADLANE(0) || DEADLANE(1) || DEADTURN)
#define ANYFREE (st[0] == FREE || st[1] == FREE)
#define SLOWCELL (cell[0] == 2 || cell[1] == 2)
#endif
#define TE (tck & ~psd & ~GRL)
#define JE(j) (rec[j] == 1 && OPEN && !CLAIMED(j))
#if NB + NI == 0
#define SPOOLED false
#define SPOOLWAITS false
#elif NB + NI == 1
#define SPOOLED (rec[0] == 1 || rec[0] == 2)
#define SPOOLWAITS JE(0)
#else
#define SPOOLED (rec[0] == 1 || rec[0] == 2 || rec[1] == 1 || rec[1] == 2)
#define SPOOLWAITS (JE(0) || JE(1))
#endif
#ifndef NO_NEED
#define NEED ((tck & ~psd & ~GRL) != 0 || SPOOLED)
#else
#define NEED ((tck & ~psd) != 0 || SPOOLED)
#endif

/* roles: vacant or not. A lane's holder that keeps a role's byte counts as gone from the role. */
#define BADGRANT(s) (st[s] == GRANTED && (DEADOWN(s) || (exp && STOPOWN(s))))
#define SBV (st[SB] == FREE || (st[SB] == RUNNING && (HM(SB) & ~stp & ~LH) == 0) || BADGRANT(SB))
#define SBG ((st[SB] == GRANTED -> b(own[SB]) : (st[SB] == RUNNING && own[SB] != NO -> HM(SB) : 0)))
#define SCNEEDED ((LANEG & ~SBG) == 0 && (SBG & GRL) == 0)
#define SCV (st[SC] == FREE || (st[SC] == RUNNING && (HM(SC) & ~stp & ~LH & ~((own[SC] == NO -> 0 : SBG))) == 0) || BADGRANT(SC))

/* what must hold */
#define GUARDS(x) ((LMSK | HM(SB) | HM(SC)) & ~stp & ~(x))
#define HOLDSX(x) (!NEED || ((HM(SB) & ~stp & ~LH & ~(x)) != 0 && (GUARDS(x) & (GUARDS(x) - 1)) != 0))
#define HOLDS HOLDSX(0)
#define ANYGRANT (st[0] == GRANTED || st[L - 1] == GRANTED || st[SB] == GRANTED || st[SC] == GRANTED)
#define GR(s) ((st[s] == GRANTED -> b(own[s]) : 0))
#define GRANTEES (GRL | GR(SB) | GR(SC))
#define LOSTGRANT(s) (st[s] == GRANTED && (DEADOWN(s) || STOPOWN(s)))
#define ANYLOST (LOSTGRANT(0) || LOSTGRANT(L - 1) || LOSTGRANT(SB) || LOSTGRANT(SC))

/* the standby remembers whom it saw in a lane: is that process stopped, and its job gone? */
#ifndef NO_STUCK
#define STUCK(l) (wl[l] != 0 && (stp & b(wl[l] - 1)) != 0 && cell[l] == 0)
#define STUCKWHO(l) b(wl[l] - 1)
#else
#define STUCK(l) (st[l] == RUNNING && msk[l] != 0 && (msk[l] & ~stp) == 0 && cell[l] == 0)
#define STUCKWHO(l) msk[l]
#endif
#ifndef NO_SBGONE
#define SBGONE (NEED && (st[SB] == FREE || (st[SB] == RUNNING && (HM(SB) & ~stp & ~LH) == 0) || LOSTGRANT(SB)))
#else
#define SBGONE (NEED && st[SB] == RUNNING && (HM(SB) & ~stp & ~LH) == 0)
#endif
#define ROLE(s) ((msk[s] & ME) != 0 && own[s] == me && st[s] == RUNNING)

#define T(p) if :: w == NO && (TE & b(p)) != 0 -> w = p :: else fi;
#define J(j) if :: w == NO && JE(j) -> w = 10 + j :: else fi;
#define WIN w = NO; ORDER

inline cont(m) { stp = stp & ~(m); cm = cm & ~(m); wak = wak | (m) }

inline gone(p) {		/* the process is no more: its locks, its ticket; whoever polls its pidfd wakes */
	alv = alv & ~b(p); stp = stp & ~b(p); cm = cm & ~b(p); tck = tck & ~b(p); psd = psd & ~b(p); wak = wak & ~b(p);
	if :: ql == p + 1 -> ql = 0 :: else fi;
	x = 0;
	do :: x < NS -> msk[x] = msk[x] & ~b(p); x++ :: else -> break od;
	x = 0;
	do
	:: x < NP -> if :: (wt[x] & b(p)) != 0 -> wak = wak | b(x); wt[x] = wt[x] & ~b(p) :: else fi; x++
	:: else -> break
	od;
	wt[p] = 0; x = 0
}

/* one write of settle, or act = 0 when there is nothing left to write */
inline settle1() {
	act = 0; i = 0;
	do
	:: i < L && !act ->
		if
		:: st[i] == FREE || BADGRANT(i) ->
			if
			:: st[i] == GRANTED ->
				act = 1;
				if :: !DEADOWN(i) && (tck & b(own[i])) != 0 -> psd = psd | b(own[i]) :: else fi;
				st[i] = FREE; msk[i] = 0; sj[i] = 0
			:: else
			fi;
			WIN
			if
			:: w == NO
			:: w < NO -> act = 1; st[i] = GRANTED; own[i] = w; msk[i] = 0; sj[i] = 0; wk = wk | b(w)
			:: w > NO ->
				act = 1; sj[i] = w - 9;
				if
				:: ISWRK && ln == 0 && (msk[SB] & ME) == 0 && (msk[SC] & ME) == 0 ->
					st[i] = RUNNING; own[i] = me; msk[i] = ME; ln = i + 1
				:: else ->
					if
					:: st[SB] == RUNNING && own[SB] != NO && (msk[SB] & b(own[SB]) & ~stp & WORKERS & ~GRL & ~LH) != 0 ->
						st[i] = GRANTED; own[i] = own[SB]; msk[i] = 0; wk = wk | b(own[i])
					:: else ->
						st[i] = RUNNING; own[i] = NO; msk[i] = ME; sp = sp | b(i)
					fi
				fi
			fi;
			w = 0
		:: else
		fi;
		i++
	:: else -> break
	od;
	i = 0;
	if
	:: act
	:: !act && !NEED && (st[SB] == GRANTED || st[SC] == GRANTED) ->
		act = 1;
		if :: st[SB] == GRANTED -> st[SB] = FREE; msk[SB] = 0 :: else -> st[SC] = FREE; msk[SC] = 0 fi
	:: !act && NEED && SBV -> role(SB)
	:: !act && NEED && !SBV && SCNEEDED && SCV -> role(SC)
	:: else
	fi;
	i = 0; w = 0
}

inline role(s) {
	act = 1;
	if
	:: (tck & ~psd & ~GRL & ME) != 0 && (s == SB || (msk[SB] & ME) == 0) -> st[s] = RUNNING; own[s] = me; msk[s] = ME
	:: else ->
		/* a waiting run without grant, role or stop */
		c = tck & ~psd & ~stp & ~GRL & ~msk[SB] & ~msk[SC];
		if :: st[SB] == GRANTED -> c = c & ~b(own[SB]) :: else fi;
		if :: st[SC] == GRANTED -> c = c & ~b(own[SC]) :: else fi;
		if
		:: c != 0 ->
			i = 0;
			do :: (c & b(i)) == 0 -> i++ :: else -> break od;
			st[s] = GRANTED; own[s] = i; msk[s] = 0; wk = wk | b(i); i = 0
		:: else ->
			st[s] = RUNNING; own[s] = NO; msk[s] = ME; sp = sp | b(s)
		fi;
		c = 0
	fi
}

/* where a process is; LOCKS: it waits for the queue lock, or holds it already */
#define TOP 0
#define REC 1
#define FIRST 2
#define ARR 3
#define WB 4
#define CY 5
#define SE 6
#define WK 7
#define SP 8
#define SPC 9
#define SPW 10
#define SLEEP 11
#define JOB 12
#define WATCH 13
#define LV1 14
#define LV2 15
#define STAY 16
#define EXIT 17
#define RS1 18
#define RS2 19
#define RS3 20
#define RS4 21
#define OFFER 22
#define RST 23
#define LOCKS (pc == ARR || pc == WB || pc == CY || pc == LV1 || pc == RS1 || pc == RS3 || pc == OFFER || pc == RST)
#define LOCKED (ql == 0 || ql == me + 1)

inline dispatch() {
	if
	:: sp != 0 -> pc = SP
	:: else ->
		if :: ISWRK -> sld = sld | ME :: else fi;
		if
		/* the standby, and who is in a turn: nobody is told of that one's end, as of a leaver's */
		:: UNHELD && (ROLE(SB) || (TURNS_RESCUE & ME) != 0) -> pc = RS1
		:: else ->
			if
			:: ln != 0 && !on -> pc = JOB
			:: ln != 0 && on -> pc = WATCH
			:: ln == 0 && !lv && !ISSUB && ((tck & ME) != 0 || ROLE(SB) || ROLE(SC)) -> pc = SLEEP
			:: else -> pc = STAY
			fi
		fi
	fi
}

proctype P(byte me) provided (((alv | idl) & ~stp & (1 << (_pid - 4))) != 0) {
	byte pc, sp, wk, ln, i, w, c, x, l;
	bool act, exp, lv, on, first;
#ifdef TURN
	bool turned, due;
#endif
	assert(_pid == me + 4);
	do
	/* a frozen lock holder: who has waited a second sends SIGCONT to it */
#ifndef BREAK_FROZENLOCK
	:: d_step { LOCKS && ql != 0 && (stp & b(ql - 1)) != 0 -> cont(b(ql - 1)) }
#endif
	:: d_step { pc == TOP && !ISWRK && (arr & ME) == 0 && (ARRIVE) ->
		arr = arr | ME; alv = alv | ME; idl = idl & ~ME; first = 1;
		if :: ISSUB && !ISCALL -> pc = REC :: else -> pc = FIRST fi }
	:: d_step { pc == TOP && ISWRK && (alv & ME) != 0 -> pc = WB }
	:: d_step { pc == REC -> rec[me - NR] = 1; pc = FIRST }		/* written, synced, renamed */
	:: d_step { pc == FIRST -> if :: UNHELD -> pc = RS1 :: else -> pc = ARR fi }
	:: d_step { pc == WB && LOCKED ->	/* the seat it inherited, unless that has a newer generation by now */
		ql = me + 1;
		l = 0;
		do
		:: l < NS && (msk[l] & ME) == 0 -> l++
		:: else -> break
		od;
		if
		:: l < NS -> own[l] = me; if :: l < L -> ln = l + 1 :: else fi
		:: else
		fi;
		l = 0; pc = CY }
	:: d_step { pc == ARR && LOCKED ->
		ql = me + 1; first = 0; pc = CY;
		if
		:: ISRUN ->
			tck = tck | ME;
			WIN
			if
			:: w == me && ANYFREE ->
				i = 0;
				do :: st[i] != FREE -> i++ :: else -> break od;
				tck = tck & ~ME; st[i] = RUNNING; own[i] = me; msk[i] = ME; ln = i + 1; sj[i] = 0; i = 0
			:: else
			fi;
			w = 0
		:: else
		fi }
	:: d_step { pc == CY && LOCKED ->	/* take what is granted, one write a step; the wakes so far are answered by it */
		ql = me + 1; wak = wak & ~ME;
		if
		:: ln == 0 && st[0] == GRANTED && own[0] == me -> st[0] = RUNNING; msk[0] = ME; tck = tck & ~ME; psd = psd & ~ME; ln = 1
#if L > 1
		:: ln == 0 && st[1] == GRANTED && own[1] == me && !(st[0] == GRANTED && own[0] == me) ->
			st[1] = RUNNING; msk[1] = ME; tck = tck & ~ME; psd = psd & ~ME; ln = 2
#endif
		:: else ->
			if
#ifndef NO_REFUSE
			/* who has a lane refuses a role */
			:: ln != 0 && st[SB] == GRANTED && own[SB] == me -> st[SB] = FREE
			:: ln != 0 && st[SC] == GRANTED && own[SC] == me -> st[SC] = FREE
			:: ln == 0 && st[SB] == GRANTED && own[SB] == me -> st[SB] = RUNNING; msk[SB] = ME
			:: ln == 0 && st[SC] == GRANTED && own[SC] == me && !(st[SB] == GRANTED && own[SB] == me) -> st[SC] = RUNNING; msk[SC] = ME
#else
			:: st[SB] == GRANTED && own[SB] == me -> st[SB] = RUNNING; msk[SB] = ME
			:: st[SC] == GRANTED && own[SC] == me && !(st[SB] == GRANTED && own[SB] == me) -> st[SC] = RUNNING; msk[SC] = ME
#endif
			:: (psd & ME) != 0 && (GR(SB) & ME) == 0 && (GR(SC) & ME) == 0 -> psd = psd & ~ME
			:: else ->
				pc = SE;
				if
				:: ISWRK && ln != 0 && !on ->	/* a worker with a lane: what comes first now */
					sj[ln - 1] = 0;
					WIN
					if
					:: w > NO -> sj[ln - 1] = w - 9
					:: else -> st[ln - 1] = FREE; msk[ln - 1] = 0; ln = 0
					fi;
					w = 0
				:: ISWRK && ln == 0 && !NEED && (ROLE(SB) || ROLE(SC)) ->
					if :: ROLE(SB) -> st[SB] = FREE; msk[SB] = 0 :: else fi;
					if :: ROLE(SC) -> st[SC] = FREE; msk[SC] = 0 :: else fi
				:: else
				fi
			fi
		fi }
	:: d_step { pc == SE ->
		if
		:: ISWRK && ln != 0 && !on && sj[ln - 1] != 0 && rec[sj[ln - 1] - 1] == 1 -> rec[sj[ln - 1] - 1] = 2
		:: else ->
			settle1();
			if
			:: act -> act = 0
			:: else ->
				exp = 0;
				/* whose pidfds to poll from now on */
				wt[me] = 0;
				if
				:: ROLE(SB) ->
					wt[me] = (LMSK | msk[SC] | TURNS) & ~ME;
					i = 0;
					do
					:: i < L ->
						wl[i] = 0;
						if
						:: st[i] >= RUNNING && own[i] != NO && own[i] != me -> wl[i] = own[i] + 1
#ifndef NO_SPAWNER
						:: st[i] >= RUNNING && own[i] == NO && msk[i] != 0 && (msk[i] & ME) == 0 ->
							c = 0;
							do :: (msk[i] & b(c)) == 0 -> c++ :: else -> break od;
							wl[i] = c + 1; c = 0
#endif
						:: else
						fi;
						i++
					:: else -> break
					od;
					i = 0
				:: else
				fi;
				if :: ROLE(SC) -> wt[me] = wt[me] | (msk[SB] & ~ME) :: else fi;
				if :: !NEED && st[SB] == RUNNING && own[SB] != NO -> wk = wk | (HM(SB) & ~ME) :: else fi;
#ifndef NO_SECONDWAKE
				if :: !NEED && st[SC] == RUNNING && own[SC] != NO -> wk = wk | (HM(SC) & ~ME) :: else fi;
#endif
#ifndef NO_GRANTEES
				i = 0;
				do :: i < NS -> if :: st[i] == GRANTED -> wk = wk | b(own[i]) :: else fi; i++ :: else -> break od;
				i = 0;
#endif
#ifndef NO_WAKE
				/* a new holder or second: the standby must learn of it; a new standby: the second */
				if :: NEED && st[SB] == RUNNING && own[SB] != NO && !ROLE(SB) && ((LMSK | msk[SC] | TURNS) & ~wt[own[SB]] & ~b(own[SB])) != 0 -> wk = wk | b(own[SB]) :: else fi;
				if :: NEED && st[SC] == RUNNING && own[SC] != NO && !ROLE(SC) && (msk[SB] & ~wt[own[SC]] & ~b(own[SC])) != 0 -> wk = wk | b(own[SC]) :: else fi;
#endif
#ifdef INSIDE
				if :: on && ln != 0 && sub[ln - 1] == 1 -> sub[ln - 1] = 2 :: else fi;
#endif
#ifndef NO_AGAIN
				/* the pidfds are open now: whoever died before that is seen here */
				if :: ISWRK && ln == 0 && (ROLE(SB) || ROLE(SC)) && (!NEED || (ROLE(SC) && SBGONE)) -> wk = wk | ME :: else fi;
#endif
#ifdef TURN
				due = (frz & ME) != 0 && ANYGRANT;
#endif
				ql = 0;
				if :: wk != 0 -> pc = WK :: else -> dispatch() fi
			fi
		fi }
	:: d_step { pc == WK -> wak = wak | (wk & alv); wk = 0; dispatch() }
	:: d_step { pc == SP ->			/* spawn: the worker inherits the locked byte */
		i = 0;
		do :: (sp & b(i)) == 0 -> i++ :: else -> break od;
		l = i; sp = sp & ~b(l); i = NX;
		do
		:: i < NP && ((idl & b(i)) == 0 || (st[0] == GRANTED && own[0] == i) || (st[L - 1] == GRANTED && own[L - 1] == i)) -> i++
		:: else -> break
		od;
		assert(i < NP);		/* too few slots for this scenario */
		c = i; i = 0;
		alv = alv | b(c); idl = idl & ~b(c); sld = sld & ~b(c); wak = wak & ~b(c);
		if :: (msk[l] & ME) != 0 -> msk[l] = msk[l] | b(c) :: else fi;
		pc = SPC }
	:: d_step { pc == SPC -> msk[l] = msk[l] & ~ME; l = 0;
#ifdef BREAK_NOWAIT
		c = 0; dispatch() }
#else
		pc = SPW }
#ifndef NO_GONEFIRST
	/* settled and gone is gone: it may have died while this process' copy still held the byte */
	:: d_step { pc == SPW && (sld & alv & b(c)) != 0 -> c = 0; dispatch() }
	:: d_step { pc == SPW && (alv & b(c)) == 0 -> c = 0; pc = CY }
#else
	:: d_step { pc == SPW && (sld & b(c)) != 0 -> c = 0; dispatch() }
	:: d_step { pc == SPW && (sld & b(c)) == 0 && (alv & b(c)) == 0 -> c = 0; pc = CY }
#endif
#ifndef NO_SPAWNCONT
	:: d_step { pc == SPW && (sld & b(c)) == 0 && (alv & stp & b(c)) != 0 -> cont(b(c)) }
#endif
#endif
	:: d_step { pc == SLEEP && (wak & ME) != 0 -> wak = wak & ~ME; pc = CY }
	:: d_step { pc == SLEEP && ROLE(SB) && SPOOLWAITS && ANYFREE -> pc = CY }	/* its timer for the next known moment */
	:: d_step { pc == SLEEP && ROLE(SB) && STUCK(0) -> cont(STUCKWHO(0)) }
#if L > 1
	:: d_step { pc == SLEEP && ROLE(SB) && STUCK(1) -> cont(STUCKWHO(1)) }
#endif
	:: atomic { pc == JOB ->
		assert(cell[ln - 1] == 0);	/* never two jobs in a lane: never more than lanes at once */
		assert((msk[ln - 1] & ME) != 0);
		if
		:: sj[ln - 1] != 0 ->
			assert(runs[sj[ln - 1] - 1] <= rst[sj[ln - 1] - 1]);	/* never again without a count */
			assert(rec[sj[ln - 1] - 1] == 2);
			runs[sj[ln - 1] - 1]++
		:: else
		fi;
		on = 1; pc = WATCH;
#ifdef TURN
		frz = frz & ~ME;
#endif
#ifdef INSIDE
		if
		:: rec[NJ - 1] == 0 -> rec[NJ - 1] = 1; sub[ln - 1] = 1	/* the job submits */
		:: else
		fi;
#endif
#ifdef LONG
		cell[ln - 1] = 2 }	/* jobs outlast everything else */
#else
		if :: cell[ln - 1] = 1 :: cell[ln - 1] = 2 fi }
#endif
	:: d_step { pc == WATCH && cell[ln - 1] == 0 -> pc = LV1 }
	:: d_step { pc == WATCH && cell[ln - 1] != 0 && (wak & ME) != 0 -> wak = wak & ~ME; pc = CY }
#ifdef INSIDE
	:: d_step { pc == WATCH && sub[ln - 1] == 1 -> pc = CY }
#endif
#ifdef TURN
	/* somebody waits: the job is frozen, and is in line itself from then on; each takes one turn */
	:: d_step { pc == WATCH && cell[ln - 1] != 0 && !turned && ISRUN && (TE != 0 || SPOOLWAITS) -> turned = 1; pc = OFFER }
	:: d_step { pc == OFFER && LOCKED ->
		if
		:: cell[ln - 1] == 0 || (TE == 0 && !SPOOLWAITS) -> pc = WATCH
		:: else ->
			ql = me + 1; tck = tck | ME; frz = frz | ME;
			cell[ln - 1] = 0; st[ln - 1] = FREE; msk[ln - 1] = 0; ln = 0; on = 0; pc = SE
		fi }
#ifndef NO_TURNLOOKS
	/* it did not stay as who leaves does: it looks again when a grant runs out */
	:: d_step { pc == SLEEP && due -> exp = ANYLOST; pc = CY }
#endif
	:: d_step { pc == RST && LOCKED ->	/* nothing is left of a frozen job whose owner is dead, nor its ticket */
		frz = frz & alv;
		if :: first -> pc = ARR :: else -> pc = CY fi }
#endif
	/* once a second: is the standby gone or stopped? */
	:: d_step { pc == WATCH && cell[ln - 1] != 0 && SBGONE -> exp = 1; pc = CY }
#ifndef NO_STANDBYLOOKS
	/* once a second: am I the only one left that is not stopped? */
	:: d_step { pc == SLEEP && ROLE(SB) && NEED && SCNEEDED && SCV -> exp = 1; pc = CY }
#endif
#ifndef NO_STANDBYEXPIRES
	/* a grant that nobody took for 3 s, and whoever gave it is gone */
	:: d_step { pc == SLEEP && ROLE(SB) && ANYLOST -> exp = 1; pc = CY }
#endif
#ifndef NO_SECONDLOOKS
	:: d_step { pc == SLEEP && ROLE(SC) && !ROLE(SB) && SBGONE -> exp = 1; pc = CY }
#endif
	:: d_step { pc == LV1 && LOCKED ->
		ql = me + 1; pc = LV2;
		if :: sj[ln - 1] != 0 -> rec[sj[ln - 1] - 1] = 3 :: else fi }
	:: d_step { pc == LV2 -> st[ln - 1] = FREE; sj[ln - 1] = 0; msk[ln - 1] = 0; ln = 0; on = 0; lv = !ISWRK; pc = CY }
	/* until, without self, every grant is taken and what must hold holds */
#ifdef BREAK_NOSTAY
	:: d_step { pc == STAY -> pc = EXIT }
#else
	:: d_step { pc == STAY && HOLDSX(ME) && !ANYGRANT -> pc = EXIT }
	:: d_step { pc == STAY && ANYLOST -> exp = 1; pc = CY }
	:: d_step { pc == STAY && !ANYGRANT && NEED && (SBV || (SCNEEDED && SCV)) -> pc = CY }
#ifndef NO_STAYWAKE
	:: d_step { pc == STAY && (ql == 0 || (stp & b(ql - 1)) != 0) && (GRANTEES & alv & ~wak & ~ME) != 0 -> wak = wak | (GRANTEES & alv & ~ME) }
#endif
	:: d_step { pc == STAY && (wak & ME) != 0 -> wak = wak & ~ME; pc = CY }
#endif
	:: d_step { pc == EXIT ->
		gone(me);
		idl = idl | ME; pc = TOP; sp = 0; wk = 0; ln = 0; c = 0; l = 0; exp = 0; lv = 0; on = 0; first = 0 }
	:: d_step { pc == RS1 && LOCKED ->	/* rescue of a lane whose holder is dead */
		l = 0;
		do
		:: l < L && !DEADLANE(l) -> l++
		:: else -> break
		od;
		if
		:: l < L -> st[l] = COMPLETING; own[l] = me; msk[l] = ME; pc = RS2
#ifdef TURN
		:: l == L && DEADTURN -> l = 0; pc = RST
		:: l == L && !DEADTURN -> l = 0; if :: first -> pc = ARR :: else -> pc = CY fi
#else
		:: else -> l = 0; if :: first -> pc = ARR :: else -> pc = CY fi
#endif
		fi }
	:: d_step { pc == RS2 -> cell[l] = 0; sub[l] = 0; pc = RS3 }
	:: d_step { pc == RS3 && LOCKED ->
		ql = me + 1; pc = RS4;
		if :: sj[l] != 0 && rec[sj[l] - 1] == 2 -> rec[sj[l] - 1] = 1; rst[sj[l] - 1]++ :: else fi }
	:: d_step { pc == RS4 -> st[l] = FREE; msk[l] = 0; sj[l] = 0; l = 0; if :: first -> pc = ARR :: else -> pc = CY fi }
	od
}

/* jobs end; the time of a gated job comes */
active proctype Env() {
	do
	:: atomic { cell[0] == 1 && sub[0] != 1 -> cell[0] = 0; sub[0] = 0 }
#if L > 1
	:: atomic { cell[1] == 1 && sub[1] != 1 -> cell[1] = 0; sub[1] = 0 }
#endif
#ifndef NO_SUBCONT
	:: atomic { sub[0] == 1 && msk[0] != 0 && (msk[0] & ~stp) == 0 -> cont(msk[0]) }
#endif
	od
}

active proctype F() {
	byte v, x;
	byte kind;
	do
	:: atomic { (stp & cm) != 0 -> cont(stp & cm) }
	:: atomic {
		f1 != 0 || (f2 != 0 && HOLDS) ->
		if
		:: f1 != 0 -> kind = f1; f1 = 0
		:: else -> kind = f2; f2 = 0
		fi;
		v = 0;
#if NC
		/* the login is over: all of its processes are ended, and the jobs with them or, in cells of their own, not */
		do
		:: kind == 4 && v < NP -> if :: (alv & b(v)) != 0 -> gone(v) :: else fi; v++
		:: else -> break
		od;
		if
		:: kind == 4 ->
#ifndef BREAK_NOCALL
			out = 1;
#endif
			if :: cell[0] = 0; sub[0] = 0; cell[L - 1] = 0; sub[L - 1] = 0 :: skip fi
		:: else
		fi;
#endif
		do
		:: v < NP && (alv & ~stp & b(v)) != 0 -> break
		:: v < NP -> v++
		:: v == NP -> break
		od;
		if
		:: v < NP ->
			if :: v >= NR && v < NX && ((LMSK | HM(SB) | HM(SC)) & ~b(v)) == 0 -> exc = 1 :: else fi;
#ifdef INSIDE
			if :: (sub[0] == 1 || sub[L - 1] == 1) && ((LMSK | HM(SB) | HM(SC)) & ~b(v)) == 0 -> exc = 1 :: else fi;
#endif
			if
			:: (kind & 1) != 0 -> gone(v)
			:: (kind & 2) != 0 -> stp = stp | b(v); if :: cm = cm | b(v) :: skip fi
			fi
		:: else
		fi;
		v = 0; kind = 0
	}
	:: atomic { f1 != 0 || f2 != 0 -> f1 = 0; f2 = 0 }
	od
}

#define ORPHAN(l) (DEADLANE(l) && cell[l] != 0)
#define IDLEGRANT(s) (st[s] == GRANTED && !STOPOWN(s) && !(NEED == 0 && DEADOWN(s)))
#define WAITS ((TE & ~stp) != 0 || SPOOLWAITS)
active proctype Judge() {
	do
	:: atomic {
		timeout ->
		/* nothing moves by itself: what must hold holds, no dead holder's lane is left, no lane is idle in vain */
		assert(exc || HOLDS);
		assert(exc || !(WAITS && UNHELD));
		assert(exc || !NEED || !(ORPHAN(0) || ORPHAN(L - 1)));
		assert(exc || !(WAITS && ANYFREE));
		assert(exc || !(IDLEGRANT(0) || IDLEGRANT(L - 1) || IDLEGRANT(SB) || IDLEGRANT(SC)));
		if
		:: cell[0] == 2 -> cell[0] = 1
#if L > 1
		:: cell[1] == 2 -> cell[1] = 1
#endif
#ifdef GATED
		:: !gate -> gate = 1
#endif
		:: stp != 0 && !SLOWCELL && OPEN -> assert(exc || !NEED); cont(stp)
		:: stp == 0 && !SLOWCELL && OPEN ->
			assert(exc || !NEED);
			assert(exc || (msk[SB] == 0 && msk[SC] == 0));
			assert(exc || (alv & WORKERS) == 0);
			break
		fi
	}
	od
}

init {
	byte n;
	atomic {
		n = 0;
		do :: n < NP -> run P(n); n++ :: else -> break od;
		n = 0
	}
}
