/* How changes reach an upstream and come back, small enough to check completely. README.md says what it covers.
   `run` defines the size of a search:
     RECORDS, DAEMONS    1 or 2
     CHANGES             2 or 3, made by users at any time
     FAULTS              answers that are lost, come too late or are replaced by a web page, and one outage
     KEYS                1: the upstream knows idempotency keys, and forgets one when its last attempt has settled
     R1, R2, R3, R6      0 leaves the rule out
     GOAL                1: finds a run in which everything goes well in spite of the faults
   A value is 0 (no record), 1 (what was there at first) or 2 + the number of the change that set it. */

#define LAST (CHANGES - 1)
#define DELETED 9           /* in `acknowledged`: a deletion, later than every value */
mtype:kind = { CREATE, UPDATE, DELETE };
mtype:state = { NONE, QUEUED, SENT, UNSURE, ACKNOWLEDGED, DROPPED };
mtype:answer = { NOTHING, RECORD, PART, PAGE, MISSING };

typedef Change {            /* in the queue of a daemon */
    mtype:state state = NONE;
    mtype:kind kind; byte daemon, record, value;
    byte base;              /* what the cache showed when the change was made, or was merged with it since */
    mtype:answer answer;    /* is on its way */
    byte mark;              /* the upstream's newest version after the last attempt */
    bool applied;           /* upstream */
    bool repeated;          /* it was sent although an earlier attempt may have arrived */
    bool late               /* a request is on its way although the daemon stopped waiting */
}

typedef Cache {             /* what a daemon knows of a record */
    byte shows;             /* what the server last said */
    byte settles;           /* 1 + the version that every replica must reach before no view is older than our change */
    byte earlier;           /* until then: the set of values that the record had before */
    byte doubt;             /* 1: the record was missing; 2: since then a witness was served */
    byte acknowledged       /* the value of our last acknowledged change, only for an assertion */
}

typedef Record {            /* upstream: a replica serves any version from `oldest` to `newest` */
    byte version[CHANGES + FAULTS + 1], oldest, newest;
    byte writers            /* the set of daemons whose changes were applied */
}

Change q[CHANGES]; Cache caches[DAEMONS * RECORDS]; Record up[RECORDS];
byte made;                  /* how many changes users have made */
byte faults = FAULTS;       /* how many are left */
byte outage;                /* 1: everything is answered 404, every list is empty; 2: that is over */
/* Used within one step only: the daemon, record and value that it is about, and others. */
hidden byte d, r, x, i, j, own; hidden mtype:answer said;

#define cache(d, r) caches[(d) * RECORDS + (r)]
#define known cache(d, r)
#define now(r) up[r].version[up[r].newest]
#define lags(r) (up[r].oldest < up[r].newest)
#define bit(value) (1 << (value))
#define open(c) (q[c].state == QUEUED || q[c].state == SENT || q[c].state == UNSURE)
#define about(c) (q[c].daemon == d && q[c].record == r && open(c))
#define anyOpen (about(0) || about(1) || about(LAST))
#define othersWrote (up[r].writers & ~bit(d))
#define isCurrent (known.shows == 0 -> now(r) == 0 : known.shows >= known.acknowledged)
#define settled(c) (!q[c].late && up[q[c].record].oldest >= q[c].mark)     /* every replica has the last attempt */
#define remembers(c) (KEYS && q[c].applied && !settled(c))

/* ---- The upstream ---- */
inline read() {             /* x: what a list or a read shows */
    select(x : up[r].oldest .. up[r].newest);
    x = (outage == 1 -> 0 : up[r].version[x])
}

inline apply(c) {
    if
    :: remembers(c) -> said = RECORD
    :: !remembers(c) && q[c].kind != CREATE && now(r) == 0 -> said = MISSING
    :: else ->
        assert(q[c].kind != CREATE || !q[c].applied);   /* R6: nothing is created twice */
        printf("upstream: record %d becomes %d\n", r, q[c].value);
        up[r].newest = (now(r) == q[c].value -> up[r].newest : up[r].newest + 1);
        now(r) = q[c].value;
        up[r].writers = up[r].writers | bit(d);
        q[c].applied = true; said = RECORD
    fi;
    q[c].mark = up[r].newest
}

inline serve(c) {
    q[c].mark = up[r].newest;
    if
    :: outage == 1 -> said = MISSING
    :: outage != 1 -> apply(c); if :: said == RECORD -> said = PART :: true fi
    :: faults -> faults--; if :: outage != 1 -> apply(c) :: true fi; if :: said = NOTHING :: said = PAGE fi
    :: faults && q[c].kind == CREATE -> faults--; said = NOTHING; q[c].late = true
    fi;
    printf("upstream: change %d is answered with %e\n", c, said);
    q[c].answer = said
}

/* The oldest version is nowhere any more. A change that waited for that has settled. */
inline replicate(which) {
    r = which;
    up[r].version[up[r].oldest] = 0; up[r].oldest++;
    for (d : 0 .. DAEMONS - 1) {
        if :: up[r].oldest + 1 >= known.settles -> known.settles = 0; known.earlier = 0 :: else fi
    }
}

proctype upstream() {
end:
    do
    :: atomic { lags(0) -> replicate(0) }
    :: atomic { RECORDS > 1 && lags(RECORDS - 1) -> replicate(RECORDS - 1) }
    :: atomic { outage == 0 && faults -> faults--; outage = 1; printf("upstream: an outage begins\n") }
    :: atomic { outage == 1 -> outage = 2; printf("upstream: the outage ends\n") }
    od
}

/* ---- What a daemon makes of an answer ---- */
inline startSettling() {
    known.settles = (lags(r) -> up[r].newest + 1 : 0);
    known.earlier = (lags(r) -> known.earlier : 0)
}

/* A change leaves the queue. The rest of it no longer matters: a late request has a key that is remembered. */
inline close(c, how) {
    q[c].state = how; q[c].kind = 0; q[c].daemon = 0; q[c].record = 0; q[c].value = 0; q[c].base = 0;
    q[c].mark = 0; q[c].applied = false; q[c].repeated = false; q[c].late = false
}

#define differs(c) (about(c) && q[c].kind != CREATE && known.shows != q[c].base)

/* Merges the queued changes with what the server has now. */
inline merge() {
    own = 0;
    for (i : 0 .. LAST) {
        own = (about(i) -> own | bit(q[i].value) : own);
        if
        :: differs(i) && (own & bit(known.shows)) ->    /* our own value, so what we had before is older */
            known.earlier = known.earlier | bit(q[i].base);
            startSettling(); q[i].base = known.shows
        :: differs(i) && !(own & bit(known.shows)) && q[i].state != SENT ->
            printf("daemon %d: conflict of change %d\n", d, i);
            assert(othersWrote);                        /* R3: no conflict with oneself */
            if :: q[i].base = known.shows :: close(i, DROPPED) fi
        :: else                                         /* the answer to a change that is being sent merges again */
        fi
    }
    known.acknowledged = (othersWrote -> 0 : known.acknowledged);
    assert(!known.acknowledged || isCurrent)            /* R3: nothing older than an acknowledged change is shown */
}

/* A page or a read shows the record as x. R3: a view that is older than our change does not count. */
inline view() {
    known.doubt = 0;
    if
    :: x == known.shows
    :: x != known.shows && R3 && known.settles && (known.shows == 0 || (known.earlier & bit(x)))
    :: else ->
        printf("daemon %d: record %d is %d\n", d, r, x);
        known.earlier = (known.settles -> known.earlier | bit(known.shows) : 0);
        known.shows = x; merge()
    fi
}

/* The upstream has applied the change, and shows the record as x; 0 if its answer does not say. */
inline acknowledge(c) {
    printf("daemon %d: change %d is acknowledged\n", d, c);
    assert(q[c].applied || q[c].kind == DELETE && now(r) == 0); /* R1: what is acknowledged was applied */
    known.earlier = (known.earlier | bit(known.shows) | bit(q[c].base)) & ~bit(q[c].value);
    x = (R3 && (known.earlier & bit(x)) -> 0 : x);
    known.shows = (x && q[c].kind != DELETE -> x : q[c].value);
    startSettling();
    known.acknowledged = (q[c].kind == DELETE -> DELETED : q[c].value);
    close(c, ACKNOWLEDGED);
    for (i : 0 .. LAST) { q[i].base = (about(i) -> known.shows : q[i].base) }
    merge()
}

/* The record is gone: its edits are dropped, its deletion is done, and a creation that made no record is sent again. */
inline gone() {
    printf("daemon %d: record %d is gone\n", d, r);
    assert(known.shows == 0 || now(r) == 0);            /* R2: what is believed to be gone is gone */
    known.doubt = 0; j = CHANGES;
    for (i : 0 .. LAST) {
        if
        :: about(i) && q[i].kind == CREATE -> q[i].state = QUEUED
        :: about(i) && q[i].kind == UPDATE && known.shows ->
            assert(othersWrote);                        /* R2: no edit is dropped unless others deleted the record */
            close(i, DROPPED)
        :: about(i) && q[i].kind == DELETE && known.shows -> j = i
        :: else
        fi
    }
    if :: j < CHANGES -> x = 0; acknowledge(j) :: else -> known.shows = 0 fi
}

/* R2: one answer without the record is not believed. pull() then waits for a witness, and asks again. */
inline missing() {
    if
    :: R3 && known.settles && (known.earlier & bit(0))  /* R3: created a moment ago */
    :: else -> if :: R2 -> known.doubt = 1 :: else -> gone() fi
    fi
}

/* ---- What a daemon does ---- */
/* R1: an answer that is not recognised acknowledges nothing. */
inline receive(c) {
    said = q[c].answer; q[c].answer = 0; x = 0;
    if :: said == RECORD -> read() :: else fi;          /* also an answer can be behind */
    if
    :: said == RECORD || said == PART && q[c].kind != CREATE || said == PAGE && !R1 -> acknowledge(c)
    :: said == MISSING && q[c].kind != CREATE -> q[c].state = QUEUED; missing()
    :: said == MISSING && q[c].kind == CREATE && !q[c].repeated -> q[c].state = QUEUED  /* clearly refused */
    :: else -> q[c].state = UNSURE
    fi;
    q[c].repeated = false
}

/* R6: a creation is repeated only while the upstream remembers its key. Else it is looked up: that it is not there
   counts when the last attempt has settled, and like any other absence. */
#define mayRepeat(c) (q[c].kind == CREATE && R6 -> KEYS && !settled(c) : KEYS || !R6)

inline lookUp(c) {
    read();
    printf("daemon %d looks change %d up: %d\n", d, c, x);
    if :: x && q[c].kind != CREATE -> view() :: else fi;
    if
    :: q[c].state == UNSURE && x && x == q[c].value -> acknowledge(c)
    :: q[c].state == UNSURE && x != q[c].value && q[c].kind != CREATE -> q[c].state = QUEUED
    :: q[c].state == UNSURE && !x && q[c].kind == CREATE && settled(c) -> missing()
    :: else
    fi
}

#define with(c) d = q[c].daemon; r = q[c].record
#define doubted(c) cache(q[c].daemon, q[c].record).doubt
#define blocks(e, c) (e < c && open(e) && q[e].daemon == q[c].daemon && q[e].record == q[c].record)
#define isFree(c) (!doubted(c) && !blocks(0, c) && !blocks(1, c))

proctype push(byte c) {
end:
    do
    :: atomic {
        isFree(c) && (q[c].state == QUEUED || q[c].state == UNSURE && mayRepeat(c)) -> with(c);
        printf("daemon %d sends change %d\n", d, c);
        q[c].repeated = (q[c].state == UNSURE); q[c].state = SENT; serve(c)
    }
    :: atomic { q[c].state == SENT -> with(c); receive(c) }
    :: atomic { q[c].state == UNSURE && !doubted(c) -> with(c); lookUp(c) }
    :: atomic { q[c].late -> with(c); if :: apply(c) :: true fi; q[c].late = false }
    od
}

proctype pull(byte me, it) {
end:
    do
    :: atomic {
        !cache(me, it).doubt && (lags(it) || outage == 1 || cache(me, it).shows != now(it)) -> d = me; r = it;
        read();
        if :: x -> view() :: !x && known.shows && !anyOpen -> missing() :: else fi
    }
    :: atomic { cache(me, it).doubt == 1 && outage != 1 -> cache(me, it).doubt = 2 }
    :: atomic { cache(me, it).doubt == 2 -> d = me; r = it; read(); if :: x -> view() :: else -> gone() fi }
    od
}

/* ---- Users ---- */
proctype users() {          /* change a record as readers see it, or do nothing */
end:
    do
    :: atomic {
        made < CHANGES ->
        select(d : 0 .. (made -> DAEMONS - 1 : 0));
        select(r : 0 .. RECORDS - 1);
        x = known.shows;
        for (i : 0 .. LAST) { x = (about(i) -> q[i].value : x) }
        q[made].daemon = d; q[made].record = r; q[made].base = known.shows; q[made].value = 2 + made;
        if
        :: x -> q[made].kind = UPDATE; q[made].state = QUEUED
        :: x -> q[made].kind = DELETE; q[made].state = QUEUED; q[made].value = 0
        :: !x && !anyOpen && !up[r].newest && DAEMONS == 1 -> q[made].kind = CREATE; q[made].state = QUEUED
        :: close(made, NONE)
        fi;
        printf("user of daemon %d: change %d sets record %d to %d\n", d, made, r, q[made].value);
        made++
    }
    od
}

init {
    atomic {
        run upstream(); run users();
        for (i : 0 .. LAST) { run push(i) }
        for (r : 0 .. RECORDS - 1) {
            if :: now(r) = 1 :: DAEMONS == 1 fi;        /* it is there at first, or not */
            for (d : 0 .. DAEMONS - 1) { cache(d, r).shows = now(r); run pull(d, r) }
        }
    }
    atomic {
        timeout -> own = 0;                             /* nothing is left to do */
        for (i : 0 .. LAST) { own = own + (q[i].state == ACKNOWLEDGED); assert(!open(i)) }  /* the queues are empty */
        for (r : 0 .. RECORDS - 1) { for (d : 0 .. DAEMONS - 1) { assert(known.shows == now(r)) } } /* as upstream */
        assert(!GOAL || own < CHANGES || faults)        /* GOAL: every change is acknowledged after all faults */
    }
}
