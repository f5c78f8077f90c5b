"""Scenes for the rules, as scripts for the bench: what happens, and everything that follows from it."""

WAITING = {
    "an agent does its tasks one by one, in the order submitted": """
@pm One => pm#1 started
@pm Two
@pm Three
complete pm#1 first => pm#1 completed: first; pm#2 started
fail pm#2 lost => pm#2 failed: lost; pm#3 started
complete pm#3 third => pm#3 completed: third
""",
    "several agents work at once": """
@pm,ba,writer Think => pm#1 started; ba#1 started; writer#1 started
complete ba#1 => ba#1 completed
complete pm#1 => pm#1 completed
""",
    "a task waits, has its output, and starts": """
@pm Plan => pm#1 started
@ba Check $pm => ba#1 waits for pm
complete pm#1 the plan => pm#1 completed: the plan; ba#1 has pm; ba#1 started
""",
    "a name leaves the list the moment its output is there": """
@pm,builder-1 Think => pm#1 started; builder-1#1 started
@ba Compare $builder-1 with $pm => ba#1 waits for builder-1, pm
complete pm#1 => pm#1 completed; ba#1 has pm
complete builder-1#1 => builder-1#1 completed; ba#1 has builder-1; ba#1 started
""",
    "several wait for one": """
@pm Plan => pm#1 started
@ba,writer Use $pm => ba#1 waits for pm; writer#1 waits for pm
complete pm#1 => pm#1 completed; ba#1 has pm; writer#1 has pm; ba#1 started; writer#1 started
""",
    "a reference is bound when it is submitted: later tasks of that agent change nothing": """
@pm One => pm#1 started
@ba Check $pm => ba#1 waits for pm
@pm Two
complete pm#1 first => pm#1 completed: first; ba#1 has pm; ba#1 started; pm#2 started
""",
    "a reference is bound to the newest unfinished task": """
@pm One => pm#1 started
@pm Two
@ba Check $pm => ba#1 waits for pm
complete pm#1 => pm#1 completed; pm#2 started
complete pm#2 => pm#2 completed; ba#1 has pm; ba#1 started
""",
    "only the task that is next waits; one in the queue may have all it needs before": """
@pm,ba Think => pm#1 started; ba#1 started
@ba Check $pm
complete pm#1 => pm#1 completed
complete ba#1 => ba#1 completed; ba#2 started
""",
    "a queued task begins to wait when it is next": """
@pm,ba Think => pm#1 started; ba#1 started
@ba Check $pm
complete ba#1 => ba#1 completed; ba#2 waits for pm
complete pm#1 => pm#1 completed; ba#2 has pm; ba#2 started
""",
    "its own previous output": """
@pm Plan => pm#1 started
@pm improve $pm
complete pm#1 the plan => pm#1 completed: the plan; pm#2 started
""",
    "fan out and join": """
@pm,ba Analyse -> @builder-1 Build => pm#1 started; ba#1 started; builder-1#1 waits for pm, ba
complete ba#1 => ba#1 completed; builder-1#1 has ba
complete pm#1 => pm#1 completed; builder-1#1 has pm; builder-1#1 started
""",
    "in the background, a task waits for an output that nobody has begun to produce": """
@ba Check $pm and $writer & => ba#1 waits for pm, writer (no output yet: pm, writer)
@pm Plan => ba#1 waits for pm, writer (no output yet: writer); pm#1 started
@pm Again
complete pm#1 => pm#1 completed; ba#1 has pm; pm#2 started
@writer Write => ba#1 waits for writer; writer#1 started
complete writer#1 => writer#1 completed; ba#1 has writer; ba#1 started
""",
    "an open wait ends without an output when the task it was bound to does": """
@ba Check $pm & => ba#1 waits for pm (no output yet: pm)
@pm Plan => ba#1 waits for pm; pm#1 started
fail pm#1 no idea => pm#1 failed: no idea; ba#1 skipped: @pm failed: no idea
""",
}

TIME = {
    "waiting for an agent that nobody gives work to has an end": """
@ba Check $pm & => ba#1 waits for pm (no output yet: pm)
@writer Write $ba => writer#1 waits for ba
wait 299
wait 1 => ba#1 failed: Timed out after 300 s waiting for @pm.;
    writer#1 skipped: @ba failed: Timed out after 300 s waiting for @pm.
""",
    "only those that nobody gives work to are named": """
@pm Think => pm#1 started
@writer Use $ba $pm & => writer#1 waits for ba, pm (no output yet: ba)
wait 300 => writer#1 failed: Timed out after 300 s waiting for @ba.
""",
    "a wait for a task lasts as long as the task, and is told once": """
@pm Plan => pm#1 started
@ba Check $pm -> @writer Write => ba#1 waits for pm; writer#1 waits for ba
wait 299
wait 1 => ba#1 still waits for pm; writer#1 still waits for ba
wait 100000
complete pm#1 => pm#1 completed; ba#1 has pm; ba#1 started
complete ba#1 => ba#1 completed; writer#1 has ba; writer#1 started
""",
    "the clock stops as soon as somebody is given the work": """
@ba Check $pm & => ba#1 waits for pm (no output yet: pm)
wait 299
@pm Plan => ba#1 waits for pm; pm#1 started
wait 1 => ba#1 still waits for pm
wait 1000
complete pm#1 => pm#1 completed; ba#1 has pm; ba#1 started
""",
    "the clock runs on while one of them has no work": """
@ba Check $pm $writer & => ba#1 waits for pm, writer (no output yet: pm, writer)
wait 200
@pm Plan => ba#1 waits for pm, writer (no output yet: writer); pm#1 started
wait 99
wait 1 => ba#1 failed: Timed out after 300 s waiting for @writer.
""",
    "in the queue no clock runs": """
@ba Think => ba#1 started
@ba Check $pm &
wait 1000
complete ba#1 => ba#1 completed; ba#2 waits for pm (no output yet: pm)
wait 299
wait 1 => ba#2 failed: Timed out after 300 s waiting for @pm.
""",
    "a wait that begins again is told again": """
@ba Work => ba#1 started
@pm One => pm#1 started
@pm Two $ba
fail pm#1 => pm#1 failed: boom; pm#2 waits for ba
wait 300 => pm#2 still waits for ba
retry pm#1 => pm#1 retried; pm#2 queued; pm#1 started
complete pm#1 => pm#1 completed; pm#2 waits for ba
wait 299
wait 1 => pm#2 still waits for ba
""",
    "an open wait that comes back has all its time again": """
@ba Check $pm & => ba#1 waits for pm (no output yet: pm)
wait 200
cancel ba#1 => ba#1 cancelled
retry ba#1 => ba#1 retried; ba#1 waits for pm (no output yet: pm)
wait 299
wait 1 => ba#1 failed: Timed out after 300 s waiting for @pm.
""",
}

NO_MORE_INPUT = {
    "a wait for nothing fails at once if nothing is left": """
@ba Check $pm -> @writer Write & => ba#1 waits for pm (no output yet: pm); writer#1 waits for ba
end => ba#1 failed: Nobody is left who could give @pm any work.;
    writer#1 skipped: @ba failed: Nobody is left who could give @pm any work.
""",
    "it waits while somebody works": """
@reviewer Review => reviewer#1 started
@ba Check $pm & => ba#1 waits for pm (no output yet: pm)
end
complete reviewer#1 => reviewer#1 completed; ba#1 failed: Nobody is left who could give @pm any work.
""",
    "it waits while work that was cancelled goes on": """
@reviewer Review => reviewer#1 started
@ba Check $pm & => ba#1 waits for pm (no output yet: pm)
end
cancel reviewer#1 => stop reviewer#1; reviewer#1 cancelled
fail reviewer#1 stopped => ba#1 failed: Nobody is left who could give @pm any work.
""",
    "each that waits for nothing fails": """
@ba,writer Check $pm & => ba#1 waits for pm (no output yet: pm); writer#1 waits for pm (no output yet: pm)
end => ba#1 failed: Nobody is left who could give @pm any work.;
    writer#1 failed: Nobody is left who could give @pm any work.
""",
    "what comes next for the agent is done": """
@ba Check $pm & => ba#1 waits for pm (no output yet: pm)
@ba Think
@ba Again $pm &
end => ba#1 failed: Nobody is left who could give @pm any work.; ba#2 started
complete ba#2 => ba#2 completed; ba#3 waits for pm (no output yet: pm);
    ba#3 failed: Nobody is left who could give @pm any work.
""",
    "a wait that is bound goes on": """
@ba Check $pm & => ba#1 waits for pm (no output yet: pm)
@pm Plan => ba#1 waits for pm; pm#1 started
end
complete pm#1 => pm#1 completed; ba#1 has pm; ba#1 started
""",
}

HARD_TIME = {
    "waiting has an end": """
@pm Plan => pm#1 started
@ba Check $pm => ba#1 waits for pm
@writer Write $ba => writer#1 waits for ba
wait 299
wait 1 => ba#1 failed: Timed out after 300 s waiting for @pm.;
    writer#1 skipped: @ba failed: Timed out after 300 s waiting for @pm.
complete pm#1 => pm#1 completed
""",
    "only those that are still missing are named": """
@pm,ba,reviewer Think => pm#1 started; ba#1 started; reviewer#1 started
@writer Use $ba $pm $reviewer => writer#1 waits for ba, pm, reviewer
complete pm#1 => pm#1 completed; writer#1 has pm
wait 300 => writer#1 failed: Timed out after 300 s waiting for @ba, @reviewer.
""",
    "the clock of a queued task runs from when it is next": """
@pm,ba Think => pm#1 started; ba#1 started
@ba Check $pm
wait 200
complete ba#1 => ba#1 completed; ba#2 waits for pm
wait 299
wait 1 => ba#2 failed: Timed out after 300 s waiting for @pm.
""",
    "working has no end": """
@pm Think hard => pm#1 started
wait 100000
complete pm#1 => pm#1 completed
""",
    "the next task follows one that has waited too long": """
@pm Plan => pm#1 started
@ba Check $pm => ba#1 waits for pm
@ba Rest
wait 300 => ba#1 failed: Timed out after 300 s waiting for @pm.; ba#2 started
""",
    "a task that waits in vain for one that waits in vain is skipped, not late": """
@pm Plan => pm#1 started
@ba Check $pm => ba#1 waits for pm
@writer Write $ba => writer#1 waits for ba
wait 400 => ba#1 failed: Timed out after 300 s waiting for @pm.;
    writer#1 skipped: @ba failed: Timed out after 300 s waiting for @pm.
""",
    "waiting again begins again, and ends once": """
@pm Plan => pm#1 started
@ba Check $pm => ba#1 waits for pm
cancel ba#1 => ba#1 cancelled
retry ba#1 => ba#1 retried; ba#1 waits for pm
wait 100
cancel ba#1 => ba#1 cancelled
retry ba#1 => ba#1 retried; ba#1 waits for pm
wait 200
wait 100 => ba#1 failed: Timed out after 300 s waiting for @pm.
""",
}

FAILING = {
    "dependents are skipped down the graph, with the reason at the root": """
@pm Plan -> @ba Check -> @writer Write => pm#1 started; ba#1 waits for pm; writer#1 waits for ba
@reviewer Read $writer => reviewer#1 waits for writer
fail pm#1 exit status 3 => pm#1 failed: exit status 3; ba#1 skipped: @pm failed: exit status 3;
    writer#1 skipped: @pm failed: exit status 3; reviewer#1 skipped: @pm failed: exit status 3
""",
    "a queued dependent is skipped at once; what is behind it is not": """
@pm,ba Think => pm#1 started; ba#1 started
@ba Check $pm
@ba Rest
fail pm#1 => pm#1 failed: boom; ba#2 skipped: @pm failed: boom
complete ba#1 => ba#1 completed; ba#3 started
""",
    "a cancelled dependency skips too": """
@pm Plan -> @ba Check => pm#1 started; ba#1 waits for pm
cancel pm#1 => stop pm#1; pm#1 cancelled; ba#1 skipped: @pm was cancelled
""",
    "whoever is skipped makes room for the next": """
@pm Plan => pm#1 started
@ba Check $pm => ba#1 waits for pm
@ba Rest
fail pm#1 => pm#1 failed: boom; ba#1 skipped: @pm failed: boom; ba#2 started
""",
    "a join is skipped once, by the first that fails": """
@pm,ba Analyse -> @writer Write => pm#1 started; ba#1 started; writer#1 waits for pm, ba
fail ba#1 tired => ba#1 failed: tired; writer#1 skipped: @ba failed: tired
fail pm#1 bored => pm#1 failed: bored
""",
}

CANCELLING = {
    "a queued task": """
@pm One => pm#1 started
@pm Two
@pm Three
cancel pm#2 => pm#2 cancelled
complete pm#1 => pm#1 completed; pm#3 started
""",
    "a waiting task": """
@pm Plan => pm#1 started
@ba Check $pm => ba#1 waits for pm
@ba Rest
cancel ba#1 => ba#1 cancelled; ba#2 started
complete pm#1 => pm#1 completed
wait 300
""",
    "a task at work: its agent is not free before the work has ended": """
@pm One => pm#1 started
@pm Two
cancel pm#1 => stop pm#1; pm#1 cancelled
wait 10
fail pm#1 The work was stopped. => pm#2 started
""",
    "all at once, dependents among them": """
@pm Plan -> @ba Check => pm#1 started; ba#1 waits for pm
@pm More
cancel pm#1 ba#1 pm#2 => stop pm#1; pm#1 cancelled; ba#1 cancelled; pm#2 cancelled
fail pm#1 stopped
""",
    "twice, by two names": """
@pm Plan => pm#1 started
cancel pm#1 pm#1 => stop pm#1; pm#1 cancelled
cancel pm#1
""",
    "a cancelled task that waited openly is bound to nothing": """
@ba Check $pm & => ba#1 waits for pm (no output yet: pm)
cancel ba#1 => ba#1 cancelled
@pm Plan => pm#1 started
""",
}

RETRYING = {
    "a failed task, and exactly what was skipped because of it": """
@pm Plan -> @ba Check -> @writer Write => pm#1 started; ba#1 waits for pm; writer#1 waits for ba
@reviewer Read $pm => reviewer#1 waits for pm
cancel reviewer#1 => reviewer#1 cancelled
fail pm#1 => pm#1 failed: boom; ba#1 skipped: @pm failed: boom; writer#1 skipped: @pm failed: boom
retry pm#1 => pm#1 retried; ba#1 retried; writer#1 retried; ba#1 waits for pm; writer#1 waits for ba;
    pm#1 started
complete pm#1 the plan => pm#1 completed: the plan; ba#1 has pm; ba#1 started
""",
    "a cancelled task": """
@pm Plan -> @ba Check => pm#1 started; ba#1 waits for pm
cancel pm#1 => stop pm#1; pm#1 cancelled; ba#1 skipped: @pm was cancelled
fail pm#1 stopped
retry pm#1 => pm#1 retried; ba#1 retried; ba#1 waits for pm; pm#1 started
""",
    "only a failed or cancelled task": """
@pm Plan -> @ba Check => pm#1 started; ba#1 waits for pm
retry pm#1
retry ba#1
fail pm#1 => pm#1 failed: boom; ba#1 skipped: @pm failed: boom
retry ba#1
@writer Write => writer#1 started
complete writer#1 => writer#1 completed
retry writer#1
""",
    "a task that has another obstacle stays skipped until that one is retried too": """
@pm,ba Analyse -> @writer Write => pm#1 started; ba#1 started; writer#1 waits for pm, ba
fail pm#1 => pm#1 failed: boom; writer#1 skipped: @pm failed: boom
fail ba#1 => ba#1 failed: boom
retry pm#1 => pm#1 retried; pm#1 started
complete pm#1 the plan => pm#1 completed: the plan
retry ba#1 => ba#1 retried; writer#1 retried; writer#1 waits for ba; ba#1 started
""",
    "a retried task goes where it was submitted, before those that have not started": """
@pm One => pm#1 started
@pm Two
@pm Three
fail pm#1 => pm#1 failed: boom; pm#2 started
retry pm#1 => pm#1 retried
complete pm#2 => pm#2 completed; pm#1 started
complete pm#1 => pm#1 completed; pm#3 started
""",
    "one that waited is queued behind the one that came back, and waits again after it": """
@pm One => pm#1 started
@pm Two $ba &
fail pm#1 => pm#1 failed: boom; pm#2 waits for ba (no output yet: ba)
wait 200
retry pm#1 => pm#1 retried; pm#2 queued; pm#1 started
wait 200
complete pm#1 => pm#1 completed; pm#2 waits for ba (no output yet: ba)
wait 299
wait 1 => pm#2 failed: Timed out after 300 s waiting for @ba.
""",
    "while the old work is still stopping": """
@pm Plan => pm#1 started
cancel pm#1 => stop pm#1; pm#1 cancelled
retry pm#1 => pm#1 retried
say pm#1 an echo of the old work
cancel pm#1 => pm#1 cancelled
retry pm#1 => pm#1 retried
fail pm#1 The work was stopped. => pm#1 started
complete pm#1 new => pm#1 completed: new
""",
    "a retried task may fail again, and be retried again": """
@pm Plan -> @ba Check => pm#1 started; ba#1 waits for pm
fail pm#1 one => pm#1 failed: one; ba#1 skipped: @pm failed: one
retry pm#1 => pm#1 retried; ba#1 retried; ba#1 waits for pm; pm#1 started
fail pm#1 two => pm#1 failed: two; ba#1 skipped: @pm failed: two
retry pm#1 => pm#1 retried; ba#1 retried; ba#1 waits for pm; pm#1 started
complete pm#1 => pm#1 completed; ba#1 has pm; ba#1 started
""",
    "a task that waited too long": """
@ba Check $pm -> @writer Write & => ba#1 waits for pm (no output yet: pm); writer#1 waits for ba
wait 300 => ba#1 failed: Timed out after 300 s waiting for @pm.;
    writer#1 skipped: @ba failed: Timed out after 300 s waiting for @pm.
@pm Plan => pm#1 started
complete pm#1 => pm#1 completed
retry ba#1 => ba#1 retried; writer#1 retried; writer#1 waits for ba; ba#1 started
""",
    "an open wait is bound to a task that comes back": """
@pm Plan => pm#1 started
cancel pm#1 => stop pm#1; pm#1 cancelled
fail pm#1 stopped
@ba Check $pm & => ba#1 waits for pm (no output yet: pm)
retry pm#1 => pm#1 retried; ba#1 waits for pm; pm#1 started
""",
    "a cancelled open wait that comes back is bound to what is there by then": """
@ba Check $pm & => ba#1 waits for pm (no output yet: pm)
cancel ba#1 => ba#1 cancelled
@pm Plan => pm#1 started
retry ba#1 => ba#1 retried; ba#1 waits for pm
complete pm#1 => pm#1 completed; ba#1 has pm; ba#1 started
""",
    "one that comes back to a failed agent is skipped, and comes back with it": """
@ba Check $pm & => ba#1 waits for pm (no output yet: pm)
cancel ba#1 => ba#1 cancelled
@pm Plan => pm#1 started
fail pm#1 => pm#1 failed: boom
retry ba#1 => ba#1 retried; ba#1 skipped: @pm failed: boom
retry pm#1 => ba#1 retried; pm#1 retried; ba#1 waits for pm; pm#1 started
""",
}

RACES = {
    "complete, then cancel": """
@pm Plan => pm#1 started
complete pm#1 the plan => pm#1 completed: the plan
cancel pm#1
""",
    "cancel, then complete": """
@pm Plan => pm#1 started
cancel pm#1 => stop pm#1; pm#1 cancelled
complete pm#1 the plan
""",
    "complete, then time out": """
@pm Plan => pm#1 started
@ba Check $pm => ba#1 waits for pm
complete pm#1 => pm#1 completed; ba#1 has pm; ba#1 started
wait 300
""",
    "time out, then complete": """
@ba Check $pm & => ba#1 waits for pm (no output yet: pm)
wait 300 => ba#1 failed: Timed out after 300 s waiting for @pm.
@pm Plan => pm#1 started
complete pm#1 => pm#1 completed
""",
    "cancel, then time out": """
@pm Plan => pm#1 started
@ba Check $pm => ba#1 waits for pm
cancel ba#1 => ba#1 cancelled
wait 300
""",
    "time out, then cancel": """
@ba Check $pm & => ba#1 waits for pm (no output yet: pm)
wait 300 => ba#1 failed: Timed out after 300 s waiting for @pm.
cancel ba#1
""",
    "fail, then cancel a dependent": """
@pm Plan -> @ba Check => pm#1 started; ba#1 waits for pm
fail pm#1 => pm#1 failed: boom; ba#1 skipped: @pm failed: boom
cancel ba#1
""",
    "cancel a dependent, then fail": """
@pm Plan -> @ba Check => pm#1 started; ba#1 waits for pm
cancel ba#1 => ba#1 cancelled
fail pm#1 => pm#1 failed: boom
""",
    "what is said about a task that has ended is not heard": """
@pm Plan => pm#1 started
say pm#1 one => pm#1 said one
complete pm#1 two => pm#1 completed: onetwo
say pm#1 three
start pm#1
complete pm#1
fail pm#1
""",
    "what is said about a task that has not started is not heard": """
@pm One => pm#1 started
@pm Two
say pm#2 early
start pm#2
complete pm#2
fail pm#2
""",
    "two retries": """
@pm Plan => pm#1 started
fail pm#1 => pm#1 failed: boom
retry pm#1 => pm#1 retried; pm#1 started
retry pm#1
""",
}

PROCEEDING = {
    "dependents of a failed task run": """
@pm Plan -> @ba Check -> @writer Write => pm#1 started; ba#1 waits for pm; writer#1 waits for ba
fail pm#1 => pm#1 failed: boom; ba#1 has pm; ba#1 started
complete ba#1 => ba#1 completed; writer#1 has ba; writer#1 started
""",
    "a dependent that has not started waits for the retried task after all": """
@pm Plan => pm#1 started
@ba Work => ba#1 started
@ba Check $pm
fail pm#1 => pm#1 failed: boom
retry pm#1 => pm#1 retried; pm#1 started
complete ba#1 => ba#1 completed; ba#2 waits for pm
complete pm#1 the plan => pm#1 completed: the plan; ba#2 has pm; ba#2 started
""",
    "one that waits for others waits for it too": """
@pm,reviewer Think => pm#1 started; reviewer#1 started
@ba Check $pm $reviewer => ba#1 waits for pm, reviewer
fail pm#1 => pm#1 failed: boom; ba#1 has pm
retry pm#1 => pm#1 retried; ba#1 waits for pm, reviewer; pm#1 started
complete reviewer#1 => reviewer#1 completed; ba#1 has reviewer
wait 300 => ba#1 still waits for pm
""",
    "one that works already does not": """
@pm Plan -> @ba Check => pm#1 started; ba#1 waits for pm
fail pm#1 => pm#1 failed: boom; ba#1 has pm; ba#1 started
retry pm#1 => pm#1 retried; pm#1 started
complete pm#1 => pm#1 completed
complete ba#1 => ba#1 completed
""",
    "one that waits in vain for one that waits in vain goes on without it": """
@ba Check $pm & => ba#1 waits for pm (no output yet: pm)
@writer Write $ba => writer#1 waits for ba
wait 300 => ba#1 failed: Timed out after 300 s waiting for @pm.; writer#1 has ba; writer#1 started
""",
}

ONE_AT_A_TIME = {
    "one agent after the other, in the order they could run": """
@pm One => pm#1 started
@writer Two => writer#1 queued
@ba Three => ba#1 queued
complete pm#1 => pm#1 completed; writer#1 started
complete writer#1 => writer#1 completed; ba#1 started
""",
    "a lined up task that is cancelled": """
@pm One => pm#1 started
@writer Two => writer#1 queued
@ba Three => ba#1 queued
cancel writer#1 => writer#1 cancelled
complete pm#1 => pm#1 completed; ba#1 started
retry writer#1 => writer#1 retried; writer#1 queued
complete ba#1 => ba#1 completed; writer#1 started
""",
    "cancelled and retried, it goes to the end of the line": """
@pm One => pm#1 started
@writer Two => writer#1 queued
@ba Three => ba#1 queued
cancel writer#1 => writer#1 cancelled
retry writer#1 => writer#1 retried; writer#1 queued
complete pm#1 => pm#1 completed; ba#1 started
""",
    "work that stops still takes its place": """
@pm One => pm#1 started
@writer Two => writer#1 queued
cancel pm#1 => stop pm#1; pm#1 cancelled
fail pm#1 stopped => writer#1 started
""",
    "a retried task goes before a lined up one of its agent": """
@pm One => pm#1 started
@pm Two
fail pm#1 => pm#1 failed: boom; pm#2 started
@ba Three => ba#1 queued
@ba Four
cancel ba#1 => ba#1 cancelled; ba#2 queued
retry ba#1 => ba#1 retried; ba#1 queued
complete pm#2 => pm#2 completed; ba#1 started
complete ba#1 => ba#1 completed; ba#2 started
""",
    "a dependent that could run waits again when its dependency comes back": """
@pm One => pm#1 started
@ba Check $pm => ba#1 waits for pm
@writer Write => writer#1 queued
fail pm#1 => pm#1 failed: boom; ba#1 has pm; writer#1 started; ba#1 queued
retry pm#1 => pm#1 retried; ba#1 waits for pm; pm#1 queued
complete writer#1 => writer#1 completed; pm#1 started
complete pm#1 => pm#1 completed; ba#1 has pm; ba#1 started
""",
}
